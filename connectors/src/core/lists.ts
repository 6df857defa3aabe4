import { ConnectorError } from './connector-error.ts';

/**
 * A list with numbered pages shifts when a record before the current page is added or removed: the next page then skips or repeats a record. Its total can
 * stay the same. So after every page but the first, the last record of the page before is requested again at its position.
 */
export async function assertUnmoved(what: string, expected: string, current: () => Promise<string | undefined>): Promise<void> {
  if (expected === '' || (await current()) === expected) return;
  throw new ConnectorError('incomplete', `${what} changed while they were read, so some records may be missing. The next run tries again.`);
}

/** Returns a function to call with the position of each page of a list before it is requested. It fails if the vendor sends a run in circles. */
export function eachPageOnce(what: string): (position: string) => void {
  const seen = new Set<string>();
  return (position) => {
    if (seen.has(position)) throw new ConnectorError('incomplete', `The pages of ${what} repeat: the vendor refers to a page that was already read.`);
    seen.add(position);
  };
}
