import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keyIn, postgresPid } from './folders.ts';
import { call } from './http.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { kill, rrs, type Service, start, until } from './service.ts';
import { startVendor, type Vendor } from './vendor.ts';

const env = { RRS_OUTBOUND_ALLOW: '127.0.0.1' };
let service: Service;
let vendor: Vendor;
/** Of the organization whose runs are killed, and of one like it that is left in peace. */
const keys = { disturbed: '', calm: '' };
type Customer = keyof typeof keys;

beforeAll(async () => {
  [service, vendor] = await Promise.all([start({ env }), startVendor()]);
  keys.disturbed = keyIn(service.dataDir);
  await rrs(['org', 'create', 'calm'], { dataDir: service.dataDir });
  keys.calm = (await rrs(['key', 'create', 'owner', '--role', 'owner', '--org', 'calm'], { dataDir: service.dataDir })).stdout.trim();
});
afterAll(() => vendor?.close());

async function ask<T>(customer: Customer, path: string, body?: unknown): Promise<T> {
  const answer = await call(service.url, `/api/v1${path}`, { key: keys[customer], ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body as T;
}

/** `meanwhile` the service is dead. */
async function killAndStartAgain(meanwhile: () => void): Promise<void> {
  const postgres = postgresPid(service.dataDir);
  service.signal('SIGKILL');
  kill(postgres);
  await service.exit;
  meanwhile();
  service = await start({ dataDir: service.dataDir, env });
}

interface Run {
  id: string;
  connection_id: string;
  status: string;
  counts: Record<string, number>;
  progress: { records: number };
  error: unknown;
}

async function connect(customer: Customer): Promise<string[]> {
  const snyk = { provider: 'snyk', config: { api_url: vendor.origin, organization_id: customer }, credentials: { token: 'a token of Snyk' } };
  const report = { provider: 'report_url', config: { url: `${vendor.origin}/reports/${customer}`, format: 'generic' } };
  const made = [snyk, report].map((settings) => ask<{ id: string }>(customer, '/integrations', { ...settings, schedule: null }));
  return (await Promise.all(made)).map(({ id }) => id);
}

const beginRun = (customer: Customer, id: string) => ask<Run>(customer, `/integrations/${id}/sync?full=true`, {});
const readRun = (customer: Customer, { connection_id, id }: Run) => ask<Run>(customer, `/integrations/${connection_id}/runs/${id}`);
const begin = (customer: Customer, ids: string[]) => Promise.all(ids.map((id) => beginRun(customer, id)));
const ended = (customer: Customer, runs: Run[]): Promise<Run[]> =>
  Promise.all(
    runs.map((run) =>
      until('the run ends', async () => {
        const now = await readRun(customer, run);
        return now.status === 'queued' || now.status === 'running' ? undefined : now;
      }),
    ),
  );

interface Finding {
  title: string;
  status: string;
  severity: string;
  asset: { name: string };
  first_seen: string;
  reopen_count: number;
}

async function findingsOf(customer: Customer): Promise<string[]> {
  const all: Finding[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const list: { data: Finding[]; page: { next_cursor: string | null } } = await ask(customer, `/findings?limit=200${cursor && `&cursor=${cursor}`}`);
    all.push(...list.data);
    cursor = list.page.next_cursor;
  }
  return all.map(({ title, status, severity, asset, reopen_count }) => JSON.stringify([title, status, severity, asset.name, reopen_count])).sort();
}

test('kill -9 between two pages and in half of a report: the runs go on, to what they would have brought anyway', async () => {
  const { receiver, secret } = await subscribe(['sync.*', 'import.*']);
  const [disturbed, calm] = [await connect('disturbed'), await connect('calm')];
  vendor.have({ issues: 25, records: 30 });
  await Promise.all([ended('disturbed', await begin('disturbed', disturbed)), ended('calm', await begin('calm', calm))]);
  expect(await findingsOf('disturbed')).toHaveLength(55);

  vendor.have({ issues: 35, records: 2_500 });
  vendor.hold('disturbed');
  const undisturbed = await ended('calm', await begin('calm', calm));
  const runs = await begin('disturbed', disturbed);
  await until('the vendor keeps both waiting', () => vendor.held.size === 2);
  await until('something of each is kept', async () =>
    (await Promise.all(runs.map((run) => readRun('disturbed', run)))).every(({ progress }) => progress.records > 0),
  );
  const askedBefore = vendor.asked.length;
  await killAndStartAgain(() => vendor.hold(null));

  const carriedOut = await ended('disturbed', runs);
  expect(carriedOut.map(({ status, counts, error }) => ({ status, counts, error }))).toEqual(
    undisturbed.map(({ counts }) => ({ status: 'succeeded', counts, error: null })),
  );
  expect(carriedOut.map(({ counts }) => [counts.received, counts.created, counts.closed])).toEqual([
    [35, 10, 0],
    [2_500, 2_470, 0],
  ]);
  const findings = await findingsOf('disturbed');
  expect(findings).toHaveLength(2_535);
  expect(findings).toEqual(await findingsOf('calm'));
  expect(vendor.asked.slice(askedBefore).filter((path) => path.includes('/issues'))[0]).toContain('starting_after=10');

  const { connections } = await ask<{ connections: object[] }>('disturbed', '/integrations/health');
  const whole = { total: 2, failed: 0, error_rate: 0 };
  const healthy = { status: 'healthy', sync_status: 'ok', consecutive_failures: 0, last_error: null, circuit: 'closed', runs: { last_24h: whole } };
  expect(connections).toMatchObject([healthy, healthy]);

  const told = () => receiver.received.filter(({ event }) => event.type === 'sync.succeeded' && runs.some(({ id }) => id === event.subject));
  await until('the end of both runs is told', () => new Set(told().map(({ event }) => event.subject)).size === 2);
  expect(new Set(told().map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  assertGenuine(receiver, secret);
});

async function subscribe(event_types: string[]): Promise<{ receiver: Receiver; secret: string }> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  return { receiver, ...(await ask<{ secret: string }>('disturbed', '/webhooks', { url: receiver.url, event_types })) };
}

/** Whatever came, by the library that receivers use. */
function assertGenuine({ received }: Receiver, secret: string): void {
  expect(received.length).toBeGreaterThan(0);
  for (const { body, headers, event } of received) {
    expect(new Webhook(secret).verify(body, headers)).toEqual(event);
    expect(headers['webhook-id']).toBe(event.id);
  }
}

test('kill -9 while events are on the way: each of an acknowledged change arrives, and what arrives again has the same id', async () => {
  const created = async (n: number): Promise<string> => {
    const asset = { type: 'host', name: 'host.example' };
    return (await ask<{ id: string }>('disturbed', '/findings', { title: `Made by hand ${n}`, severity: 'low', asset })).id;
  };
  const { receiver, secret } = await subscribe(['finding.created']);
  const acknowledged = await Promise.all(Array.from({ length: 5 }, (_, n) => created(n)));
  await until('the first have arrived', () => receiver.received.length === 5);
  receiver.hold(true);
  acknowledged.push(...(await Promise.all(Array.from({ length: 12 }, (_, n) => created(n)))));
  await until('the receiver keeps some waiting', () => receiver.received.length > 5);
  const racing = Array.from({ length: 20 }, (_, n) => created(n).catch(() => null));
  acknowledged.push(await Promise.any(racing.map((one) => one.then((id) => id ?? Promise.reject(new Error('refused'))))));
  await killAndStartAgain(() => receiver.hold(false));
  acknowledged.push(...(await Promise.all(racing)).filter((id) => id !== null));

  const arrived = () => new Set(receiver.received.filter(({ answered }) => answered).map(({ event }) => event.subject));
  await until('all have arrived', () => acknowledged.every((id) => arrived().has(id)));
  const ids = Map.groupBy(receiver.received, ({ event }) => event.subject);
  for (const deliveries of ids.values()) expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const kept = receiver.received.filter(({ answered }) => !answered);
  expect(kept.length).toBeGreaterThan(0);
  for (const { event } of kept) expect(arrived()).toContain(event.subject);
  assertGenuine(receiver, secret);
});
