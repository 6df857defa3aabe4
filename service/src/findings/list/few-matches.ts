import { hash } from 'node:crypto';
import type { FindingFilter } from './prepare-filter.ts';

const MOST = 5_000;

/** Filters that few findings of an organization matched when they were last looked up. */
const filters = new Set<string>();

/**
 * Remembers which filters have few matches: a list is opened, refreshed and paged through, and filtered again in the same way. It only decides how a page is
 * searched first, so it may be wrong: findings change, and other processes do not share it.
 */
export function fewMatches(orgId: string, filter: FindingFilter): { areLikely: boolean; learn: (areFew: boolean) => void } {
  const key = hash('sha256', JSON.stringify([orgId, filter]));
  return {
    areLikely: filters.has(key),
    learn: (areFew) => {
      filters.delete(key);
      if (!areFew) return;
      filters.add(key);
      const [oldest] = filters;
      if (oldest !== undefined && filters.size > MOST) filters.delete(oldest);
    },
  };
}

export function forgetFewMatches(): void {
  filters.clear();
}
