import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { keyFile, keyIn, postgresPid } from './folders.ts';
import { call } from './http.ts';
import { kill, newDataDir, type Run, rrs, run, start, until } from './service.ts';

/** States of a first start, in the order in which it reaches them. */
const stages: [string, (started: Run) => boolean | Promise<boolean>][] = [
  ['initdb begins', ({ dataDir }) => unfinishedClusters(dataDir).length > 0],
  ['the cluster is complete', ({ dataDir }) => existsSync(join(dataDir, 'postgres'))],
  ['PostgreSQL accepts connections', ({ dataDir }) => existsSync(join(dataDir, 'postgres.url'))],
  ['the schema is created', async ({ dataDir }) => (await appliedMigrations(dataDir)) >= 1],
  ['the signing keys are written', ({ dataDir }) => existsSync(join(dataDir, 'keys/log-note.pem'))],
  ['the first owner key is written', ({ dataDir }) => existsSync(keyFile(dataDir))],
];

function unfinishedClusters(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.new')) : [];
}

/** 0 while there is no database or no table of migrations yet. */
async function appliedMigrations(dataDir: string): Promise<number> {
  if (!existsSync(join(dataDir, 'postgres.url'))) return 0;
  const url = readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim();
  const client = new pg.Client({ connectionString: url.replace('//rrs_login@', '//rrs_admin@') });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from rrs.schema_migrations');
    return rows[0]?.count ?? 0;
  } catch {
    return 0;
  } finally {
    await client.end().catch(() => {});
  }
}

/** A fast start can pass the stage between two looks. It is then killed later, which must work as well. */
async function killAt(stage: string, reached: (started: Run) => boolean | Promise<boolean>, dataDir: string): Promise<void> {
  const started = run(['start'], { dataDir });
  await until(stage, async () => started.stdout() !== '' || (await reached(started)));
  started.signal('SIGKILL');
  await started.exit;
}

async function expectUsable(dataDir: string): Promise<void> {
  const service = await start({ dataDir });
  const key = keyIn(dataDir);
  if (service.key !== null) expect(service.key).toBe(key);
  expect((await call(service.url, '/api/v1/me', { key })).body).toMatchObject({ role: 'owner' });
  expect(await service.stop()).toBe(0);
}

/** The second test passes all stages on one folder. */
const early = stages.filter((_, n) => n % 2 === 0);

test.concurrent.for(early)('killed when %s, the next start works', async ([stage, reached]) => {
  const dataDir = newDataDir();
  await killAt(stage, reached, dataDir);
  await expectUsable(dataDir);
});

test.concurrent('killed at one stage after the other on the same data folder, with and without PostgreSQL, it starts in the end', async () => {
  const dataDir = newDataDir();
  for (const [n, [stage, reached]] of stages.entries()) {
    await killAt(stage, reached, dataDir);
    if (n % 2 === 1) kill(postgresPid(dataDir));
  }
  await expectUsable(dataDir);
  // An initdb that outlived its service can still write during the next start. The start after that removes its folder.
  if (unfinishedClusters(dataDir).length > 0) await rrs(['org', 'list'], { dataDir });
  expect(unfinishedClusters(dataDir)).toEqual([]);
});
