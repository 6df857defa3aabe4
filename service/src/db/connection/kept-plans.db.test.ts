import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { type Database, openDatabase } from '../database.ts';
import { kept } from '../prepared.ts';
import { MOST_PLANS } from './kept-plans.ts';

const tenant = { orgId: newId() };
let testDatabase: TestDatabase;
let db: Database;
let admin: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({ url: testDatabase.url, poolSize: 1 });
  admin = new pg.Client({ connectionString: testDatabase.url });
  await admin.connect();
});

afterAll(async () => {
  await db?.close();
  await admin?.end();
  await testDatabase?.drop();
});

const run = async <Row>(statement: RawBuilder<Row>, on: Database = db.planning('once')): Promise<Row[]> =>
  (await on.withTenant(tenant, (tx) => statement.execute(tx))).rows;

const plans = (like: string) =>
  run(
    sql<{ generic: number; custom: number }>`
    select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements where statement like ${`%${like}%`}`,
    db,
  );

it('a statement is planned once for all values, in all transactions of a connection', async () => {
  const answers = [];
  for (const n of [1, 2, 3]) answers.push(...(await run(sql<{ asked: number }>`select ${n}::int as asked`)));
  expect(answers).toEqual([{ asked: 1 }, { asked: 2 }, { asked: 3 }]);
  expect(await plans('as asked')).toEqual([{ generic: 3, custom: 0 }]);
});

it('other transactions on the same connection plan every statement for its values', async () => {
  await run(sql`select ${1}::int as planned_again`, db);
  expect(await plans('as planned_again')).toEqual([]);
  expect(await run(sql`show plan_cache_mode`, db)).toEqual([{ plan_cache_mode: 'auto' }]);
});

it('a transaction that plans for values plans the statements once that ask for it, and no others', async () => {
  const mode = await db.withTenant(tenant, async (tx) => {
    const keep = kept(sql`select ${1}::int as asked_once`.compile(tx), 'once');
    await tx.executeQuery(keep);
    await Promise.all([tx.executeQuery(keep), sql`select ${1}::int as asked_besides`.execute(tx)]);
    await tx.executeQuery(kept(sql`select ${1}::int as asked_for_values`.compile(tx), 'for_values'));
    return sql`show plan_cache_mode`.execute(tx);
  });
  expect(mode.rows).toEqual([{ plan_cache_mode: 'auto' }]);
  expect([await plans('as asked_once'), await plans('as asked_for_values')]).toEqual([[{ generic: 2, custom: 0 }], [{ generic: 0, custom: 1 }]]);
  expect(await plans('as asked_besides')).toEqual([]);
});

it('limits still apply', async () => {
  const limited = db.planning('once').limitedTo({ lockMs: 1_000, statementMs: 2_000, retryMs: 0 });
  expect(await run(sql`show statement_timeout`, limited)).toEqual([{ statement_timeout: '2s' }]);
  expect(await run(sql`show plan_cache_mode`, limited)).toEqual([{ plan_cache_mode: 'force_generic_plan' }]);
});

it('nobody notices that a table gets a column during an upgrade', async () => {
  await admin.query('create table rrs.grown (a int); insert into rrs.grown values (1); grant select on rrs.grown to rrs_app');
  const read = sql`select * from grown`;
  expect(await run(read)).toEqual([{ a: 1 }]);
  await admin.query('alter table rrs.grown add column b int');
  expect(await run(read)).toEqual([{ a: 1, b: null }]);
});

it('a feature that the server does not have is an error, not an outdated plan to try again forever', async () => {
  await expect(run(sql`select count(*) from grown for update`)).rejects.toMatchObject({ code: '0A000' });
});

it('a connection keeps a bounded number of plans, and runs the other statements all the same', async () => {
  for (let n = 0; n <= MOST_PLANS + 5; n++) expect(await run(sql`select ${n}::int as ${sql.ref(`answer_${n}`)}`)).toEqual([{ [`answer_${n}`]: n }]);
  const [count] = await run(sql<{ count: number }>`select count(*)::int as count from pg_prepared_statements`, db);
  expect(count?.count).toBe(MOST_PLANS);
});
