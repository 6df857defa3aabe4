import type { LookedFor, Severity } from '../../contract.ts';
import { severityOf } from '../../shared/normalize.ts';
import { count, type Obj, str } from '../../shared/read.ts';

export type Counts = Partial<Record<Severity, number>>;

/** A report with what it counts. */
interface Counted {
  kind?: string | undefined;
  counts?: Counts | undefined;
}

const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;

/** What a report counts, by severity: `criticalCount`, `unknownCount`. Trivy calls information `none`. */
export function countsOf(summary: Obj): Counts {
  return Object.fromEntries(severities.map((severity) => [severity, count(summary[`${severity === 'info' ? 'none' : severity}Count`]) ?? 0]));
}

/** Compares what reports count with what they list. Checks that succeeded are not counted. */
export function startListed() {
  const listed = new Map<Counted, Counts>();
  const missingIn = (resource: Counted): Severity[] =>
    severities.filter((severity) => (resource.counts?.[severity] ?? 0) > (listed.get(resource)?.[severity] ?? 0));
  return {
    add(resource: Counted, { severity: word, success }: Obj): void {
      if (success === true) return;
      const counts = listed.get(resource) ?? {};
      const severity = severityOf(str(word));
      listed.set(resource, counts);
      counts[severity] = (counts[severity] ?? 0) + 1;
    },
    /**
     * Severities of which a report about vulnerabilities lists fewer than it counts. Those that are unknown can be any, so all of packages may be missing.
     * Reports about vulnerabilities of an image say nothing about its secrets, which have reports of their own.
     */
    leftOut(resources: readonly Counted[]): LookedFor[] {
      const missing = new Set(resources.filter(({ kind }) => /VulnerabilityReport$/.test(kind ?? '')).flatMap(missingIn));
      const secrets = resources.filter(({ kind }) => kind === 'ExposedSecretReport');
      const hasSecrets = secrets.length > 0 && secrets.every((resource) => missingIn(resource).length === 0);
      const left = [...missing].flatMap((severity): LookedFor[] => (severity === 'unknown' ? ['system_packages', 'libraries'] : [severity]));
      return hasSecrets ? left : ['secrets', ...left];
    },
    /** Whether a report about checks lists fewer failures than it counts. */
    lacksChecks: (resource: Counted): boolean => /(?:Audit|Assessment)Report$/.test(resource.kind ?? '') && missingIn(resource).length > 0,
  };
}
