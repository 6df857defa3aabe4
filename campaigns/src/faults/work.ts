import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger, Unanswered } from './ledger.ts';
import type { WorkName } from './plan.ts';

export interface Caller {
  url(): string;
  key: string;
  ledger: Ledger;
  /** Notes what must not happen. */
  fail(message: string): void;
  /** What the service logged about a request and right before and after it. */
  logAround(requestId: string): Promise<string>;
}

interface Sent {
  method?: string;
  body?: object | string;
  /** Sent as Idempotency-Key. */
  idempotencyKey?: string;
  /** A refusal that is right. */
  refusal?: number;
}

/** Null if there was no response, or if the service said that its database is away. Any other failure is a violation. */
export async function send<T>({ url, key, ledger, fail, logAround }: Caller, path: string, sent: Sent = {}): Promise<T | null> {
  const { method, body, idempotencyKey, refusal = 503 } = sent;
  const type = typeof body === 'string' ? 'application/octet-stream' : 'application/json';
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { 'content-type': type }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  const count = (status: number | 'none'): void => void ledger.statuses.set(status, (ledger.statuses.get(status) ?? 0) + 1);
  try {
    const response = await fetch(`${url()}/api/v1${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      signal: AbortSignal.timeout(60_000),
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    count(response.status);
    if (response.ok) return text === '' ? null : (JSON.parse(text) as T);
    if (response.status === 503 || response.status === refusal) return null;
    const log = response.status >= 500 ? `\n${await logAround(response.headers.get('x-request-id') ?? '')}` : '';
    fail(`${method ?? 'GET/POST'} ${path}: ${response.status} ${text.slice(0, 300)}${log}`);
    return null;
  } catch {
    count('none');
    return null;
  }
}

type Created = { id: string };

/** Creates a finding. Without a response it is not known whether it was created, so the request is remembered. */
async function createFinding(caller: Caller, name: string): Promise<string | null> {
  const { ledger } = caller;
  const body = { title: name, severity: 'high', asset: { type: 'host', name: 'created.example' } };
  const idempotencyKey = randomUUID();
  ledger.unanswered.set(idempotencyKey, { path: '/findings', body, title: name });
  const made = await send<Created>(caller, '/findings', { body, idempotencyKey });
  if (made === null) return null;
  ledger.unanswered.delete(idempotencyKey);
  ledger.findings.set(made.id, name);
  return made.id;
}

const RECORDS = 400;

async function importReport(caller: Caller, name: string): Promise<void> {
  const record = (n: number) => ({ title: `Weakness ${n}`, severity: 'high', asset_type: 'host', asset_name: name, rule: `rule-${n}`, component: `lib-${n}` });
  const body = Array.from({ length: RECORDS }, (_, n) => `${JSON.stringify(record(n))}\n`).join('');
  const made = await send<Created>(caller, '/imports?format=generic', { body });
  if (made) caller.ledger.imports.set(made.id, { asset: name, records: RECORDS });
}

async function sealItem(caller: Caller, name: string): Promise<void> {
  const item = await createItem(caller, name);
  const made = item && (await send<{ package_id: string }>(caller, '/riskops-evidence/packages', { body: { work_item_id: item } }));
  if (made) caller.ledger.packages.add(made.package_id);
}

async function createItem(caller: Caller, name: string): Promise<string | null> {
  const finding = await createFinding(caller, name);
  const made = finding && (await send<Created>(caller, '/work-items', { body: { title: name, finding_ids: [finding] } }));
  if (!made) return null;
  caller.ledger.items.add(made.id);
  return made.id;
}

async function pushTicket(caller: Caller, name: string, connection: string): Promise<void> {
  const item = await createItem(caller, name);
  if (item && (await send(caller, `/work-items/${item}/tickets`, { body: { connection_id: connection } }))) caller.ledger.tickets.add(item);
}

async function syncConnection(caller: Caller, connection: string): Promise<void> {
  // A run whose start got no response may still be active.
  const made = await send<Created>(caller, `/integrations/${connection}/sync?full=true`, { body: {}, refusal: 409 });
  if (made) caller.ledger.runs.set(made.id, connection);
}

export interface Connections {
  scanner: string;
  ticketing: string;
}

export interface Work {
  name: WorkName;
  /** Never rejects. */
  done: Promise<unknown>;
}

/** Starts some work of each of these kinds. */
export function startWork(
  caller: Caller,
  kinds: readonly WorkName[],
  { round, connections, upgrade }: { round: number; connections: Connections; upgrade: () => Promise<void> },
): Work[] {
  const name = (what: string, n = 0): string => `${what}-${round}-${n}`;
  return kinds.map((kind) => {
    const start = (): Promise<unknown> => {
      switch (kind) {
        case 'findings':
          return Promise.all(Array.from({ length: 12 }, (_, n) => createFinding(caller, name('finding', n))));
        case 'import':
          return importReport(caller, `${name('import')}.example`);
        case 'sync':
          return syncConnection(caller, connections.scanner);
        case 'seal':
          return sealItem(caller, name('sealed'));
        case 'ticket':
          return pushTicket(caller, name('ticket'), connections.ticketing);
        case 'upgrade':
          return upgrade();
      }
    };
    return { name: kind, done: start() };
  });
}

const READ = [
  '/findings?total=exact',
  '/findings?severity=high&total=exact',
  '/findings/stats',
  '/work-items?total=exact',
  '/imports?total=exact',
  '/integrations',
  '/riskops-evidence/packages',
  '/audit-events?total=exact',
];
const READ_PAUSE_MS = 150;

/** Looks at everything again and again, as people do, until the returned function is called. */
export function startReading(caller: Caller): () => Promise<void> {
  let isOver = false;
  const read = async (first: number): Promise<void> => {
    for (let n = first; !isOver; n++) {
      await send(caller, READ[n % READ.length] ?? '');
      await delay(READ_PAUSE_MS);
    }
  };
  const readers = Promise.all([read(0), read(READ.length / 2)]);
  return async () => {
    isOver = true;
    await readers;
  };
}

/** Sends the requests again that got no response. Each must now be answered, once, whether or not it had been carried out. */
export async function repeatUnanswered(caller: Caller): Promise<number> {
  const { ledger } = caller;
  const repeat = async ([idempotencyKey, { path, body, title }]: [string, Unanswered]): Promise<number> => {
    const made = await send<Created>(caller, path, { body, idempotencyKey });
    if (made === null) return 0;
    ledger.unanswered.delete(idempotencyKey);
    ledger.findings.set(made.id, title);
    return 1;
  };
  const repeated = await Promise.all([...ledger.unanswered].map(repeat));
  return repeated.reduce((sum, one) => sum + one, 0);
}
