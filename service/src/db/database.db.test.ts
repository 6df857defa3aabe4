import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { OperatorError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { createTestDatabase, databaseUrl, startTemporaryPostgres, type TestDatabase } from '../testing/postgres.ts';
import { withClient } from './connection/with-client.ts';
import { type Database, openDatabase, type SystemTx, type TenantTx } from './database.ts';
import { migrate, readMigrations } from './migrate.ts';
import { isUnavailable } from './unavailable.ts';

const ours = { orgId: newId() };
const theirs = { orgId: newId() };

let testDatabase: TestDatabase;
let db: Database;
let admin: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({ url: testDatabase.url, poolSize: 2 });
  admin = new pg.Client({ connectionString: testDatabase.url });
  await admin.connect();
  for (const [slug, { orgId }] of Object.entries({ ours, theirs })) {
    await db.withSystem((tx) => tx.insertInto('organizations').values({ id: orgId, slug, name: slug }).execute());
    await db.withTenant({ orgId }, (tx) => addMember(tx, orgId, `first@${slug}.example`));
  }
});

afterAll(async () => {
  await db?.close();
  await admin?.end();
  await testDatabase?.drop();
});

async function addMember(tx: TenantTx | SystemTx, orgId: string, email: string): Promise<void> {
  await tx.insertInto('members').values({ org_id: orgId, id: newId(), email, name: 'Someone', role: 'viewer' }).execute();
}

async function emails(tenant: { orgId: string }): Promise<string[]> {
  const rows = await db.withTenant(tenant, (tx) => tx.selectFrom('members').select('email').orderBy('email').execute());
  return rows.map((row) => row.email);
}

/** A database of its own for a test that breaks connections or needs another pool size. */
function openOwn(poolSize: number, url = testDatabase.url): Database {
  const own = openDatabase({ url, poolSize });
  onTestFinished(() => own.close());
  return own;
}

describe('limits', () => {
  const brief = { lockMs: 50, statementMs: 200, retryMs: 0 };
  const lockRow = (tx: TenantTx) => sql`select from members where org_id = ${ours.orgId} for update`.execute(tx);

  it('a statement that takes too long is ended', async () => {
    await expect(db.limitedTo(brief).withTenant(ours, (tx) => sql`select pg_sleep(30)`.execute(tx))).rejects.toMatchObject({ code: '57014' });
    await expect(db.limitedTo(brief).withSystem((tx) => sql`select pg_sleep(30)`.execute(tx))).rejects.toMatchObject({ code: '57014' });
  });

  it('a transaction that does not get its lock gives its connection back, and tries again while it may', async () => {
    const own = openOwn(2);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const holder = own.withTenant(ours, async (tx) => {
      await lockRow(tx);
      begin();
      await ended;
    });
    await begun;
    await expect(own.limitedTo(brief).withTenant(ours, lockRow)).rejects.toMatchObject({ code: '55P03' });
    let tries = 0;
    const patient = own.limitedTo({ ...brief, retryMs: 20_000 }).withTenant(ours, (tx) => {
      tries++;
      return lockRow(tx);
    });
    await expect.poll(() => tries).toBeGreaterThan(2);
    end();
    await Promise.all([holder, patient]);
  });

  it('a slow statement of one lane does not delay the others', async () => {
    const slow = db.systemQuery('slow', 'select pg_sleep(2)', [], 'metrics').then(() => 'slow');
    const fast = db.systemQuery('fast', 'select 1', []).then(() => 'fast');
    expect(await Promise.race([slow, fast])).toBe('fast');
    await slow;
  });

  it('a statement that is ended while it is parsed for the first time fails alone, not those that came after it', async () => {
    const own = openOwn(1);
    await own.systemQuery('first', 'select 1', []);
    await admin.query('begin; lock table rrs.members in access exclusive mode');
    onTestFinished(() => void admin.query('rollback'));
    const ask = () => own.systemQuery<{ found: boolean }>('counted', 'select count(*) > 0 as found from members', []);
    const [ended, ...others] = Array.from({ length: 20 }, ask);
    const all = Promise.all(others);
    const failure = expect(ended).rejects.toMatchObject({ code: '57014' });
    const end = async (): Promise<number> => {
      const { rowCount } = await admin.query(`select pg_cancel_backend(pid) from pg_locks where not granted and relation = 'rrs.members'::regclass`);
      return rowCount ?? 0;
    };
    await expect.poll(end).toBe(1);
    await failure;
    await admin.query('commit');
    expect([...(await all), await ask()]).toEqual(Array.from({ length: 20 }, () => [{ found: true }]));
  });

  it('a statement of a lane that cannot be parsed fails for the same reason for everybody', async () => {
    const ask = () => db.systemQuery('unknown', 'select from no_such_table', []);
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, ask));
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: '42P01' }) })));
  });
});

