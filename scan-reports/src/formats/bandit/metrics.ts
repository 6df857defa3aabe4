import type { LookedFor, RunFacts } from '../../contract.ts';
import { num, type Obj, str } from '../../shared/read.ts';

const KINDS: Readonly<Record<string, LookedFor>> = { 'SEVERITY.LOW': 'low', 'SEVERITY.MEDIUM': 'medium', 'SEVERITY.HIGH': 'high' };
const CRITERIA = ['SEVERITY', 'CONFIDENCE'] as const;
const LEVELS = ['UNDEFINED', 'LOW', 'MEDIUM', 'HIGH'] as const;

/** Compares what Bandit found according to its metrics with what the report shows. */
export function startMetrics() {
  const shown = new Map<string, number>();
  const found = new Map<string, number>();
  const hidden = new Set<string>();
  let [hiddenInFiles, hiddenInAll] = [0, 0];

  /** Levels of which something was found and nothing is shown, the number of these findings, and of those that are missing in other levels. */
  const compared = (criterion: (typeof CRITERIA)[number]) => {
    const levels = LEVELS.map((level) => `${criterion}.${level}`);
    const missing = (level: string): number => Math.max(0, (found.get(level) ?? 0) - (shown.get(level) ?? 0));
    const isWhole = (level: string): boolean => !shown.has(level) && missing(level) > 0;
    const sum = (of: readonly string[]): number => of.reduce((total, level) => total + missing(level), 0);
    return { whole: levels.filter(isWhole), inWhole: sum(levels.filter(isWhole)), inOthers: sum(levels.filter((level) => !isWhole(level))) };
  };

  return {
    /** Metrics of a file, or of all files if it is null. Findings that a comment hides are counted apart. */
    count(metrics: Obj, file: string | null | undefined): void {
      const comments = (num(metrics.nosec) ?? 0) + (num(metrics.skipped_tests) ?? 0);
      if (file === null) {
        hiddenInAll = comments;
        for (const level of Object.keys(metrics)) found.set(level, num(metrics[level]) ?? 0);
      } else if (comments > 0) {
        hiddenInFiles += comments;
        hidden.add(file ?? '.');
      }
    },
    show(issue: Obj): void {
      for (const criterion of CRITERIA) {
        const level = `${criterion}.${str(issue[`issue_${criterion.toLowerCase()}`])?.toUpperCase()}`;
        shown.set(level, (shown.get(level) ?? 0) + 1);
      }
    },
    leftOut(): Pick<RunFacts, 'hidden_in' | 'restrictions' | 'left_out'> {
      const [severity, confidence] = [compared('SEVERITY'), compared('CONFIDENCE')];
      // What levels do not explain is left out by a baseline.
      const isCompared = severity.inOthers > confidence.inWhole;
      return {
        hidden_in: hiddenInAll > hiddenInFiles ? [...hidden, '.'] : [...hidden],
        restrictions: severity.inOthers > 0 ? confidence.whole.map((level) => `without ${level}`) : [],
        left_out: [...severity.whole.flatMap((level) => KINDS[level] ?? 'known'), ...(isCompared ? ['known' as const] : [])],
      };
    },
  };
}
