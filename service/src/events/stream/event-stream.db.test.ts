import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { eventually } from '../../testing/eventually.ts';
import { startApi, type TestApi, type TestOrganization } from '../../testing/http/api.ts';
import { waitForOpenTransactions } from '../../testing/integrations/webhooks.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { toCloudEvent } from '../cloud-event.ts';
import { emit } from '../emit.ts';
import type { EventType } from '../types.ts';
import { createEventStream, type Subscription } from './event-stream.ts';
import { serverSentEvents } from './server-sent-events.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({
    prepare: async (app) => {
      app.get('/still', { config: { access: 'authenticated' }, schema: { hide: true } }, async (request, reply) => {
        const before = await app.isStillAllowed(request);
        await api.db.withTenant(request.actor, (tx) =>
          tx.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', String(request.actor.id)).execute(),
        );
        return reply.send([before, await app.isStillAllowed(request)]);
      });
    },
  });
});
afterAll(() => api?.close());
beforeEach(() => waitForOpenTransactions(api));

async function emitFor(organization: TestOrganization, type: EventType, ...subjects: string[]): Promise<void> {
  await api.db.withTenant({ orgId: organization.id }, (tx) => emit(tx, organization.id, ...subjects.map((subject) => ({ type, subject, data: {} }))));
}

interface Follow {
  as?: string;
  query?: string;
  lastEventId?: string | undefined;
  prefer?: string;
}

/** Opens a stream on its own connection and collects what it receives. */
async function follow({ as = api.ours.owner, query = '', lastEventId, prefer }: Follow = {}) {
  const headers = {
    authorization: `Bearer ${as}`,
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    ...(prefer === undefined ? {} : { prefer }),
  };
  const request = get(`${api.url}/api/v1/events${query}`, { agent: false, headers });
  const disconnect = (): void => void request.destroy();
  onTestFinished(disconnect);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const received = { text: '', ended: false };
  const reading = (async () => {
    for await (const chunk of response) received.text += String(chunk);
    received.ended = true;
  })().catch(() => {});
  const events = () =>
    [...received.text.matchAll(/^id: (.*)\ndata: (.*)\n\n/gm)].map(([, id = '', data = '']) => ({
      lastEventId: id,
      ...(JSON.parse(data) as { id: string; type: string; subject: string }),
    }));
  return {
    status: response.statusCode,
    headers: response.headers,
    received,
    events,
    subjects: () => events().map(({ subject }) => subject),
    reading,
    disconnect,
  };
}

