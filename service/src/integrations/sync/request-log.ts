import type { RequestRecord } from '@rrs/connectors';

export interface RequestCounts {
  requests: number;
  failed: number;
  bytes: number;
}

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Collects the requests of a run until they are stored. Counts and records are drained separately, because counts are stored more often. */
export function createRequestLog() {
  let records: RequestRecord[] = [];
  let counts: RequestCounts = { requests: 0, failed: 0, bytes: 0 };
  const addCounts = ({ requests, failed, bytes }: RequestCounts): void => {
    counts = { requests: counts.requests + requests, failed: counts.failed + failed, bytes: counts.bytes + bytes };
  };
  return {
    add(record: RequestRecord): void {
      records.push(record);
      const { status, error, bytes } = record;
      addCounts({ requests: 1, failed: error !== null || status === null || status >= 400 ? 1 : 0, bytes });
    },
    /** Puts back counts that could not be stored. */
    addCounts,
    drainCounts(): RequestCounts {
      const drained = counts;
      counts = { requests: 0, failed: 0, bytes: 0 };
      return drained;
    },
    drainRecords(): RequestRecord[] {
      const drained = records;
      records = [];
      return drained;
    },
  };
}
