import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { keyIn, postgresPid } from './folders.ts';
import { call } from './http.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { kill, rrs, type Service, start, startUsed, until } from './service.ts';
import { startVendor, type Vendor } from './vendor.ts';

const env = { RRS_OUTBOUND_ALLOW: '127.0.0.1' };
let service: Service;
let vendor: Vendor;
/** Keys of the organization whose runs are killed, and of a control organization with the same data. */
const keys = { interrupted: '', control: '' };
type Customer = keyof typeof keys;

beforeAll(async () => {
  [service, vendor] = await Promise.all([startUsed({ env }), startVendor()]);
  keys.interrupted = keyIn(service.dataDir);
  await rrs(['org', 'create', 'control'], { dataDir: service.dataDir });
  keys.control = (await rrs(['key', 'create', 'owner', '--role', 'owner', '--org', 'control'], { dataDir: service.dataDir })).stdout.trim();
});
afterAll(() => vendor?.close());

async function request<T>(customer: Customer, path: string, body?: unknown): Promise<T> {
  const reply = await call(service.url, `/api/v1${path}`, { key: keys[customer], ...(body === undefined ? {} : { body }) });
  if (reply.status >= 300) throw new Error(JSON.stringify(reply.body));
  return reply.body as T;
}

/** Calls `whileDown` between the kill and the restart. */
async function killAndRestart(whileDown: () => void): Promise<void> {
  const postgres = postgresPid(service.dataDir);
  service.signal('SIGKILL');
  kill(postgres);
  await service.exit;
  whileDown();
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
  const created = [snyk, report].map((settings) => request<{ id: string }>(customer, '/integrations', { ...settings, schedule: null }));
  return (await Promise.all(created)).map(({ id }) => id);
}

const startRun = (customer: Customer, id: string) => request<Run>(customer, `/integrations/${id}/sync?full=true`, {});
const readRun = (customer: Customer, { connection_id, id }: Run) => request<Run>(customer, `/integrations/${connection_id}/runs/${id}`);
const startRuns = (customer: Customer, ids: string[]) => Promise.all(ids.map((id) => startRun(customer, id)));
const finished = (customer: Customer, runs: Run[]): Promise<Run[]> =>
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
    const list: { data: Finding[]; page: { next_cursor: string | null } } = await request(customer, `/findings?limit=200${cursor && `&cursor=${cursor}`}`);
    all.push(...list.data);
    cursor = list.page.next_cursor;
  }
  return all.map(({ title, status, severity, asset, reopen_count }) => JSON.stringify([title, status, severity, asset.name, reopen_count])).sort();
}

test('after kill -9 between two pages and halfway through a report, runs resume with the same result as an uninterrupted run', async () => {
  const { receiver, secret } = await subscribe(['sync.*', 'import.*']);
  const [interrupted, control] = [await connect('interrupted'), await connect('control')];
  vendor.setSize({ issues: 25, records: 30 });
  await Promise.all([finished('interrupted', await startRuns('interrupted', interrupted)), finished('control', await startRuns('control', control))]);
  expect(await findingsOf('interrupted')).toHaveLength(55);

  vendor.setSize({ issues: 35, records: 2_500 });
  vendor.stall('interrupted');
  const uninterrupted = await finished('control', await startRuns('control', control));
  const runs = await startRuns('interrupted', interrupted);
  await until('both runs wait for the vendor', () => vendor.stalled.size === 2);
  await until('both runs have stored a batch', async () =>
    (await Promise.all(runs.map((run) => readRun('interrupted', run)))).every(({ progress }) => progress.records > 0),
  );
  const requestsBefore = vendor.requests.length;
  await killAndRestart(() => vendor.stall(null));

  const resumed = await finished('interrupted', runs);
  expect(resumed.map(({ status, counts, error }) => ({ status, counts, error }))).toEqual(
    uninterrupted.map(({ counts }) => ({ status: 'succeeded', counts, error: null })),
  );
  expect(resumed.map(({ counts }) => [counts.received, counts.created, counts.closed])).toEqual([
    [35, 10, 0],
    [2_500, 2_470, 0],
  ]);
  const findings = await findingsOf('interrupted');
  expect(findings).toHaveLength(2_535);
  expect(findings).toEqual(await findingsOf('control'));
  expect(vendor.requests.slice(requestsBefore).filter((path) => path.includes('/issues'))[0]).toContain('starting_after=10');

  const { connections } = await request<{ connections: object[] }>('interrupted', '/integrations/health');
  const whole = { total: 2, failed: 0, error_rate: 0 };
  const healthy = { status: 'healthy', sync_status: 'ok', consecutive_failures: 0, last_error: null, circuit: 'closed', runs: { last_24h: whole } };
  expect(connections).toMatchObject([healthy, healthy]);

  const succeeded = () => receiver.received.filter(({ event }) => event.type === 'sync.succeeded' && runs.some(({ id }) => id === event.subject));
  await until('both runs are reported as succeeded', () => new Set(succeeded().map(({ event }) => event.subject)).size === 2);
  expect(new Set(succeeded().map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  assertSigned(receiver, secret);
});

async function subscribe(event_types: string[]): Promise<{ receiver: Receiver; secret: string }> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  return { receiver, ...(await request<{ secret: string }>('interrupted', '/webhooks', { url: receiver.url, event_types })) };
}

/** Verifies all received requests with the library that receivers use. */
function assertSigned({ received }: Receiver, secret: string): void {
  expect(received.length).toBeGreaterThan(0);
  for (const { body, headers, event } of received) {
    expect(new Webhook(secret).verify(body, headers)).toEqual(event);
    expect(headers['webhook-id']).toBe(event.id);
  }
}

test('after kill -9 during deliveries, the event of every acknowledged change arrives, and repeated deliveries have the same id', async () => {
  const createFinding = async (n: number): Promise<string> => {
    const asset = { type: 'host', name: 'host.example' };
    return (await request<{ id: string }>('interrupted', '/findings', { title: `Created by a test ${n}`, severity: 'low', asset })).id;
  };
  const { receiver, secret } = await subscribe(['finding.created']);
  const acknowledged = await Promise.all(Array.from({ length: 5 }, (_, n) => createFinding(n)));
  await until('the first events arrive', () => receiver.received.length === 5);
  receiver.stall(true);
  acknowledged.push(...(await Promise.all(Array.from({ length: 12 }, (_, n) => createFinding(n)))));
  await until('deliveries wait for the receiver', () => receiver.received.length > 5);
  const racing = Array.from({ length: 20 }, (_, n) => createFinding(n).catch(() => null));
  acknowledged.push(await Promise.any(racing.map((one) => one.then((id) => id ?? Promise.reject(new Error('refused'))))));
  await killAndRestart(() => receiver.stall(false));
  acknowledged.push(...(await Promise.all(racing)).filter((id) => id !== null));

  const arrived = () => new Set(receiver.received.filter(({ acknowledged }) => acknowledged).map(({ event }) => event.subject));
  await until('all events arrive', () => acknowledged.every((id) => arrived().has(id)));
  const ids = Map.groupBy(receiver.received, ({ event }) => event.subject);
  for (const deliveries of ids.values()) expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const unanswered = receiver.received.filter(({ acknowledged }) => !acknowledged);
  expect(unanswered.length).toBeGreaterThan(0);
  for (const { event } of unanswered) expect(arrived()).toContain(event.subject);
  assertSigned(receiver, secret);
});
