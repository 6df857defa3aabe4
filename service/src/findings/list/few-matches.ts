import { hash } from 'node:crypto';
import type { FindingFilter } from './prepare-filter.ts';

const MOST = 5_000;

/** Filters that few findings of an organization matched when they were last looked up. */
const filters = new Set<string>();

/**
 * Remembers which filters have few matches, because people refresh a list, page through it and come back to it. This decides only how a page is searched
 * first. It can be wrong, because findings change and each process remembers for itself.
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
