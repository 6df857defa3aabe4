import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  type Connector,
  createHttp,
  type Enrichment,
  type HttpLimits,
  type Json,
  type Knowledge,
  type RequestRecord,
  type Scanner,
  type Sender,
  type Settings,
} from '@rrs/connectors';
import { digestOf, formatLines } from './run-record.ts';

/** What to collect. All of it can be sent to a child process. */
export interface CollectTask {
  settings: Settings;
  limits: HttpLimits;
  /** The time of the process. Its clock may be moved, as for the history of the demo, and child processes have clocks of their own. */
  now: number;
  checkpoint: Json;
  cursor: Json;
  startedAt: Date;
  /** An earlier attempt of the run did not come to its end. */
  isRetry: boolean;
}

/** One batch of a connector. It is stored in one transaction with its checkpoint. */
export interface CollectedBatch {
  checkpoint: Json;
  records: number;
  /** Records that could not be read and are not part of the content. */
  rejected: number;
  /** Digest of the content, to detect repeated pages. Null if a repetition of this batch is normal. */
  digest: string | null;
  /** Compressed lines of the run's record. Null for knowledge, which is stored before its batch. */
  content: Uint8Array | null;
}

/** What collecting needs of the process that has the network and the database. */
export interface CollectHost {
  sender: Sender;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  onRequest(record: RequestRecord): void;
  /** Pages through the ids of the vulnerabilities that findings have. */
  wanted(after: string | null): Promise<readonly string[]>;
  learn(items: readonly Knowledge[]): Promise<void>;
  /** Unlists the vulnerabilities that this version of the KEV catalog does not list. */
  unlistOthers(version: string): Promise<void>;
  store(batch: CollectedBatch): Promise<void>;
}

export interface CollectEnd {
  end: 'complete' | 'changes';
  cursor: Json;
  /** The date of the data, for knowledge. */
  asOf: string;
}

/** Runs connectors. They parse what vendors send, which can be large and hostile. */
export interface Collector {
  /** Fails with a `ConnectorError` if the vendor or its data are the reason. */
  collect(connector: Connector, task: CollectTask, host: CollectHost, signal: AbortSignal): Promise<CollectEnd>;
  /** Makes the cheap request of the connector that shows whether the settings are right. */
  check(connector: Connector, task: CheckTask, host: CheckHost, signal: AbortSignal): Promise<void>;
}

export type CheckTask = Pick<CollectTask, 'settings' | 'limits' | 'now'>;
export type CheckHost = Pick<CollectHost, 'sender' | 'wait' | 'onRequest'>;

export async function check(
  connector: Connector,
  { settings, limits, now }: CheckTask,
  { sender, wait, onRequest }: CheckHost,
  signal: AbortSignal,
): Promise<void> {
  const http = createHttp(connector, settings, { sender, signal, limits, now: clockAt(now), wait, onRequest });
  await connector.check({ ...settings, http, signal, startedAt: new Date(now) });
}

export async function collect(connector: Connector, task: CollectTask, host: CollectHost, signal: AbortSignal): Promise<CollectEnd> {
  const { settings, limits, checkpoint, cursor, startedAt } = task;
  const requests: RequestRecord[] = [];
  const onRequest = (record: RequestRecord): void => {
    requests.push(record);
    host.onRequest(record);
  };
  const http = createHttp(connector, settings, { sender: host.sender, signal, limits, now: clockAt(task.now), wait: host.wait, onRequest });
  const context = { ...settings, http, signal, checkpoint, cursor, startedAt };
  if (connector.kind === 'enrichment') return collectKnowledge(connector, context, host);
  if (connector.kind === 'scanner') return collectFindings(connector, context, host, requests);
  throw new Error(`${connector.id} collects nothing`);
}

function clockAt(now: number): () => number {
  const offset = now - Date.now();
  return () => Date.now() + offset;
}

const compress = promisify(gzip);

async function collectFindings(
  scanner: Scanner,
  context: Parameters<Scanner['findings']>[0],
  { store }: CollectHost,
  requests: RequestRecord[],
): Promise<CollectEnd> {
  const batches = scanner.findings(context);
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done) return { end: next.value.coverage, cursor: next.value.cursor, asOf: '' };
      const { items, checkpoint } = next.value;
      const content = await compress(formatLines(next.value, requests.splice(0)));
      await store({ checkpoint, records: items.length, rejected: 0, digest: items.length === 0 ? null : digestOf(next.value), content });
    }
  } finally {
    await release(batches);
  }
}

/** Releases what the connector still has open, such as the rest of a large response. */
async function release(batches: AsyncGenerator): Promise<void> {
  await Promise.resolve(batches[Symbol.asyncDispose]()).catch(() => {});
}

/** Beyond this many records, a batch is a whole file of scores, which contain no text and are not followed by another page. */
const MANY = 20_000;
/** Records of one call. Writing down more of them at once would keep others waiting, in the process and in the database. */
const ROWS = 2_000;

/** Learns each batch as soon as it arrives, because single records are valid on their own. */
async function collectKnowledge(
  enrichment: Enrichment,
  context: Omit<Parameters<Enrichment['knowledge']>[0], 'wanted'>,
  host: CollectHost,
): Promise<CollectEnd> {
  const batches = enrichment.knowledge({ ...context, wanted: host.wanted });
  try {
    for (;;) {
      const next = await batches.next();
      if (next.done) {
        const { complete, asOf, cursor } = next.value;
        if (complete === 'kev') await host.unlistOthers(asOf);
        return { end: 'changes', cursor, asOf };
      }
      const { checkpoint, rejected = [] } = next.value;
      const items = storable(next.value.items);
      for (let from = 0; from < items.length; from += ROWS) await host.learn(items.slice(from, from + ROWS));
      const digest = items.length === 0 || items.length > MANY ? null : hash('sha256', JSON.stringify(items));
      await host.store({ checkpoint, records: items.length, rejected: rejected.length, digest, content: null });
    }
  } finally {
    await release(batches);
  }
}

/** Vendors' texts without U+0000 and halves of surrogate pairs, which PostgreSQL refuses. */
function storable(items: readonly Knowledge[]): readonly Knowledge[] {
  if (items.length > MANY) return items;
  const text = JSON.stringify(items);
  return /\\u(?:0000|d[89a-f])/.test(text) ? (JSON.parse(text.replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '')) as Knowledge[]) : items;
}
