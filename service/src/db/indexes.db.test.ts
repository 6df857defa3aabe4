import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { withClient } from './connection/with-client.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

it('docs/indexes.md says what needs each index, except for primary keys of small tables', async () => {
  const indexes = await withClient(database.url, async (client) => {
    const { rows } = await client.query<{ name: string; primary: boolean }>(`
      select i.relname as name, x.indisprimary as primary from pg_index x join pg_class i on i.oid = x.indexrelid where i.relnamespace = 'rrs'::regnamespace`);
    return rows;
  });
  const text = await readFile(new URL('../../../docs/indexes.md', import.meta.url), 'utf8');
  const described = [...text.matchAll(/^\| (\w+) +\| \S/gm)].flatMap(([, name = '']) => (name === 'index' ? [] : [name]));
  const names = indexes.map(({ name }) => name);
  expect(
    described.filter((name, at) => !names.includes(name) || described.indexOf(name) !== at),
    'named in docs/indexes.md, but no index of the schema, or named twice',
  ).toEqual([]);
  expect(
    indexes.flatMap(({ name, primary }) => (primary || described.includes(name) ? [] : [name])),
    'has no line in docs/indexes.md',
  ).toEqual([]);
});