describe('withTenant', () => {
  it("sees its own organization's rows alone", async () => {
    expect(await emails(ours)).toEqual(['first@ours.example']);
    expect(await emails(theirs)).toEqual(['first@theirs.example']);
    const organizations = await db.withTenant(ours, (tx) => tx.selectFrom('organizations').select('slug').execute());
    expect(organizations).toEqual([{ slug: 'ours' }]);
    expect(await db.withSystem((tx) => tx.selectFrom('members').select('email').execute())).toHaveLength(2);
  });

  it("cannot write, move or remove another organization's rows", async () => {
    await expect(db.withTenant(ours, (tx) => addMember(tx, theirs.orgId, 'planted@theirs.example'))).rejects.toMatchObject({
      code: '42501',
    });
    await expect(db.withTenant(ours, (tx) => tx.updateTable('members').set({ org_id: theirs.orgId }).execute())).rejects.toMatchObject({
      code: '42501',
    });
    await db.withTenant(ours, (tx) => tx.deleteFrom('members').where('org_id', '=', theirs.orgId).execute());
    expect(await emails(theirs)).toEqual(['first@theirs.example']);
  });

  it('takes nothing but the id of an organization', async () => {
    for (const orgId of ['', 'ours', `${ours.orgId}'; reset role; --`]) {
      await expect(async () => db.withTenant({ orgId }, async () => 'ran')).rejects.toThrow('requires the id of an organization');
    }
  });

  it('works as a role that cannot become another', async () => {
    const row = await db.withTenant(ours, (tx) => sql<{ user: string }>`select current_user as user`.execute(tx));
    expect(row.rows).toEqual([{ user: 'rrs_app' }]);
    const reset = await db.withTenant(ours, async (tx) => {
      await sql`reset role`.execute(tx);
      return sql<{ user: string }>`select current_user as user`.execute(tx);
    });
    expect(reset.rows).toEqual([{ user: 'rrs_app' }]);
  });

  it('keeps its role when the URL brings options of its own', async () => {
    const own = openOwn(1, `${testDatabase.url}&options=${encodeURIComponent('-c statement_timeout=4321 -c role=rrs_owner')}`);
    const { rows } = await own.withTenant(ours, (tx) =>
      sql<{ user: string; timeout: string }>`select current_user as user, current_setting('statement_timeout') as timeout`.execute(tx),
    );
    expect(rows).toEqual([{ user: 'rrs_app', timeout: '4321ms' }]);
    expect(await own.systemQuery('whoami', 'select current_user as user', [])).toEqual([{ user: 'rrs_system' }]);
  });
});

describe('with the organization unset', () => {
  it.each(['never set', 'set in an earlier transaction'])('a query fails (%s)', async (history) => {
    await withClient(testDatabase.url, async (client) => {
      await client.query('set role rrs_app');
      if (history !== 'never set') {
        await client.query(`begin; set local app.org_id = '${ours.orgId}'`);
        expect((await client.query('select email from rrs.members')).rows).toEqual([{ email: 'first@ours.example' }]);
        await client.query('commit');
      }
      await expect(client.query('select * from rrs.members')).rejects.toMatchObject({ code: history === 'never set' ? '42704' : '22P02' });
      await expect(client.query('select * from rrs.organizations')).rejects.toBeInstanceOf(pg.DatabaseError);
      await expect(client.query('delete from rrs.members')).rejects.toBeInstanceOf(pg.DatabaseError);
    });
    expect(await emails(ours)).toEqual(['first@ours.example']);
  });
});

