import type { Rejection, ReportItem } from '@rrs/scan-reports';
import type { Connector, Enrichment, Json, Knowledge, RunContext, Scanner, ScanOfAsset, Settings, Unread } from '../core/contract.ts';
import { createHttp } from '../core/http.ts';
import { defaultLimits, type HttpLimits, type Sender } from '../core/http-host.ts';
import type { RequestRecord } from '../core/responses.ts';

/** A host without a database for the tests of this package. It records the requests and waits of a run. */

export const sender: Sender = {
  async open({ method, url, headers, body, timeoutMs, maxBytes, signal }) {
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    async function* content(): AsyncGenerator<Uint8Array> {
      let size = 0;
      for await (const chunk of response.body ?? []) {
        size += chunk.length;
        if (size > maxBytes) throw new Error('response too large');
        yield chunk;
      }
    }
    return { status: response.status, headers: Object.fromEntries(response.headers), body: content() };
  },
};

export interface Recorded {
  waits: number[];
  records: RequestRecord[];
}

export function contextOf(connector: Connector, settings: Settings, limits: Partial<HttpLimits> = {}): RunContext & Recorded {
  const { signal } = new AbortController();
  const waits: number[] = [];
  const records: RequestRecord[] = [];
  const http = createHttp(connector, settings, {
    sender,
    signal,
    limits: { ...defaultLimits, requestMs: 1_000, ...limits },
    now: Date.now,
    wait: async (ms) => {
      waits.push(ms);
    },
    onRequest: (record) => records.push(record),
  });
  return { ...settings, http, signal, startedAt: new Date('2026-11-15T08:00:00Z'), checkpoint: null, cursor: null, waits, records };
}

export interface Collected {
  items: ReportItem[];
  covers: string[];
  partiallyCovers: string[];
  scans: ScanOfAsset[];
  unread: Unread[];
  checkpoints: Json[];
  coverage: string;
  cursor: Json;
}

/** Runs a scanner from the checkpoint of the context for at most `batches` batches. */
export async function collect(scanner: Scanner, context: RunContext, batches = 1_000): Promise<Collected> {
  const run = scanner.findings(context);
  const collected: Collected = { items: [], covers: [], partiallyCovers: [], scans: [], unread: [], checkpoints: [], coverage: 'none', cursor: null };
  for (let n = 0; n < batches; n++) {
    const next = await run.next();
    if (next.done) return { ...collected, ...next.value };
    collected.items.push(...next.value.items);
    collected.scans.push(...(next.value.scans ?? []));
    collected.unread.push(...(next.value.unread ?? []));
    for (const scope of ['covers', 'partiallyCovers'] as const) collected[scope].push(...(next.value[scope] ?? []).map(({ type, name }) => `${type} ${name}`));
    collected.checkpoints.push(next.value.checkpoint);
  }
  await run.return({ coverage: 'changes', cursor: null });
  return collected;
}

export interface Learned {
  items: Knowledge[];
  rejected: Rejection[];
  checkpoints: Json[];
  asOf: string;
  cursor: Json;
  complete?: 'kev';
}

/** The ids of the vulnerabilities that findings have, and how many a page contains. */
interface Wanted {
  ids: readonly string[];
  pageSize: number;
}

/** Runs an enrichment from the checkpoint of the context for at most `batches` batches. */
export async function learn(enrichment: Enrichment, context: RunContext, { ids, pageSize }: Wanted, batches = 1_000): Promise<Learned> {
  const sorted = [...ids].sort();
  const run = enrichment.knowledge({ ...context, wanted: async (after) => sorted.filter((id) => after === null || id > after).slice(0, pageSize) });
  const learned: Learned = { items: [], rejected: [], checkpoints: [], asOf: 'never', cursor: null };
  for (let n = 0; n < batches; n++) {
    const next = await run.next();
    if (next.done) return { ...learned, ...next.value };
    learned.items.push(...next.value.items);
    learned.rejected.push(...(next.value.rejected ?? []));
    learned.checkpoints.push(next.value.checkpoint);
  }
  await run.return({ cursor: null, asOf: 'never' });
  return learned;
}
