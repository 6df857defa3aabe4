import { hash } from 'node:crypto';
import type { FindingFilter } from './prepare-filter.ts';

const MOST = 5_000;

/** Whether few findings of an organization matched a filter when they were last looked up. */
const areFew = new Map<string, boolean>();

/**
 * Remembers which filters have few matches, because people refresh a list, page through it and come back to it. This decides only how a page is searched
 * first. It can be wrong, because findings change and each process remembers for itself.
 */
export function fewMatches(orgId: string, filter: FindingFilter): { areLikely: boolean; areUnlikely: boolean; learn: (few: boolean) => void } {
  const key = hash('sha256', JSON.stringify([orgId, filter]));
  const known = areFew.get(key);
  return {
    areLikely: known === true,
    areUnlikely: known === false,
    learn: (few) => {
      areFew.delete(key);
      areFew.set(key, few);
      const [oldest] = areFew.keys();
      if (oldest !== undefined && areFew.size > MOST) areFew.delete(oldest);
    },
  };
}

export function forgetFewMatches(): void {
  areFew.clear();
}