describe('a transaction', () => {
  it('cannot be opened inside another', async () => {
    const openers: (() => Promise<unknown>)[] = [() => emails(ours), () => db.withSystem(async () => 'ran')];
    for (const inner of openers) {
      await expect(db.withTenant(ours, inner)).rejects.toThrow('inside a transaction');
      await expect(db.withSystem(inner)).rejects.toThrow('inside a transaction');
    }
    await expect(db.withTenant(ours, (tx) => tx.transaction().execute(async () => 'ran'))).rejects.toThrow('belongs to withTenant');
  });

  it('is rolled back by an error', async () => {
    const failing = db.withTenant(ours, async (tx) => {
      await addMember(tx, ours.orgId, 'second@ours.example');
      throw new Error('on second thought');
    });
    await expect(failing).rejects.toThrow('on second thought');
    expect(await emails(ours)).toEqual(['first@ours.example']);
  });

  it('does not claim success when a failed statement was swallowed', async () => {
    const swallowing = db.withTenant(ours, async (tx) => {
      await addMember(tx, ours.orgId, 'second@ours.example');
      await addMember(tx, ours.orgId, 'second@ours.example').catch(() => {});
    });
    await expect(swallowing).rejects.toThrow('rolled back');
    expect(await emails(ours)).toEqual(['first@ours.example']);
  });

  it('fails with what failed, although the refusal of a later statement is known earlier', async () => {
    const failing = db.withTenant(ours, (tx) => {
      // As in a function that has more to wait for than the one next to it.
      const deep = sql`select 1 / 0`.execute(tx).catch(async (error: unknown) => {
        await new Promise(setImmediate);
        throw error;
      });
      return Promise.all([deep, sql`select 1`.execute(tx)]);
    });
    await expect(failing).rejects.toThrow('division by zero');
  });

  it('takes no statement after its end, when the connection may be in the hands of another organization', async () => {
    let leaked: TenantTx | undefined;
    await db.withTenant(ours, async (tx) => {
      leaked = tx;
    });
    await expect(leaked?.selectFrom('members').selectAll().execute()).rejects.toThrow('has ended');

    const goOn = Promise.withResolvers<void>();
    let straggler: Promise<void> | undefined;
    const failing = db.withSystem(async (tx) => {
      straggler = goOn.promise.then(() => addMember(tx, ours.orgId, 'straggler@ours.example'));
      straggler.catch(() => {});
      throw new Error('failed meanwhile');
    });
    queueMicrotask(goOn.resolve);
    await expect(failing).rejects.toThrow('failed meanwhile');
    await expect(straggler).rejects.toThrow('has ended');
    expect(await emails(ours)).toEqual(['first@ours.example']);
  });
});

