import { ConnectorError } from './contract.ts';

/**
 * A list with numbered pages shifts when a record before the current page is added or removed: the next page then skips or repeats a record. Its total can
 * stay the same. So after every page but the first, the last record of the page before is requested again at its position.
 */
export async function assertUnmoved(what: string, expected: string, current: () => Promise<string | undefined>): Promise<void> {
  if (expected === '' || (await current()) === expected) return;
  throw new ConnectorError('incomplete', `${what} changed while they were read, so some records may be missing. The next run tries again.`);
}