describe('the event stream', () => {
  it('sends new events as CloudEvents, in order', async () => {
    await emitFor(api.ours, 'finding.updated', 'before');
    await waitForOpenTransactions(api);
    const reader = await follow();
    expect(reader.status).toBe(200);
    expect(reader.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(reader.headers['cache-control']).toBe('no-store');
    await emitFor(api.ours, 'finding.updated', 'one', 'two');
    await emitFor(api.ours, 'finding.updated', 'three');
    await eventually(reader.subjects).toEqual(['one', 'two', 'three']);
    expect(reader.events()[0]).toMatchObject({ specversion: '1.0', type: 'finding.updated', source: `${api.url}/organizations/${api.ours.id}`, data: {} });
    for (const { id, lastEventId } of reader.events()) expect(lastEventId).toBe(id);
    expect(reader.received.text).toMatch(/^retry: \d+\n\n/);
  });

  it('resumes after Last-Event-ID with exactly the missed events, in order', async () => {
    const first = await follow();
    await emitFor(api.ours, 'finding.updated', 'seen 1', 'seen 2');
    await eventually(first.subjects).toEqual(['seen 1', 'seen 2']);
    first.disconnect();
    const missed = Array.from({ length: 450 }, (_, n) => `missed ${n}`);
    await emitFor(api.ours, 'finding.updated', ...missed);
    const second = await follow({ lastEventId: first.events().at(-1)?.lastEventId });
    await eventually(second.subjects).toEqual(missed);
    await emitFor(api.ours, 'finding.updated', 'live');
    await eventually(second.subjects).toEqual([...missed, 'live']);
  });

  it('sends each organization only its own events', async () => {
    const [ours, theirs] = [await follow(), await follow({ as: api.theirs.owner })];
    await Promise.all([emitFor(api.ours, 'finding.updated', 'of ours'), emitFor(api.theirs, 'finding.updated', 'of theirs')]);
    await eventually(ours.subjects).toEqual(['of ours']);
    await eventually(theirs.subjects).toEqual(['of theirs']);
    const ourId = ours.events()[0]?.id ?? '';
    const crossed = await follow({ as: api.theirs.owner, lastEventId: ourId });
    expect(crossed.status).toBe(404);
    expect(ours.received.text).not.toContain('of theirs');
    expect(theirs.received.text).not.toContain('of ours');
  });

  it('skips no event of a transaction that commits late', async () => {
    const reader = await follow();
    const gate = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const slow = api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
      await emit(tx, api.ours.id, { type: 'finding.updated', subject: 'begun first', data: {} });
      written.resolve();
      await gate.promise;
    });
    await written.promise;
    await emitFor(api.ours, 'finding.updated', 'ended first');
    const late = await follow({ prefer: 'wait=0' });
    await late.reading;
    gate.resolve();
    await slow;
    await eventually(reader.subjects).toEqual(['begun first', 'ended first']);
    const again = await follow({ prefer: 'wait=0', lastEventId: reader.events()[0]?.id });
    await eventually(() => again.received.ended).toBe(true);
    expect(again.subjects()).toEqual(['ended first']);
  });

  it('does not wait for an import of another organization', async () => {
    const reader = await follow();
    const gate = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const import_ = api.db.withTenant({ orgId: api.theirs.id }, async (tx) => {
      await sql`select take_import_lock(${api.theirs.id})`.execute(tx);
      await emit(tx, api.theirs.id, { type: 'finding.updated', subject: 'in an import', data: {} });
      written.resolve();
      await gate.promise;
    });
    await written.promise;
    await emitFor(api.ours, 'finding.updated', 'of ours');
    await eventually(reader.subjects).toEqual(['of ours']);
    gate.resolve();
    await import_;
  });

  it('does not wait for a transaction in another database of the server', async () => {
    const other = await createTestDatabase();
    const elsewhere = new pg.Client({ connectionString: other.url });
    await elsewhere.connect();
    try {
      await elsewhere.query('begin');
      await elsewhere.query('select pg_current_xact_id()');
      const reader = await follow();
      await emitFor(api.ours, 'finding.updated', 'of ours');
      await eventually(reader.subjects).toEqual(['of ours']);
    } finally {
      await elsewhere.end();
      await other.drop();
    }
  });

  it('sends only the requested types', async () => {
    const reader = await follow({ query: '?types=import.*,finding.updated' });
    await emitFor(api.ours, 'finding.updated', '1');
    await emitFor(api.ours, 'finding.severity_changed', '2');
    await emitFor(api.ours, 'import.succeeded', '3');
    await eventually(reader.subjects).toEqual(['1', '3']);
  });

  it('omits events that the role may not read', async () => {
    const reader = await follow({ as: await api.ours.key('viewer') });
    await emitFor(api.ours, 'api_key.created', 'a key');
    await emitFor(api.ours, 'webhook.created', 'a webhook');
    await emitFor(api.ours, 'session.created', 'a session');
    await emitFor(api.ours, 'finding.updated', 'a finding');
    await eventually(reader.subjects).toEqual(['a finding']);
  });

  it('ends after the missed events with Prefer: wait=0', async () => {
    const live = await follow();
    await emitFor(api.ours, 'finding.updated', 'a', 'b');
    await eventually(live.subjects).toEqual(['a', 'b']);
    const reader = await follow({ lastEventId: live.events()[0]?.id, prefer: 'wait=0' });
    await reader.reading;
    expect([reader.received.ended, reader.subjects()]).toEqual([true, ['b']]);
  });

  it('rejects unknown event ids and invalid patterns', async () => {
    const unknown = await follow({ lastEventId: newId() });
    expect(unknown.status).toBe(404);
    for (const refused of [await follow({ lastEventId: 'x' }), await follow({ query: '?types=Finding' }), await follow({ query: '?types=finding.typo' })])
      expect(refused.status).toBe(400);
  });

  it('answers HEAD without a body', async () => {
    const { status, headers } = await api.call('HEAD', '/api/v1/events', { as: api.ours.owner });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('serves at most 5 streams for a credential and 20 for an organization, and others are not affected', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => api.ours.key('viewer')));
    const readers = await Promise.all(keys.slice(0, 4).flatMap((as) => Array.from({ length: 5 }, () => follow({ as }))));
    for (const as of [keys[0], keys[4]]) {
      const refused = await follow(as === undefined ? {} : { as });
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    }
    expect((await follow({ as: api.theirs.owner })).status).toBe(200);
    await emitFor(api.ours, 'finding.updated', 'for all');
    await eventually(() => readers.filter((reader) => reader.subjects().length === 1).length).toBe(20);
    for (const reader of readers) reader.disconnect();
    await eventually(async () => (await api.call('GET', '/api/v1/events', { as: api.ours.owner, headers: { prefer: 'wait=0' } })).status).toBe(200);
  });

  it('ends when the service stops, without delaying it', async () => {
    const stopping = await startApi();
    const response = await fetch(`${stopping.url}/api/v1/events`, { headers: { authorization: `Bearer ${stopping.ours.owner}` } });
    const ended = response.text();
    await stopping.close();
    expect(await ended).toBe('retry: 3000\n\n');
  });

  it('detects that a credential was revoked', async () => {
    expect(await api.call('GET', '/still', { as: await api.ours.key('viewer') })).toMatchObject({ status: 200, body: [true, false] });
  });
});

