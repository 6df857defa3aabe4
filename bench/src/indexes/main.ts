import type pg from 'pg';
import { median, withService } from '../session.ts';
import { fill } from './fill.ts';

/** Prints what each index of the large tables costs: the figures of docs/indexes.md. */
const ROUNDS = 5;
/** Of each table, as many rows are inserted. Tables with fewer than the least are left out. */
const [LEAST_ROWS, MOST_ROWS] = [1_000, 30_000];

await withService(
  async (session) => {
    await fill(session, { findings: 30_000, worked: 5_000, comments: 5_000 });
    await session.admin.query('set synchronous_commit = off');
    for (const table of await largeTables(session.admin)) await print(session.admin, table);
  },
  { RRS_OUTBOUND_ALLOW: '127.0.0.1' },
);

interface Table {
  name: string;
  rows: number;
  unlogged: boolean;
}

/** In the order of the schema. */
async function largeTables(admin: pg.Client): Promise<Table[]> {
  await admin.query('vacuum analyze');
  const { rows } = await admin.query<Table>(
    `select relname as name, reltuples::float8 as rows, relpersistence = 'u' as unlogged from pg_class
    where relnamespace = 'rrs'::regnamespace and relkind = 'r' and reltuples >= $1 order by oid`,
    [LEAST_ROWS],
  );
  return rows;
}

interface Index {
  name: string;
  definition: string;
  bytes: number;
}

async function print(admin: pg.Client, table: Table): Promise<void> {
  const { rows: indexes } = await admin.query<Index>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition, pg_relation_size(indexrelid)::float8 / $2 as bytes
    from pg_index where indrelid = $1::regclass order by indexrelid`,
    [table.name, table.rows],
  );
  const without: number[] = [];
  const withAll: number[] = [];
  const added = new Map(indexes.map((index): [Index, number[]] => [index, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await insertTime(admin, table, []);
    without.push(bare);
    for (const [index, times] of added) times.push((await insertTime(admin, table, [index])) - bare);
    withAll.push(await insertTime(admin, table, indexes));
  }
  const lines = [...added].map(([{ name, bytes }, times]) => `| ${name} | ${Math.round(bytes)} | ${figure(times)} |`);
  const title = `${table.name}: ${table.rows} rows, ${figure(without)} µs per row without indexes, ${figure(withAll)} µs with all of them`;
  process.stdout.write(`${[title, '| index | bytes per row | µs per insert |', '|---|---|---|', ...lines].join('\n')}\n\n`);
}

function figure(times: readonly number[]): string {
  return Math.max(median(times), 0).toFixed(1);
}

/** Microseconds per row, into a new table that has only the given indexes. */
async function insertTime(admin: pg.Client, { name, rows, unlogged }: Table, indexes: readonly Index[]): Promise<number> {
  await admin.query(`create ${unlogged ? 'unlogged' : ''} table copied (like ${name}) with (autovacuum_enabled = off)`);
  for (const { definition } of indexes) await admin.query(definition.replace(/ INDEX \S+ ON (ONLY )?\S+/, ' INDEX ON copied'));
  const started = performance.now();
  await admin.query(`insert into copied select * from ${name} limit ${MOST_ROWS}`);
  const ms = performance.now() - started;
  await admin.query('drop table copied');
  return (ms * 1_000) / Math.min(rows, MOST_ROWS);
}
