import type { Rejection, ReportItem } from '@rrs/scan-reports';
import type { Connector, Enrichment, Json, Knowledge, RunContext, Scanner, Settings } from '../core/contract.ts';
import { createHttp, defaultLimits, type HttpLimits, type Sender } from '../core/http.ts';
import type { RequestRecord } from '../core/responses.ts';

/** A host without a database, for the tests of this workspace: what a run gives, what it asked for and how long it would have waited. */

const sender: Sender = {
  async open({ method, url, headers, body, timeoutMs, maxBytes, signal }) {
    const answer = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    async function* content(): AsyncGenerator<Uint8Array> {
      let size = 0;
      for await (const chunk of answer.body ?? []) {
        size += chunk.length;
        if (size > maxBytes) throw new Error('too large');
        yield chunk;
      }
    }
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: content() };
  },
};

export interface Driven {
  waits: number[];
  records: RequestRecord[];
}

export function contextOf(connector: Connector, settings: Settings, limits: Partial<HttpLimits> = {}): RunContext & Driven {
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
  partly: string[];
  checkpoints: Json[];
  coverage: string;
  cursor: Json;
}

/** Everything from a checkpoint on, as far as `batches` goes. */
export async function collect(scanner: Scanner, context: RunContext, batches = 1_000): Promise<Collected> {
  const run = scanner.findings(context);
  const collected: Collected = { items: [], covers: [], partly: [], checkpoints: [], coverage: 'none', cursor: null };
  for (let n = 0; n < batches; n++) {
    const next = await run.next();
    if (next.done) return { ...collected, ...next.value };
    collected.items.push(...next.value.items);
    for (const how of ['covers', 'partly'] as const) collected[how].push(...(next.value[how] ?? []).map(({ type, name }) => `${type} ${name}`));
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

/** What findings have, `pageSize` ids at a time. */
interface Wanted {
  ids: readonly string[];
  pageSize: number;
}

/** Everything from a checkpoint on, as far as `batches` goes. */
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