describe('a subscription', () => {
  const subscribe = (): Subscription => {
    const eventStream = createEventStream(api.db);
    onTestFinished(() => eventStream.close());
    return eventStream.subscribe(api.ours.id);
  };
  const optionsFor = async (subscription: Subscription, isStillAllowed = async () => true) => ({
    subscription,
    after: await subscription.start(null),
    seconds: Number.POSITIVE_INFINITY,
    isWanted: () => true,
    isStillAllowed,
    toCloudEvent: toCloudEvent.bind(null, api.url, api.ours.id),
    heartbeatMs: 20,
  });

  it('sends heartbeats until the credential is no longer valid', async () => {
    let checks = 0;
    const parts: string[] = [];
    for await (const part of serverSentEvents(await optionsFor(subscribe(), async () => ++checks < 4))) parts.push(part);
    expect(parts).toEqual(['retry: 3000\n\n', ...Array.from({ length: 3 }, () => ': heartbeat\n\n')]);
  });

  it('does not read ahead of a client that stops reading', async () => {
    const subscription = subscribe();
    let reads = 0;
    const counted: Subscription = {
      ...subscription,
      read: (after) => {
        reads++;
        return subscription.read(after);
      },
    };
    const stuck = new Writable({ highWaterMark: 1, write: () => {} });
    const options = await optionsFor(counted);
    await emitFor(api.ours, 'finding.updated', ...Array.from({ length: 5_000 }, (_, n) => String(n)));
    await waitForOpenTransactions(api);
    const stream = Readable.from(serverSentEvents(options), { highWaterMark: 1 }).pipe(stuck);
    onTestFinished(() => void stream.destroy());
    // Reading everything here gives the stream the time to do the same.
    let all = 0;
    for (let page = await subscription.read(options.after); page.length > 0; page = await subscription.read(page.at(-1)?.position ?? options.after))
      all += page.length;
    expect(all).toBe(5_000);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(4);
  });
});
