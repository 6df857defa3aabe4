import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { eventually } from '../../testing/eventually.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { pastIsComplete, type TestReceiver, useReceiver, type WebhookBody, webhooksOf } from '../../testing/integrations/webhooks.ts';
import { withClient } from '../../testing/postgres.ts';
import { emit } from '../emit.ts';
import { rebaseEvents } from '../rebase.ts';
import { createCourier, startCourier } from './delivery-worker.ts';

let api: TestApi;
let webhooks: ReturnType<typeof webhooksOf>;
let receiver: TestReceiver;
let webhook: WebhookBody;

beforeAll(async () => {
  api = await startApi({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.1' }, poolSize: 20 });
  webhooks = webhooksOf(api);
});
afterAll(() => api?.close());

beforeEach(async () => {
  await api.db.withSystem((tx) => sql`delete from webhooks`.execute(tx));
  receiver = await useReceiver();
  webhook = await webhooks.create(receiver.url, ['member.*']);
});

const deps = () => ({ db: api.db, secret: api.secret, outbound: api.outbound, publicUrl: () => api.url, log: { info: () => {}, error: () => {} } });
const subjects = () => receiver.received.map(({ event }) => event.subject);

/** A change whose event is written and whose transaction stays open until the test ends it. */
async function openChange(subject: string, id = newId()) {
  const written = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<'commit' | 'rollback'>();
  const change = api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    await tx.insertInto('events').values({ org_id: api.ours.id, id, type: 'member.updated', subject, data: '{}' }).execute();
    written.resolve();
    if ((await ending.promise) === 'rollback') throw new Error('rolled back');
  });
  await written.promise;
  return {
    async end(how: 'commit' | 'rollback' = 'commit'): Promise<void> {
      ending.resolve(how);
      await change.catch(() => {});
    },
  };
}

async function made(subject: string, id = newId()): Promise<void> {
  await (await openChange(subject, id)).end();
}

describe('events of changes that end in another order than they begin', () => {
  it('are held until the older change has ended, and then delivered in order', async () => {
    const slow = await openChange('begun first, ended last');
    await made('begun last, ended first');
    await webhooks.deliverNow();
    expect(subjects()).toEqual([]);
    await slow.end();
    await webhooks.deliver();
    expect(subjects()).toEqual(['begun first, ended last', 'begun last, ended first']);
  });

  it('are not passed over when their id is older than that of one delivered already', async () => {
    const older = newId();
    await made('newer id');
    await webhooks.deliver();
    await made('older id', older);
    await webhooks.deliver();
    expect(subjects()).toEqual(['newer id', 'older id']);
  });

  it('are all delivered once, and those of changes that were undone never', async () => {
    const open: { subject: string; end: (how: 'commit' | 'rollback') => Promise<void> }[] = [];
    const committed: string[] = [];
    let begun = 0;
    const begin = async () => {
      const subject = `change ${++begun}`;
      open.push({ subject, ...(await openChange(subject)) });
    };
    const end = async (which: number, how: 'commit' | 'rollback') => {
      const [one] = open.splice(which % open.length, 1);
      await one?.end(how);
      if (one && how === 'commit') committed.push(one.subject);
    };
    const step = fc.record({ what: fc.constantFrom('begin', 'end', 'deliver'), which: fc.nat(), how: fc.constantFrom('commit', 'commit', 'rollback') });
    for (const { what, which, how } of fc.sample(step, 150)) {
      if (what === 'deliver') await webhooks.deliverNow();
      else if (what === 'begin' && open.length < 6) await begin();
      else if (open.length > 0) await end(which, how);
    }
    while (open.length > 0) await end(0, 'commit');
    await webhooks.deliver();
    expect(committed.length).toBeGreaterThan(10);
    expect(subjects().toSorted()).toEqual(committed.toSorted());
  });
});

