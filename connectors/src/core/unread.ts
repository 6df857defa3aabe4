import type { Asset } from '@rrs/scan-reports';
import { ConnectorError } from './connector-error.ts';
import type { Unread } from './contract.ts';

/** Forbidden, not found, gone, or blocked for legal reasons. */
const REFUSALS: readonly (number | null)[] = [403, 404, 410, 451];

/** For the error of a request about one part. Throws the error again if it concerns more than this part. */
export function unreadBecause(error: unknown, what: string, asset?: Asset): Unread {
  const isRefusal = error instanceof ConnectorError && REFUSALS.includes(error.status) && (error.kind === 'credentials' || error.kind === 'configuration');
  if (!isRefusal) throw error;
  return { what, kind: error.kind, reason: error.message, ...(asset ? { asset } : {}) };
}

/** If no part at all can be read, the settings are wrong, and the run fails. */
export function assertSomeRead(unread: number, parts: number, last: Unread | null): void {
  if (parts > 0 && unread >= parts && last) throw new ConnectorError(last.kind, last.reason);
}
