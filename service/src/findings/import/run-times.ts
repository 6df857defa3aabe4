import type { ReportFormat, RunFacts } from '@rrs/scan-reports';
import { sizeOf } from '../merge/run-lists.ts';
import type { ImportRow, ScanScope } from './manage-imports.ts';
import type { Staged } from './reading/stage-report.ts';

/** Clocks of scanners may be ahead by this much. */
const AHEAD_MS = 10 * 60_000;

/** Whether a time is later than the clock of a scanner can be. */
export function isAhead(time: Date, now: Date): boolean {
  return time.getTime() > now.getTime() + AHEAD_MS;
}

interface Times {
  /** The earliest moment that the scan looked at the asset. What changed later can be missing from the report. */
  startedAt: Date;
  /** The latest moment that the scan looked at the asset. */
  endedAt: Date;
  doubt: 'time_suspect' | 'time_unstated' | null;
}

/**
 * When a scan took place: as the report states, otherwise as the scope states, otherwise when the report was uploaded. The scope can only make its start
 * earlier, so that it proves less. What the report shows was there when the report says that the scan ended.
 * A time in the future, an end before the start, or an end before the date of the knowledge that the scan used cannot be right: then nothing is closed.
 */
export function timesOf(
  { scan_scope, created_at }: Pick<ImportRow, 'scan_scope' | 'created_at'>,
  facts: RunFacts,
  { states = [] }: Pick<ReportFormat, 'states'>,
): Times {
  const { started_at } = scan_scope as ScanScope;
  const stated = started_at === undefined ? null : new Date(started_at);
  const own = facts.started_at ?? facts.finished_at;
  const earlier = (time: Date): Date => (stated && stated < time ? stated : time);
  if (!own) {
    const unstated = states.includes('time') && stated === null;
    const time = earlier(created_at);
    return { startedAt: time, endedAt: time, doubt: unstated ? 'time_unstated' : null };
  }
  const ended = facts.finished_at ?? own;
  const isTooEarly = ended < own || (facts.knowledge_at !== undefined && ended < facts.knowledge_at);
  const past = (time: Date): Date => (time < created_at ? time : created_at);
  const doubt = isAhead(ended, created_at) || isTooEarly ? 'time_suspect' : null;
  return { startedAt: earlier(past(new Date(Math.min(own.getTime(), ended.getTime())))), endedAt: past(ended), doubt };
}

/** Whether the report or its scope says when the scan took place. */
export function isTimeStated({ started_at }: ScanScope, { run, runByAsset }: Pick<Staged, 'run' | 'runByAsset'>): boolean {
  return started_at !== undefined || [run, ...runByAsset.values()].some((facts) => facts.started_at !== undefined || facts.finished_at !== undefined);
}

/** The facts of a run that are stored with the import. Of files, lock files and components only their number. */
export function factsOf({
  tool_version,
  started_at,
  finished_at,
  knowledge,
  knowledge_at,
  credentialed,
  inventory_only,
  files,
  looked_for,
  restrictions,
  ...size
}: RunFacts): Record<string, unknown> {
  return {
    tool_version,
    started_at,
    finished_at,
    knowledge,
    knowledge_at,
    credentialed,
    inventory_only,
    files: files?.length,
    looked_for,
    restrictions,
    ...sizeOf(size),
  };
}
