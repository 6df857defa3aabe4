import type { RequestRecord } from '@rrs/connectors';

export interface RequestCounts {
  requests: number;
  failed: number;
  bytes: number;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Counts the requests of a run until the counts are stored. */
export function createRequestLog() {
  let counts: RequestCounts = { requests: 0, failed: 0, bytes: 0 };
  const addCounts = ({ requests, failed, bytes }: RequestCounts): void => {
    counts = { requests: counts.requests + requests, failed: counts.failed + failed, bytes: counts.bytes + bytes };
  };
  return {
    add({ status, error, bytes }: RequestRecord): void {
      addCounts({ requests: 1, failed: error !== null || status === null || status >= 400 ? 1 : 0, bytes });
    },
    /** Puts back counts that could not be stored. */
    addCounts,
    drainCounts(): RequestCounts {
      const drained = counts;
      counts = { requests: 0, failed: 0, bytes: 0 };
      return drained;
    },
  };
}