describe('the pool', () => {
  it('serves 50 callers with 2 connections', async () => {
    const own = openOwn(2);
    const counts = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        own.withTenant(index % 2 ? ours : theirs, async (tx) => {
          await sql`select 1`.execute(tx);
          return (await tx.selectFrom('members').select('org_id').execute()).map((row) => row.org_id);
        }),
      ),
    );
    expect(counts).toEqual(Array.from({ length: 50 }, (_, index) => [(index % 2 ? ours : theirs).orgId]));
    expect(own.stats().tenant).toEqual({ total: 2, idle: 2, waiting: 0 });
  });

  it('serves another organization before the transactions that one has waiting', async () => {
    const own = openOwn(2);
    const order: string[] = [];
    const gates = Array.from({ length: 9 }, () => Promise.withResolvers<void>());
    const begin = (tenant: { orgId: string }) =>
      own.withTenant(tenant, async (tx) => {
        order.push(tenant === ours ? 'ours' : 'theirs');
        const { promise } = gates[order.length - 1] ?? Promise.withResolvers<void>();
        await sql`select 1`.execute(tx);
        await promise;
      });
    const busy = Array.from({ length: 8 }, () => begin(ours));
    await expect.poll(() => order).toEqual(['ours', 'ours']);
    const calm = begin(theirs);
    gates[0]?.resolve();
    await expect.poll(() => order).toEqual(['ours', 'ours', 'theirs']);
    for (const gate of gates) gate.resolve();
    await Promise.all([...busy, calm]);
  });

  it('recovers after its idle connections were terminated', async () => {
    const own = openOwn(2);
    const backendOf = (tx: TenantTx) => sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx).then(({ rows }) => rows[0]?.pid);
    const pids = await Promise.all([own.withTenant(ours, backendOf), own.withTenant(ours, backendOf)]);
    expect(new Set(pids).size).toBe(2);
    const { rows } = await admin.query('select pg_terminate_backend(pid, 5000) as done from unnest($1::int[]) pid', [pids]);
    expect(rows).toEqual([{ done: true }, { done: true }]);

    const failures: unknown[] = [];
    let revived: number | undefined;
    while (revived === undefined && failures.length <= pids.length) {
      revived = await own.withTenant(ours, backendOf).catch((error: unknown) => void failures.push(error));
    }
    expect(failures.filter((error) => !isUnavailable(error))).toEqual([]);
    expect(pids).not.toContain(revived);
    expect(revived).toBeTypeOf('number');
  });

  it('survives the end of a connection in the middle of a transaction', async () => {
    const own = openOwn(1);
    const interrupted = own.withTenant(ours, async (tx) => {
      await addMember(tx, ours.orgId, 'second@ours.example');
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await admin.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
      await addMember(tx, ours.orgId, 'third@ours.example');
    });
    await expect(interrupted).rejects.toSatisfy(isUnavailable);
    expect(await own.withTenant(ours, (tx) => tx.selectFrom('members').select('email').execute())).toEqual([{ email: 'first@ours.example' }]);
  });
});

describe('migrate', () => {
  it('applies each migration once when 20 callers start at once, with a login that is not a superuser, while others migrate another database', async () => {
    const server = await startTemporaryPostgres();
    try {
      await withClient(server.url, (client) => client.query('create database neighbour owner rrs_login'));
      const known = await readMigrations();
      const callers = [...Array<string>(20).fill(server.loginUrl), ...Array<string>(5).fill(databaseUrl(server.loginUrl, 'neighbour'))];
      const states = await Promise.all(callers.map((url) => migrate(url)));
      expect(new Set(states.map((state) => JSON.stringify(state)))).toEqual(new Set([JSON.stringify({ applied: known.at(-1)?.version, known: known.length })]));
      for (const url of new Set(callers)) {
        const { rows, login } = await withClient(url, async (client) => {
          const login = await client.query(
            `select current_user as name, rolsuper, has_database_privilege('rrs_app', current_database(), 'temporary') as temporary from pg_roles where rolname = current_user`,
          );
          await client.query('set role rrs_app');
          const { rows } = await client.query('select version, name, checksum from rrs.schema_migrations order by version');
          return { rows, login: login.rows };
        });
        expect(login).toEqual([{ name: 'rrs_login', rolsuper: false, temporary: false }]);
        expect(rows).toEqual(known.map(({ version, name, checksum }) => ({ version, name, checksum })));
      }
    } finally {
      await server.stop();
    }
  });

  it.each([
    ['a migration that was changed after it was applied', `update rrs.schema_migrations set checksum = 'other' where version = 1`, /0001-.*has changed/],
    [
      'a database ahead of the program',
      `insert into rrs.schema_migrations values (9999, '9999-later.sql', 'x', 9999)`,
      /has schema version 9999.*newer version/,
    ],
  ])('refuses %s', async (_, change, message) => {
    const own = await createTestDatabase();
    onTestFinished(() => own.drop());
    await withClient(own.url, (client) => client.query(change));
    const refusal = await migrate(own.url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OperatorError);
    expect((refusal as OperatorError).message).toMatch(message);
  });

  it('makes a database whole from nothing, and is content to find it whole', async () => {
    const own = await createTestDatabase({ empty: true });
    onTestFinished(() => own.drop());
    expect(await migrate(own.url)).toEqual(await migrate(own.url));
  });
});