describe('a database that a dump has brought from another server', () => {
  const moveFrom = (ahead: number) =>
    withClient(api.databaseUrl, async (client) => {
      await client.query(
        `alter table rrs.events disable trigger user; update rrs.events set xact = xact + ${ahead}; alter table rrs.events enable trigger user`,
      );
      await client.query(`update rrs.webhooks set seen_xact = seen_xact + ${ahead}`);
    });

  it('goes on where it was: nothing is lost or told again, and the order stays', async () => {
    await made('told before');
    await webhooks.deliver();
    await made('on the way');
    await moveFrom(1_000_000_000);
    await webhooks.deliver();
    expect(subjects()).toEqual(['told before']);
    expect(await rebaseEvents(api.db)).toBe(true);
    await made('after');
    await webhooks.deliver();
    expect(subjects()).toEqual(['told before', 'on the way', 'after']);
    expect(await rebaseEvents(api.db)).toBe(false);
  });

  it('and any other keep their walls', async () => {
    await moveFrom(1_000_000_000);
    await rebaseEvents(api.db);
    await expect(api.db.withSystem((tx) => sql`update events set type = 'x'`.execute(tx))).rejects.toMatchObject({ code: '42501' });
    await expect(api.db.withTenant({ orgId: api.ours.id }, (tx) => sql`select rebase_events(0)`.execute(tx))).rejects.toMatchObject({ code: '42501' });
    const seen = await api.db.withTenant({ orgId: api.theirs.id }, (tx) => sql`select from events where org_id = ${api.ours.id}`.execute(tx));
    expect(seen.rows).toEqual([]);
    const { rows } = await withClient(api.databaseUrl, (client) =>
      client.query(`select relforcerowsecurity as forced, (select tgenabled from pg_trigger where tgrelid = c.oid and tgname = 'insert_only') as guard
        from pg_class c where oid in ('rrs.events'::regclass, 'rrs.webhooks'::regclass) order by relname`),
    );
    expect(rows).toEqual([
      { forced: true, guard: 'O' },
      { forced: true, guard: null },
    ]);
  });
});

describe('several processes', () => {
  it('deliver each event once between them', async () => {
    await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
      emit(tx, api.ours.id, ...Array.from({ length: 60 }, (_, n) => ({ type: 'member.updated' as const, subject: String(n), data: {} }))),
    );
    await pastIsComplete(api);
    const couriers = Array.from({ length: 4 }, () => createCourier(deps()));
    for (let round = 0; round < 3; round++) await Promise.all(couriers.map((courier) => courier.round()));
    await Promise.all(couriers.map((courier) => courier.settled()));
    expect(subjects()).toHaveLength(60);
    expect(new Set(subjects()).size).toBe(60);
  });
});

describe('a receiver that never answers', () => {
  it('does not keep another one waiting', async () => {
    const stuck = await useReceiver();
    stuck.answer(() => {});
    await webhooks.create(stuck.url, ['member.*']);
    await made('something');
    await pastIsComplete(api);
    await webhooks.courier.round();
    await eventually(() => [stuck.received.length, receiver.received.length]).toEqual([1, 1]);
    await eventually(async () => (await webhooks.deliveries(webhook.id))[0]?.status).toBe('succeeded');
    stuck.close();
    await webhooks.courier.settled();
  });
});

describe('a courier', () => {
  it('finds new events by itself, and delivers what is under way before it stops', async () => {
    receiver.answer((response) => setImmediate(() => response.writeHead(200).end()));
    const courier = startCourier(deps());
    await made('something');
    await eventually(subjects).toEqual(['something']);
    await courier.stop();
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
    await made('too late');
    expect(subjects()).toEqual(['something']);
  });

  it('that has to stop at once breaks off, and another delivers it', async () => {
    receiver.answer(() => {});
    await made('something');
    const courier = createCourier(deps());
    await pastIsComplete(api);
    await courier.round();
    await eventually(subjects).toEqual(['something']);
    await courier.stop(0);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'pending', attempts: 0, error: null }]);
    receiver.answer(200);
    await webhooks.deliver();
    expect(subjects()).toEqual(['something', 'something']);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });
});

async function startChild(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../testing/programs/deliver-webhooks.ts', import.meta.url)), api.databaseUrl, api.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return child;
}

describe('a process that is killed', () => {
  it('after the receiver took an event and before that is noted: the event is delivered again', async () => {
    const child = await startChild();
    receiver.answer((response) => {
      child.kill('SIGKILL');
      response.writeHead(200).end();
    });
    await made('something');
    await once(child, 'exit');
    expect(subjects()).toEqual(['something']);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'pending', attempts: 0 }]);

    receiver.answer(200);
    await webhooks.deliver();
    expect(subjects()).toEqual(['something']);
    await api.db.withSystem((tx) => sql`update webhooks set leased_until = now() - interval '1 second'`.execute(tx));
    await webhooks.deliver();
    const [first, again] = receiver.received;
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  it('is not waited for by one that is alone on the database', async () => {
    await api.db.withSystem((tx) => sql`update webhooks set lease_id = ${newId()}, leased_until = now() + interval '2 minutes'`.execute(tx));
    await made('something');
    await webhooks.deliver();
    expect(subjects()).toEqual([]);
    const courier = startCourier(deps(), { alone: true });
    await eventually(subjects).toEqual(['something']);
    await courier.stop();
  });
});
