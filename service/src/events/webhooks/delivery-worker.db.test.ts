import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import type { Database } from '../../db/database.ts';
import { newId } from '../../shared/ids.ts';
import { eventually } from '../../testing/eventually.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { pollAll, type TestReceiver, useReceiver, type WebhookBody, webhooksOf } from '../../testing/integrations/webhooks.ts';
import { emit } from '../emit.ts';
import { rebaseEvents } from '../rebase.ts';
import { createDeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';
import { fanOut } from './fan-out.ts';

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

/** Writes an event and keeps its transaction open until the test ends it. */
async function openChange(subject: string, { id = newId(), orgId = api.ours.id, isImport = false } = {}) {
  const written = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<'commit' | 'rollback'>();
  const change = api.db.withTenant({ orgId }, async (tx) => {
    await tx.insertInto('events').values({ org_id: orgId, id, type: 'member.updated', subject, data: '{}' }).execute();
    if (isImport) await sql`select take_import_lock(${orgId})`.execute(tx);
    written.resolve();
    if ((await ending.promise) === 'rollback') throw new Error('rolled back');
  });
  await written.promise;
  const end = async (how: 'commit' | 'rollback' = 'commit'): Promise<void> => {
    ending.resolve(how);
    await change.catch(() => {});
  };
  // After a test that failed, it would hold back the events of all others.
  onTestFinished(() => end('rollback'));
  return { end };
}

async function commitEvent(subject: string, of: Parameters<typeof openChange>[1] = {}): Promise<void> {
  await (await openChange(subject, of)).end();
}

describe('events of transactions that end in another order than they began', () => {
  it('are held back until the older transaction has ended, and then delivered in order', async () => {
    const slow = await openChange('begun first, ended last');
    await commitEvent('begun last, ended first');
    await webhooks.deliverNow();
    expect(subjects()).toEqual([]);
    await slow.end();
    await webhooks.deliver();
    expect(subjects()).toEqual(['begun first, ended last', 'begun last, ended first']);
  });

  it('do not wait for an import of another organization, whose own events do', async () => {
    const orgId = api.theirs.id;
    const theirs = await useReceiver();
    await webhooksOf(api, api.theirs).create(theirs.url, ['member.*']);
    const import_ = await openChange('in an import', { orgId, isImport: true });
    await commitEvent('during the import', { orgId });
    await commitEvent('of ours');
    await webhooks.deliver();
    expect([subjects(), theirs.received]).toEqual([['of ours'], []]);
    await import_.end();
    await webhooks.deliver();
    expect(subjects()).toEqual(['of ours']);
    expect(theirs.received.map(({ event }) => event.subject)).toEqual(['in an import', 'during the import']);
  });

  it('are not skipped if their id is older than one that was already delivered', async () => {
    const older = newId();
    await commitEvent('newer id');
    await webhooks.deliver();
    await commitEvent('older id', { id: older });
    await webhooks.deliver();
    expect(subjects()).toEqual(['newer id', 'older id']);
  });

  it('are delivered exactly once, and those of rolled-back transactions never', async () => {
    const open: { subject: string; end: (how: 'commit' | 'rollback') => Promise<void> }[] = [];
    const committed: string[] = [];
    let begun = 0;
    const import_ = { end: async () => {} };
    const begin = async (which: number) => {
      const subject = `change ${++begun}`;
      open.push({ subject, ...(await openChange(subject)) });
      // Another import of somebody else begins and ends in between.
      if (which % 3 > 0) return;
      await import_.end();
      import_.end = (await openChange('not ours', { orgId: api.theirs.id, isImport: true })).end;
    };
    const end = async (which: number, how: 'commit' | 'rollback') => {
      const [one] = open.splice(which % open.length, 1);
      await one?.end(how);
      if (one && how === 'commit') committed.push(one.subject);
    };
    const step = fc.record({ what: fc.constantFrom('begin', 'end', 'deliver'), which: fc.nat(), how: fc.constantFrom('commit', 'commit', 'rollback') });
    for (const { what, which, how } of fc.sample(step, 150)) {
      if (what === 'deliver') await webhooks.deliverNow();
      else if (what === 'begin' && open.length < 6) await begin(which);
      else if (open.length > 0) await end(which, how);
    }
    while (open.length > 0) await end(0, 'commit');
    await webhooks.deliver();
    await import_.end();
    expect(committed.length).toBeGreaterThan(10);
    expect(subjects().toSorted()).toEqual(committed.toSorted());
  });
});

it('events that were delivered are not read again, however many there are', async () => {
  await api.db.withSystem(async (tx) => {
    await sql`insert into organizations (id, slug, name) select new_id(), 'many-' || n, 'Many' from generate_series(1, 300) n`.execute(tx);
    await sql`insert into events (org_id, id, type, subject, data) select id, new_id(), 'member.updated', 'x', '{}' from organizations, generate_series(1, 30)`.execute(
      tx,
    );
    await sql`
      insert into webhooks (org_id, id, url, event_types, enabled, secret, secret_hint, created_by)
      select id, new_id(), ${receiver.url}, '{session.*}', true, '', '', 'test' from organizations`.execute(tx);
  });
  await withClient(api.databaseUrl, (client) => client.query('analyze rrs.events, rrs.webhooks'));
  const scans: number[] = [];
  const counting: Database = {
    ...api.db,
    withSystem: (work) =>
      api.db.withSystem(async (tx) => {
        const result = await work(tx);
        const { rows } = await sql<{ n: number }>`select seq_scan::int as n from pg_stat_xact_user_tables where relname = 'events'`.execute(tx);
        scans.push(...rows.map(({ n }) => n));
        return result;
      }),
  };
  await fanOut(counting);
  expect(scans).toEqual([0]);
});

describe('a database that was moved from another server with pg_dump', () => {
  const moveFrom = (ahead: number) =>
    withClient(api.databaseUrl, async (client) => {
      await client.query(
        `alter table rrs.events disable trigger user; update rrs.events set xact = xact + ${ahead}; alter table rrs.events enable trigger user`,
      );
      await client.query(`update rrs.webhooks set seen_xact = seen_xact + ${ahead}`);
    });

  it('continues where it was: no event is lost or repeated, and the order is kept', async () => {
    await commitEvent('delivered before');
    await webhooks.deliver();
    await commitEvent('pending');
    await moveFrom(1_000_000_000);
    await webhooks.deliver();
    expect(subjects()).toEqual(['delivered before']);
    expect(await rebaseEvents(api.db)).toBe(true);
    await commitEvent('after');
    await webhooks.deliver();
    expect(subjects()).toEqual(['delivered before', 'pending', 'after']);
    expect(await rebaseEvents(api.db)).toBe(false);
  });

  it('keeps its row security and triggers', async () => {
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
  it('together deliver each event once', async () => {
    await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
      emit(tx, api.ours.id, ...Array.from({ length: 60 }, (_, n) => ({ type: 'member.updated' as const, subject: String(n), data: {} }))),
    );
    const workers = Array.from({ length: 4 }, () => createDeliveryWorker(deps()));
    for (let round = 0; round < 3; round++) await Promise.all(workers.map((worker) => pollAll(api, worker)));
    await Promise.all(workers.map((worker) => worker.idle()));
    expect(subjects()).toHaveLength(60);
    expect(new Set(subjects()).size).toBe(60);
  });
});

describe('a receiver that never answers', () => {
  it('does not delay other receivers', async () => {
    const stuck = await useReceiver();
    stuck.answer(() => {});
    await webhooks.create(stuck.url, ['member.*']);
    await commitEvent('something');
    await pollAll(api, webhooks.worker);
    await eventually(() => [stuck.received.length, receiver.received.length]).toEqual([1, 1]);
    await eventually(async () => (await webhooks.deliveries(webhook.id))[0]?.status).toBe('succeeded');
    stuck.close();
    await webhooks.worker.idle();
  });
});

describe('a delivery worker', () => {
  it('finds new events, and finishes running deliveries before it stops', async () => {
    receiver.answer((response) => setImmediate(() => response.writeHead(200).end()));
    const worker = startDeliveryWorker(deps());
    await commitEvent('something');
    await eventually(subjects).toEqual(['something']);
    await worker.stop();
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
    await commitEvent('too late');
    expect(subjects()).toEqual(['something']);
  });

  it('that must stop immediately aborts its deliveries, and another worker makes them', async () => {
    receiver.answer(() => {});
    await commitEvent('something');
    const worker = createDeliveryWorker(deps());
    await pollAll(api, worker);
    await eventually(subjects).toEqual(['something']);
    await worker.stop(0);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'pending', attempts: 0, error: null }]);
    receiver.answer(200);
    await webhooks.deliver();
    expect(subjects()).toEqual(['something', 'something']);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });
});

