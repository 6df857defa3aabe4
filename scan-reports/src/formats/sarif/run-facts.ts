import type { ReportEntry } from '../../contract.ts';
import { runEntry, startList } from '../../shared/run.ts';
import type { Run } from './run.ts';

/**
 * Tools that list all rules of a run, also those without results. CodeQL writes the metadata of every query that it ran, Gitleaks every rule
 * of its configuration. Other tools, such as Semgrep, list only rules that have results.
 */
const LIST_ALL_RULES = new Set(['codeql', 'gitleaks']);

/** A file may have several runs. Their facts are combined, because they belong to one scan. */
export function* readRunFacts(runs: readonly Run[]): Generator<ReportEntry> {
  const invocations = runs.flatMap((run) => run.invocations.filter(Boolean));
  const times = (moments: (Date | null)[]): number[] => moments.flatMap((moment) => moment?.getTime() ?? []);
  const started = times(invocations.map((invocation) => invocation.started));
  const ended = times(invocations.map((invocation) => invocation.ended));
  yield* runEntry({
    tool_version: runs.map(({ driver }) => driver.version).find((version) => version !== undefined),
    started_at: started.length > 0 ? new Date(Math.min(...started)) : null,
    finished_at: ended.length > 0 ? new Date(Math.max(...ended)) : null,
    checks: checksOf(runs),
  });
  const assets = new Map(runs.flatMap(({ asset }) => (asset ? [[JSON.stringify(asset), asset]] : [])));
  for (const asset of assets.values()) yield* runEntry({ asset });
}

function checksOf(runs: readonly Run[]): readonly string[] | undefined {
  if (!runs.every(({ driver }) => LIST_ALL_RULES.has(driver.name?.toLowerCase() ?? ''))) return undefined;
  const checks = startList();
  for (const { driver, extensions } of runs)
    for (const rule of [driver, ...extensions].flatMap((component) => component?.rules ?? [])) if (rule) checks.add(rule.id);
  return checks.list();
}
