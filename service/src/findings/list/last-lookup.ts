import { hash } from 'node:crypto';
import type { FindingFilter } from './prepare-filter.ts';

const MOST = 5_000;

interface Lookup {
  /** How many findings matched. Infinite if they were more than the lookup was to find. */
  count: number;
  /** The sort order of the page that was looked up. */
  sort: string;
}

const lookups = new Map<string, Lookup>();

/**
 * Remembers how the matches of a filter were last looked up, because people refresh a list, page through it and come back to it. This decides only how a
 * page is searched first. It can be wrong, because findings change and each process remembers for itself.
 */
export function lastLookup(orgId: string, filter: FindingFilter) {
  const key = hash('sha256', JSON.stringify([orgId, filter]));
  const remember = (lookup: Lookup): void => {
    lookups.delete(key);
    lookups.set(key, lookup);
    const [oldest] = lookups.keys();
    if (oldest !== undefined && lookups.size > MOST) lookups.delete(oldest);
  };
  return { last: lookups.get(key), remember, forget: () => void lookups.delete(key) };
}

export function forgetLookups(): void {
  lookups.clear();
}
