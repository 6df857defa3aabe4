import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { retention } from '../../main/growth/retention.ts';
import { firstIdAt } from '../../shared/ids.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { type DeliveryBody, isSignedWith, type TestReceiver, useReceiver, type WebhookBody, webhooksOf } from '../../testing/integrations/webhooks.ts';
import { RETRY_SECONDS } from './outcomes.ts';

let api: TestApi;
let webhooks: ReturnType<typeof webhooksOf>;
let receiver: TestReceiver;
let webhook: WebhookBody;

beforeAll(async () => {
  api = await startApi({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.1' } });
  webhooks = webhooksOf(api);
});
afterAll(() => api?.close());

beforeEach(async () => {
  await api.db.withSystem((tx) => sql`delete from webhooks`.execute(tx));
  receiver = await useReceiver();
  webhook = await webhooks.create(receiver.url, ['finding.created', 'webhook.disabled']);
});

/** Moves all stored times of webhooks into the past. */
async function pass(interval: string): Promise<void> {
  await api.db.withSystem(async (tx) => {
    const moved = sql.raw(`interval '${interval}'`);
    await sql`update webhook_deliveries set created_at = created_at - ${moved}, next_attempt_at = next_attempt_at - ${moved}`.execute(tx);
    await sql`update webhooks set failing_since = failing_since - ${moved}, paused_until = paused_until - ${moved}, leased_until = leased_until - ${moved}`.execute(
      tx,
    );
  });
}

async function only(): Promise<DeliveryBody> {
  const all = await webhooks.deliveries(webhook.id);
  expect(all).toHaveLength(1);
  return all[0] as DeliveryBody;
}

function secondsUntil(moment: string | null): number {
  return (Date.parse(moment ?? '') - Date.now()) / 1000;
}

describe('an event', () => {
  it('is delivered as a signed CloudEvent, and the outcome is recorded', async () => {
    const id = await webhooks.change('Found');
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
    const [one] = receiver.received;
    expect(one?.event).toEqual({
      specversion: '1.0',
      id: one?.headers['webhook-id'],
      source: `${api.url}/organizations/${api.ours.id}`,
      type: 'finding.created',
      subject: id,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      datacontenttype: 'application/json',
      data: expect.objectContaining({ title: 'Found' }),
    });
    expect(one?.headers['content-type']).toMatch(/^application\/cloudevents\+json/);
    expect(Math.abs(Number(one?.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    expect(one && isSignedWith(webhook.secret, one)).toBe(true);
    expect(one && isSignedWith(`whsec_${Buffer.alloc(32).toString('base64')}`, one)).toBe(false);
    expect(await only()).toMatchObject({
      event_id: one?.event.id,
      event_type: 'finding.created',
      status: 'succeeded',
      attempts: 1,
      response_status: 204,
      next_attempt_at: null,
    });
    expect(await webhooks.read(webhook.id)).toMatchObject({ last_success_at: expect.any(String), failing_since: null, version: 1 });
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
  });

  it('that is not accepted is retried later with the same id', async () => {
    receiver.answer((response) => response.writeHead(500).end('out of order'));
    await webhooks.change();
    await webhooks.deliver();
    const failed = await only();
    expect(failed).toMatchObject({
      status: 'pending',
      attempts: 1,
      response_status: 500,
      response_excerpt: 'out of order',
      error: expect.stringContaining('500'),
    });
    expect(secondsUntil(failed.next_attempt_at)).toBeGreaterThan(50);
    expect(secondsUntil(failed.next_attempt_at)).toBeLessThan(64);
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);

    receiver.answer(200);
    await pass('64 seconds');
    await webhooks.deliver();
    expect(await only()).toMatchObject({ status: 'succeeded', attempts: 2, response_status: 200, error: null, next_attempt_at: null });
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second && isSignedWith(webhook.secret, second)).toBe(true);
    expect(await webhooks.read(webhook.id)).toMatchObject({ failing_since: null, enabled: true });
  });

  it('fails after ten attempts in about a day', async () => {
    receiver.answer(503);
    await webhooks.change();
    await webhooks.deliver();
    for (const seconds of RETRY_SECONDS) {
      await pass(`${Math.ceil(seconds * 1.06)} seconds`);
      // A day of failures would disable the webhook, which is not tested here.
      await api.db.withSystem((tx) => sql`update webhooks set failing_since = now(), paused_until = null`.execute(tx));
      await webhooks.deliver();
    }
    expect(RETRY_SECONDS.reduce((sum, each) => sum + each, 0) / 3600).toBeCloseTo(24, 0);
    expect(receiver.received).toHaveLength(10);
    expect(await only()).toMatchObject({ status: 'failed', attempts: 10, next_attempt_at: null, response_status: 503 });
    expect(await webhooks.deliveries(webhook.id, '&status=failed')).toHaveLength(1);
    expect(await webhooks.deliveries(webhook.id, '&status=pending,succeeded')).toEqual([]);
  });

  it('waits as long as Retry-After says', async () => {
    receiver.answer((response) => response.writeHead(429, { 'retry-after': '7200' }).end());
    await webhooks.change();
    await webhooks.deliver();
    expect(secondsUntil((await only()).next_attempt_at)).toBeGreaterThan(7_100);
    expect(secondsUntil((await webhooks.read(webhook.id)).paused_until)).toBeGreaterThan(7_100);
    await webhooks.change();
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
    receiver.answer(204);
    await pass('7201 seconds');
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(3);
  });

  it('without a response has an explained error, and an unavailable receiver is not tried for every event', async () => {
    receiver.answer((response) => response.destroy());
    for (let count = 0; count < 12; count++) await webhooks.change();
    await webhooks.deliver();
    const deliveries = await webhooks.deliveries(webhook.id);
    expect(deliveries.filter(({ attempts }) => attempts > 0)).toHaveLength(8);
    expect(deliveries.find(({ attempts }) => attempts > 0)).toMatchObject({
      response_status: null,
      error: expect.stringMatching(/^No response: the connection was interrupted/),
    });
    const { paused_until } = await webhooks.read(webhook.id);
    expect(secondsUntil(paused_until)).toBeGreaterThan(20);
    const untried = deliveries.filter(({ attempts }) => attempts === 0);
    expect(untried.map(({ next_attempt_at }) => next_attempt_at)).toEqual(untried.map(() => paused_until));
    expect((await api.call('GET', '/metrics')).body).toMatch(/deliveries_waiting\{state="ready"\} 0\n.*deliveries_waiting\{state="later"\} 12\n/);
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(8);
  });

  it('of a type that is not selected is not delivered', async () => {
    await webhooks.call('POST', '/work-items', { title: 'not a finding' });
    await webhooks.deliver();
    expect(await webhooks.deliveries(webhook.id)).toEqual([]);
  });

  it('is delivered according to the current URL and event types', async () => {
    const moved = await useReceiver();
    await webhooks.call('PATCH', `/webhooks/${webhook.id}`, { url: moved.url, event_types: ['work_item.*'] });
    await webhooks.change();
    await webhooks.call('POST', '/work-items', { title: 'delivered' });
    await webhooks.deliver();
    expect([receiver.types(), moved.types()]).toEqual([[], ['work_item.created']]);
  });
});

describe('many events', () => {
  it('are all delivered once', async () => {
    const ids = await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
      const { rows } = await sql<{ subject: string }>`
        insert into events (org_id, id, type, subject, data)
        select ${api.ours.id}, new_id(), 'finding.created', 'subject ' || n, '{}' from generate_series(1, 1500) n returning subject`.execute(tx);
      return rows.map(({ subject }) => subject);
    });
    await webhooks.deliver();
    const subjects = receiver.received.map(({ event }) => event.subject);
    expect(subjects).toHaveLength(1500);
    expect(subjects.toSorted()).toEqual(ids.toSorted());
  });
});

describe('a webhook', () => {
  it('is disabled immediately when its receiver responds with 410, and others receive an event', async () => {
    const observer = await useReceiver();
    await webhooks.create(observer.url, ['webhook.disabled']);
    receiver.answer(410);
    await webhooks.change();
    await webhooks.deliver();
    expect(await webhooks.read(webhook.id)).toMatchObject({ enabled: false, disabled_reason: expect.stringContaining('410 Gone'), version: 2 });
    expect(await only()).toMatchObject({ status: 'failed', attempts: 1, response_status: 410, next_attempt_at: null });
    await webhooks.change();
    await webhooks.deliver();
    expect(receiver.received).toHaveLength(1);
    expect(observer.received).toMatchObject([
      { event: { type: 'webhook.disabled', subject: webhook.id, data: { disabled_reason: expect.stringContaining('410') } } },
    ]);
    const { body } = await api.call('GET', `/api/v1/audit-events?object_id=${webhook.id}`, { as: api.ours.owner });
    expect((body as { data: unknown[] }).data[0]).toMatchObject({ action: 'webhook.disabled', actor: { type: 'system' }, after: { enabled: false } });
  });

  it('is disabled after a full day of failures, and not before', async () => {
    receiver.answer(500);
    await webhooks.change();
    await webhooks.deliver();
    await pass('23 hours 50 minutes');
    await webhooks.deliver();
    expect(await webhooks.read(webhook.id)).toMatchObject({ enabled: true });
    await webhooks.change();
    await pass('20 minutes');
    await webhooks.deliver();
    expect(await webhooks.read(webhook.id)).toMatchObject({
      enabled: false,
      disabled_reason: expect.stringMatching(/^All deliveries have failed since .*500/),
    });
    for (const delivery of await webhooks.deliveries(webhook.id))
      expect(delivery).toMatchObject({ status: 'failed', error: expect.stringContaining('disabled') });
  });

  it('is not disabled if a delivery succeeded in between', async () => {
    receiver.answer(500);
    await webhooks.change();
    await webhooks.deliver();
    receiver.answer(200);
    await webhooks.change();
    await webhooks.deliver();
    receiver.answer(500);
    await pass('25 hours');
    await webhooks.deliver();
    expect(await webhooks.read(webhook.id)).toMatchObject({ enabled: true, failing_since: expect.any(String) });
  });

  it('that is enabled again receives only new events', async () => {
    await webhooks.call('PATCH', `/webhooks/${webhook.id}`, { enabled: false });
    await webhooks.change('missed');
    await webhooks.call('PATCH', `/webhooks/${webhook.id}`, { enabled: true });
    await webhooks.change('delivered');
    await webhooks.deliver();
    expect(receiver.received.map(({ event }) => event.data.title)).toEqual(['delivered']);
  });

  it('that is created receives no earlier events', async () => {
    await webhooks.change('before');
    const late = await useReceiver();
    await webhooks.create(late.url);
    await webhooks.change('after');
    await webhooks.deliver();
    expect(late.received.map(({ event }) => event.data.title)).toEqual(['after']);
  });
});

describe('a replay', () => {
  it('delivers the same event again as a new delivery', async () => {
    receiver.answer(410);
    await webhooks.change();
    await webhooks.deliver();
    const { id, event_id } = await only();
    const path = `/webhooks/${webhook.id}/deliveries/${id}/replay`;
    expect(await webhooks.call('POST', path)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await webhooks.call('PATCH', `/webhooks/${webhook.id}`, { enabled: true });
    receiver.answer(200);
    expect(await webhooks.call('POST', path)).toMatchObject({ status: 202, body: { status: 'pending', event_id, replay_of: id, attempts: 0 } });
    await webhooks.deliver();
    const [first, again] = receiver.received;
    expect(again?.body).toBe(first?.body);
    expect(again?.headers['webhook-id']).toBe(event_id);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([
      { id, status: 'failed' },
      { replay_of: id, status: 'succeeded' },
    ]);
  });
});

describe('retention', () => {
  it('deletes deliveries after 30 days', async () => {
    const [old, young] = [31, 29].map((days) => firstIdAt(new Date(Date.now() - days * 86_400_000)));
    await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
      sql`insert into webhook_deliveries (org_id, id, webhook_id, event_id, event_type, status)
        select ${api.ours.id}, id, ${webhook.id}, id, 'finding.created', 'succeeded' from unnest(${[old, young]}::uuid[]) id`.execute(tx),
    );
    await retention.run({}, { db: api.db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false });
    expect((await webhooks.deliveries(webhook.id)).map(({ id }) => id)).toEqual([young]);
  });
});
