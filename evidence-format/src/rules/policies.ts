import { fieldOf } from './trail-values.ts';

/** What two policies differ in. The audit trail and the package name the brake and the retention differently. */
export interface PolicyDifference {
  /** Names of parts that became easier to keep. */
  loosened: string[];
  changed: boolean;
}

const DAYS = ['critical', 'high', 'medium', 'low', 'info', 'unknown', 'kev'];
const BRAKE = ['findings', 'count', 'share'];
const RETENTION = ['reports', 'report_days', 'runs', 'run_days'];

export function policyChange(before: unknown, after: unknown): PolicyDifference {
  if (before === undefined || after === undefined) return { loosened: [], changed: false };
  const days = (policy: unknown, key: string): number => numberOr(fieldOf(fieldOf(policy, 'sla'), key), Number.POSITIVE_INFINITY);
  const brake = (policy: unknown, key: string): number => numberOr(fieldOf(fieldOf(policy, 'brake'), key), 0);
  const kept = (policy: unknown, key: string): number => numberOr(fieldOf(fieldOf(policy, 'retention'), key), 0);
  const loosened = [
    ...DAYS.filter((key) => days(after, key) > days(before, key)).map((key) => `sla.${key}`),
    ...(fieldOf(before, 'four_eyes') === true && fieldOf(after, 'four_eyes') === false ? ['four_eyes'] : []),
    ...(BRAKE.some((key) => brake(after, key) > brake(before, key)) ? ['brake'] : []),
    // What is deleted earlier can no longer contradict anything.
    ...(RETENTION.some((key) => kept(after, key) < kept(before, key)) ? ['retention'] : []),
  ];
  const parts = (policy: unknown): string[] => [
    ...['sla', 'four_eyes', 'brake', 'source_ranking'].map((key) => stable(fieldOf(policy, key))),
    ...RETENTION.map((key) => String(kept(policy, key))),
  ];
  const changed = parts(before).some((part, at) => part !== parts(after)[at]);
  return { loosened, changed };
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function stable(value: unknown): string {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value) ?? '';
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
