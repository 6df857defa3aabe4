import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { eventually } from '../../testing/eventually.ts';
import { startApi, type TestApi, type TestOrganization } from '../../testing/http/api.ts';
import { pastIsComplete } from '../../testing/integrations/webhooks.ts';
import { toCloudEvent } from '../cloud-event.ts';
import { emit } from '../emit.ts';
import type { EventType } from '../types.ts';
import { createHub, type Seat } from './event-stream.ts';
import { streamEvents } from './read.ts';

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
beforeEach(() => pastIsComplete(api));

async function tell(organization: TestOrganization, type: EventType, ...subjects: string[]): Promise<void> {
  await api.db.withTenant({ orgId: organization.id }, (tx) => emit(tx, organization.id, ...subjects.map((subject) => ({ type, subject, data: {} }))));
}

interface Follow {
  as?: string;
  query?: string;
  lastEventId?: string | undefined;
  prefer?: string;
}

/** A reader on a connection of its own, who keeps what came so far. */
async function follow({ as = api.ours.owner, query = '', lastEventId, prefer }: Follow = {}) {
  const headers = {
    authorization: `Bearer ${as}`,
    accept: 'text/event-stream',
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    ...(prefer === undefined ? {} : { prefer }),
  };
  const request = get(`${api.url}/api/v1/events${query}`, { agent: false, headers });
  const leave = (): void => void request.destroy();
  onTestFinished(leave);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const came = { text: '', ended: false };
  const reading = (async () => {
    for await (const chunk of response) came.text += String(chunk);
    came.ended = true;
  })().catch(() => {});
  const events = () =>
    [...came.text.matchAll(/^id: (.*)\ndata: (.*)\n\n/gm)].map(([, id = '', data = '']) => ({
      lastEventId: id,
      ...(JSON.parse(data) as { id: string; type: string; subject: string }),
    }));
  return { status: response.statusCode, headers: response.headers, came, events, subjects: () => events().map(({ subject }) => subject), reading, leave };
}

