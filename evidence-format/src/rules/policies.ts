import { fieldOf } from './trail-values.ts';

/** What two policies differ in. The audit trail and the package name the brake differently. */
export interface PolicyDifference {
  /** Names of parts that became easier to keep. */
  loosened: string[];
  changed: boolean;
}

const DAYS = ['critical', 'high', 'medium', 'low', 'info', 'unknown', 'kev'];
const BRAKE = ['findings', 'count', 'share'];

export function policyChange(before: unknown, after: unknown): PolicyDifference {
  if (before === undefined || after === undefined) return { loosened: [], changed: false };
  const days = (policy: unknown, key: string): number => numberOr(fieldOf(fieldOf(policy, 'sla'), key), Number.POSITIVE_INFINITY);
  const brake = (policy: unknown, key: string): number => numberOr(fieldOf(fieldOf(policy, 'brake'), key), 0);
  const loosened = [
    ...DAYS.filter((key) => days(after, key) > days(before, key)).map((key) => `sla.${key}`),
    ...(fieldOf(before, 'four_eyes') === true && fieldOf(after, 'four_eyes') === false ? ['four_eyes'] : []),
    ...(BRAKE.some((key) => brake(after, key) > brake(before, key)) ? ['brake'] : []),
  ];
  const changed = ['sla', 'four_eyes', 'brake', 'source_ranking'].some((key) => stable(fieldOf(before, key)) !== stable(fieldOf(after, key)));
  return { loosened, changed };
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function stable(value: unknown): string {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value) ?? '';
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