describe('a database that goes away', () => {
  it('after the receiver accepted an event does not keep the same worker from delivering it again', async () => {
    let isAway = false;
    const db: Database = {
      ...api.db,
      withTenant: (tenant, work) => (isAway ? Promise.reject(new Error('the database is away')) : api.db.withTenant(tenant, work)),
    };
    receiver.answer((response) => {
      isAway = true;
      response.writeHead(200).end();
    });
    await commitEvent('something');
    const worker = createDeliveryWorker({ ...deps(), db });
    await pollAll(api, worker);
    await worker.idle();
    expect(subjects()).toEqual(['something']);
    isAway = false;
    receiver.answer(200);
    await worker.poll();
    await worker.idle();
    expect(subjects()).toEqual(['something', 'something']);
    expect(await webhooks.deliveries(webhook.id)).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  });

  it('before it says that it recorded a lease does not delay the webhook until the lease expires', async () => {
    const leased = () => sql`select from webhooks where lease_id is not null`;
    let isLost = false;
    const db: Database = {
      ...api.db,
      withSystem: async (work) => {
        const result = await api.db.withSystem(work);
        if (isLost || (await api.db.withSystem((tx) => leased().execute(tx))).rows.length === 0) return result;
        isLost = true;
        throw new Error('the connection to the database broke');
      },
    };
    await commitEvent('something');
    const worker = createDeliveryWorker({ ...deps(), db });
    await expect(pollAll(api, worker)).rejects.toThrow('broke');
    expect(subjects()).toEqual([]);
    await worker.poll();
    await worker.idle();
    expect(subjects()).toEqual(['something']);
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
  it('after the receiver accepted an event, but before that is recorded, causes a second delivery', async () => {
    const child = await startChild();
    receiver.answer((response) => {
      child.kill('SIGKILL');
      response.writeHead(200).end();
    });
    await commitEvent('something');
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

  it('does not delay a worker that is alone on the database', async () => {
    await api.db.withSystem((tx) => sql`update webhooks set lease_id = ${newId()}, leased_until = now() + interval '2 minutes'`.execute(tx));
    await commitEvent('something');
    await webhooks.deliver();
    expect(subjects()).toEqual([]);
    const worker = startDeliveryWorker(deps(), { alone: true });
    await eventually(subjects).toEqual(['something']);
    await worker.stop();
  });
});