describe('the stream of events', () => {
  it('tells what happens from now on, as CloudEvents, in order', async () => {
    await tell(api.ours, 'finding.updated', 'before');
    await pastIsComplete(api);
    const reader = await follow();
    expect(reader.status).toBe(200);
    expect(reader.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(reader.headers['cache-control']).toBe('no-store');
    await tell(api.ours, 'finding.updated', 'one', 'two');
    await tell(api.ours, 'finding.updated', 'three');
    await eventually(reader.subjects).toEqual(['one', 'two', 'three']);
    expect(reader.events()[0]).toMatchObject({ specversion: '1.0', type: 'finding.updated', source: `${api.url}/organizations/${api.ours.id}`, data: {} });
    for (const { id, lastEventId } of reader.events()) expect(lastEventId).toBe(id);
    expect(reader.came.text).toMatch(/^retry: \d+\n\n/);
  });

  it('goes on with exactly what was missed, in order', async () => {
    const first = await follow();
    await tell(api.ours, 'finding.updated', 'seen 1', 'seen 2');
    await eventually(first.subjects).toEqual(['seen 1', 'seen 2']);
    first.leave();
    const missed = Array.from({ length: 450 }, (_, n) => `missed ${n}`);
    await tell(api.ours, 'finding.updated', ...missed);
    const second = await follow({ lastEventId: first.events().at(-1)?.lastEventId });
    await eventually(second.subjects).toEqual(missed);
    await tell(api.ours, 'finding.updated', 'live');
    await eventually(second.subjects).toEqual([...missed, 'live']);
  });

  it('tells each organization its own', async () => {
    const [ours, theirs] = [await follow(), await follow({ as: api.theirs.owner })];
    await Promise.all([tell(api.ours, 'finding.updated', 'of ours'), tell(api.theirs, 'finding.updated', 'of theirs')]);
    await eventually(ours.subjects).toEqual(['of ours']);
    await eventually(theirs.subjects).toEqual(['of theirs']);
    const ourId = ours.events()[0]?.id ?? '';
    const crossed = await follow({ as: api.theirs.owner, lastEventId: ourId });
    expect(crossed.status).toBe(404);
    expect(ours.came.text).not.toContain('of theirs');
    expect(theirs.came.text).not.toContain('of ours');
  });

  it('passes over no event of a change that ends late', async () => {
    const reader = await follow();
    const gate = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const slow = api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
      await emit(tx, api.ours.id, { type: 'finding.updated', subject: 'begun first', data: {} });
      written.resolve();
      await gate.promise;
    });
    await written.promise;
    await tell(api.ours, 'finding.updated', 'ended first');
    const late = await follow({ prefer: 'wait=0' });
    await late.reading;
    gate.resolve();
    await slow;
    await eventually(reader.subjects).toEqual(['begun first', 'ended first']);
    const again = await follow({ prefer: 'wait=0', lastEventId: reader.events()[0]?.id });
    await eventually(() => again.came.ended).toBe(true);
    expect(again.subjects()).toEqual(['ended first']);
  });

  it('tells the types that were asked for', async () => {
    const reader = await follow({ query: '?types=import.*,finding.updated' });
    await tell(api.ours, 'finding.updated', '1');
    await tell(api.ours, 'finding.severity_changed', '2');
    await tell(api.ours, 'import.succeeded', '3');
    await eventually(reader.subjects).toEqual(['1', '3']);
  });

  it('tells nobody of what their role may not read', async () => {
    const reader = await follow({ as: await api.ours.key('viewer') });
    await tell(api.ours, 'api_key.created', 'a key');
    await tell(api.ours, 'webhook.created', 'a webhook');
    await tell(api.ours, 'session.created', 'a session');
    await tell(api.ours, 'finding.updated', 'a finding');
    await eventually(reader.subjects).toEqual(['a finding']);
  });

  it('ends at once for who only wants what was missed', async () => {
    const live = await follow();
    await tell(api.ours, 'finding.updated', 'a', 'b');
    await eventually(live.subjects).toEqual(['a', 'b']);
    const reader = await follow({ lastEventId: live.events()[0]?.id, prefer: 'wait=0' });
    await reader.reading;
    expect([reader.came.ended, reader.subjects()]).toEqual([true, ['b']]);
  });

  it('refuses an id that it never gave, and patterns that are none', async () => {
    const unknown = await follow({ lastEventId: newId() });
    expect(unknown.status).toBe(404);
    for (const refused of [await follow({ lastEventId: 'x' }), await follow({ query: '?types=Finding' }), await follow({ query: '?types=finding.typo' })])
      expect(refused.status).toBe(400);
  });

  it('answers HEAD without a stream', async () => {
    const { status, headers } = await api.call('HEAD', '/api/v1/events', { as: api.ours.owner });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('has 100 readers at the most, and a seat is free when its reader goes', async () => {
    const readers = await Promise.all(Array.from({ length: 100 }, () => follow()));
    const refused = await follow();
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    await tell(api.ours, 'finding.updated', 'for all');
    await eventually(() => readers.filter((reader) => reader.subjects().length === 1).length).toBe(100);
    for (const reader of readers) reader.leave();
    await eventually(async () => (await api.call('GET', '/api/v1/events', { as: api.ours.owner, headers: { prefer: 'wait=0' } })).status).toBe(200);
  });

  it('ends when the service stops, and does not hold it up', async () => {
    const stopping = await startApi();
    const response = await fetch(`${stopping.url}/api/v1/events`, { headers: { authorization: `Bearer ${stopping.ours.owner}` } });
    const ended = response.text();
    await stopping.close();
    expect(await ended).toBe('retry: 3000\n\n');
  });

  it('knows whether a credential still counts', async () => {
    expect(await api.call('GET', '/still', { as: await api.ours.key('viewer') })).toMatchObject({ status: 200, body: [true, false] });
  });
});

describe('a reader', () => {
  const take = async (): Promise<Seat> => {
    const hub = createHub(api.db);
    onTestFinished(() => hub.close());
    return hub.join(api.ours.id);
  };
  const reading = async (seat: Seat, isStillAllowed = async () => true) => ({
    seat,
    after: await seat.begin(null),
    seconds: Number.POSITIVE_INFINITY,
    isWanted: () => true,
    isStillAllowed,
    toCloudEvent: toCloudEvent.bind(null, api.url, api.ours.id),
    heartbeatMs: 20,
  });

  it('is told that the stream is alive, until the credential counts no more', async () => {
    let asked = 0;
    const parts: string[] = [];
    for await (const part of streamEvents(await reading(await take(), async () => ++asked < 4))) parts.push(part);
    expect(parts).toEqual(['retry: 3000\n\n', ...Array.from({ length: 3 }, () => ': still here\n\n')]);
  });

  it('who does not read has nothing read for him', async () => {
    const seat = await take();
    let reads = 0;
    const counted: Seat = {
      ...seat,
      read: (after) => {
        reads++;
        return seat.read(after);
      },
    };
    const stuck = new Writable({ highWaterMark: 1, write: () => {} });
    const after = await reading(counted);
    await tell(api.ours, 'finding.updated', ...Array.from({ length: 5_000 }, (_, n) => String(n)));
    await pastIsComplete(api);
    const stream = Readable.from(streamEvents(after), { highWaterMark: 1 }).pipe(stuck);
    onTestFinished(() => void stream.destroy());
    // As long as it takes to read all of it.
    let all = 0;
    for (let page = await seat.read(after.after); page.length > 0; page = await seat.read(page.at(-1)?.place ?? after.after)) all += page.length;
    expect(all).toBe(5_000);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(4);
  });
});
