import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { createDeliveryWorker, type DeliveryWorker } from '../../events/webhooks/delivery-worker.ts';
import { eventually } from '../eventually.ts';
import type { TestApi, TestOrganization } from '../http/api.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  event: { id: string; source: string; type: string; subject: string; time: string; data: Record<string, unknown> } & Record<string, unknown>;
}

type Answer = (response: ServerResponse, received: Received) => unknown;

/** A local webhook receiver. It accepts every event until `answer` is called. */
async function startReceiver() {
  const received: Received[] = [];
  const behaviour: { answer: Answer } = { answer: (response) => response.writeHead(204).end() };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const one = { headers: request.headers, body, event: JSON.parse(body) as Received['event'] };
    received.push(one);
    behaviour.answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    types: () => received.map(({ event }) => event.type),
    /** Sets the response to all further requests. */
    answer: (answer: number | Answer): void => {
      behaviour.answer = typeof answer === 'number' ? (response) => response.writeHead(answer).end() : answer;
    },
    close,
  };
}

export type TestReceiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts a receiver that closes when the test ends. */
export async function useReceiver(): Promise<TestReceiver> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  return receiver;
}

/** The receiver's check, as the Standard Webhooks specification describes it. */
export function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${expected}`);
}

export interface WebhookBody {
  id: string;
  url: string;
  enabled: boolean;
  disabled_reason: string | null;
  secret: string;
  secret_hint: string;
  failing_since: string | null;
  paused_until: string | null;
  last_success_at: string | null;
  version: number;
}

export interface DeliveryBody {
  id: string;
  event_id: string;
  event_type: string;
  status: string;
  attempts: number;
  next_attempt_at: string | null;
  response_status: number | null;
  response_excerpt: string | null;
  error: string | null;
  replay_of: string | null;
}

/** Waits for running transactions, because newer events are held back until those have ended. */
export async function waitForOpenTransactions({ db, ours }: Pick<TestApi, 'db' | 'ours'>): Promise<void> {
  const now = await db.withSystem((tx) => sql<{ xact: string }>`select pg_current_xact_id()::text as xact`.execute(tx));
  const horizon = () => db.withSystem((tx) => sql<{ xact: string }>`select horizon::text as xact from events_horizons(array[${ours.id}::uuid])`.execute(tx));
  await eventually(async () => Number((await horizon()).rows[0]?.xact)).toBeGreaterThan(Number(now.rows[0]?.xact));
}

/** A poll leaves events for the next one if a transaction in another database ended at that moment, because it cannot tell any more where that one was. */
async function isBehind({ db }: Pick<TestApi, 'db'>): Promise<boolean> {
  const left = await db.withSystem((tx) =>
    sql`select from events_horizons(array(select distinct org_id from webhooks where enabled)) h join webhooks w on w.org_id = h.org_id and w.enabled
      join events e on e.org_id = w.org_id and (e.xact, e.id) > (w.seen_xact, w.seen_id) and e.xact < h.horizon limit 1`.execute(tx),
  );
  return left.rows.length > 0;
}

/** Polls until no event that the worker may deliver is left. */
export async function pollAll(api: Pick<TestApi, 'db' | 'ours'>, worker: Pick<DeliveryWorker, 'poll'>): Promise<void> {
  await waitForOpenTransactions(api);
  do await worker.poll();
  while (await isBehind(api));
}

/** The webhooks of an organization over HTTP, and a delivery worker that polls only on demand. */
export function webhooksOf(api: TestApi, organization: TestOrganization = api.ours) {
  const log = { info: () => {}, error: () => {} };
  const onOutcome = (outcome: string, count: number): void => api.metrics.deliveries.inc({ outcome }, count);
  const worker = createDeliveryWorker({ db: api.db, secret: api.secret, outbound: api.outbound, publicUrl: () => api.url, log, onOutcome });
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.call(method, `/api/v1${path}`, { as: organization.owner, headers, ...(body === undefined ? {} : { body }) });
  const get = async <T>(path: string): Promise<T> => {
    const answer = await call('GET', path);
    expect(answer.status).toBe(200);
    return answer.body as T;
  };
  const deliverNow = async (): Promise<void> => {
    await worker.poll();
    await worker.idle();
  };
  return {
    worker,
    call,
    async create(url: string, event_types = ['*'], more: object = {}): Promise<WebhookBody> {
      const answer = await call('POST', '/webhooks', { url, event_types, ...more });
      expect(answer.status).toBe(201);
      return answer.body as WebhookBody;
    },
    read: (id: string) => get<WebhookBody>(`/webhooks/${id}`),
    deliveries: async (id: string, query = '') => (await get<{ data: DeliveryBody[] }>(`/webhooks/${id}/deliveries?sort=created_at${query}`)).data,
    /** Makes a change that emits `finding.created`. */
    async change(title = 'A change'): Promise<string> {
      const answer = await call('POST', '/findings', { title, severity: 'low', asset: { type: 'host', name: 'host.example' } });
      expect(answer.status).toBe(201);
      return (answer.body as { id: string }).id;
    },
    deliver: async (): Promise<void> => {
      await pollAll(api, worker);
      await worker.idle();
    },
    /** Does not wait for running transactions, for tests that keep one open. */
    deliverNow,
  };
}
