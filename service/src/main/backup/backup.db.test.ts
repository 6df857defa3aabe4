import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { BlobStore } from '../../blobs/blobs.ts';
import { openFileStore } from '../../blobs/file-store.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { instanceSecret } from '../../db/instance-secret.ts';
import { fanOut } from '../../events/webhooks/fan-out.ts';
import { openSigners } from '../../evidence/keys/keys.ts';
import { handle } from '../../jobs/jobs.ts';
import { startWorker } from '../../jobs/worker.ts';
import { OperatorError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { eventually } from '../../testing/eventually.ts';
import { ARCHIVE, AWKWARD, addFullOrganization, addKey, greet } from '../../testing/full-organization.ts';
import { createTestDatabase, type TestDatabase, withClient } from '../../testing/postgres.ts';
import { backup } from './backup.ts';
import type { Manifest } from './format.ts';
import { restore } from './restore.ts';

const CONTENTS = ['', 'one', AWKWARD, ARCHIVE, randomBytes(300_000)].map((content) => Buffer.from(content));

const ours = { orgId: newId() };
const theirs = { orgId: newId() };
let root: string;
let source: TestDatabase;
let db: Database;
let blobs: BlobStore;
let keysFolder: string;
let whole: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rrs-backup-'));
  source = await createTestDatabase();
  db = openDatabase({ url: source.url, poolSize: 8 });
  blobs = openFileStore(join(root, 'blobs'));
  for (const content of CONTENTS) await blobs.put(Readable.from([content]));
  for (const [slug, { orgId }] of Object.entries({ ours, theirs })) await addFullOrganization({ db, blobs }, orgId, slug);
  await instanceSecret(db, 'cursor');
  keysFolder = join(root, 'keys');
  await openSigners(db, keysFolder);
  whole = join(root, 'whole');
  await backup({ keysFolder, url: source.url, blobs, target: whole, version: '1.2.3' });
});

afterAll(async () => {
  await db?.close();
  await source?.drop();
  await rm(root, { recursive: true, force: true });
});

async function newDatabase(options?: { empty: boolean }): Promise<string> {
  const database = await createTestDatabase(options);
  onTestFinished(() => database.drop());
  return database.url;
}

async function newFolder(): Promise<string> {
  return mkdtemp(join(root, 'folder-'));
}

async function newStore(): Promise<BlobStore> {
  return openFileStore(await newFolder());
}

/** Every row of every table in an order of its own, but for the transactions, which every server counts for itself. */
async function contentOf(url: string): Promise<Record<string, string[]>> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'rrs' and tablename not in ('worker_heartbeats', 'schema_migrations', 'import_assets', 'import_rows', 'import_seen', 'import_texts', 'import_groups') order by 1`,
    );
    const content: Record<string, string[]> = {};
    for (const { name } of rows) {
      content[name] = (
        await client.query<{ row: string }>(`select (to_jsonb(t) - array['xact', 'seen_xact'])::text as row from rrs.${name} t order by 1`)
      ).rows.map(({ row }) => row);
    }
    return content;
  });
}

async function jobsOf(url: string): Promise<unknown[]> {
  const { rows } = await withClient(url, (client) =>
    client.query(
      `select task_identifier, payload::text, queue_name, v.run_at::text, v.max_attempts, v.priority, v.key, v.flags, v.locked_by
       from graphile_worker.jobs v join graphile_worker._private_jobs using (id) order by task_identifier, v.key, v.run_at`,
    ),
  );
  return rows;
}

async function namesIn(store: BlobStore): Promise<string[]> {
  const names: string[] = [];
  for await (const { sha256 } of store.list()) names.push(sha256);
  return names.sort();
}

async function securityOf(url: string): Promise<unknown[]> {
  const query = `select relname, relrowsecurity, relforcerowsecurity, relacl::text from pg_class where relnamespace = 'rrs'::regnamespace and relkind = 'r' order by 1`;
  return (await withClient(url, (client) => client.query(query))).rows;
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => 'no refusal',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OperatorError);
  return (error as OperatorError).message;
}

async function organizationsIn(url: string): Promise<number | 'no schema'> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(`select from pg_namespace where nspname in ('rrs', 'graphile_worker')`);
    return rows.length === 0 ? 'no schema' : ((await client.query('select from rrs.organizations')).rowCount ?? 0);
  });
}

describe('a backup of an idle service', () => {
  it('restores every row, job and blob into an empty database', async () => {
    const [url, store] = [await newDatabase({ empty: true }), await newStore()];
    const summary = await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: store, source: whole });
    const content = await contentOf(source.url);
    expect(Object.entries(content).filter(([, rows]) => rows.length === 0)).toEqual([]);
    expect(await contentOf(url)).toEqual(content);
    expect(await jobsOf(url)).toEqual(await jobsOf(source.url));
    expect(await namesIn(store)).toEqual(await namesIn(blobs));
    for (const content of CONTENTS) {
      const stored = await store.get(createHash('sha256').update(content).digest('hex'));
      expect(stored && (await buffer(stored)).equals(content)).toBe(true);
    }
    expect(summary).toMatchObject({ programVersion: '1.2.3', schemaVersion: expect.any(Number), jobs: 6, blobs: CONTENTS.length });
    expect(summary.rows).toBe(Object.values(content).flat().length);
  });

  it('restores the order of events and the pending deliveries', async () => {
    const url = await newDatabase({ empty: true });
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole });
    const restored = openDatabase({ url, poolSize: 4 });
    onTestFinished(() => restored.close());
    const inOrder = (database: Database) => database.withSystem((tx) => tx.selectFrom('events').select(['id', 'xact']).orderBy('xact').orderBy('id').execute());
    const events = await inOrder(restored);
    expect(events.map(({ id }) => id)).toEqual((await inOrder(db)).map(({ id }) => id));
    expect(events.filter(({ xact }) => Number(xact) >= 0)).toEqual([]);

    const unseen = await db.withSystem((tx) =>
      sql<{ id: string }>`select e.id from events e join webhooks w on w.org_id = e.org_id and (e.xact, e.id) > (w.seen_xact, w.seen_id)`.execute(tx),
    );
    const known = await restored.withSystem((tx) => tx.selectFrom('webhook_deliveries').select('event_id').execute());
    const event = { org_id: ours.orgId, id: newId(), type: 'after.restore', subject: '', data: '{}' };
    await restored.withTenant(ours, (tx) => tx.insertInto('events').values(event).execute());
    const told = async () => {
      await fanOut(restored);
      const rows = await restored.withSystem((tx) => tx.selectFrom('webhook_deliveries').select('event_id').execute());
      return rows.map(({ event_id }) => event_id).filter((id) => !known.some(({ event_id }) => event_id === id));
    };
    expect(unseen.rows.length).toBeGreaterThan(2);
    await eventually(async () => (await told()).sort()).toEqual([...unseen.rows.map(({ id }) => id), event.id].sort());
  });

  it('restores the row-level security between organizations', async () => {
    const url = await newDatabase({ empty: true });
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole });
    expect(await securityOf(url)).toEqual(await securityOf(source.url));
    const restored = openDatabase({ url, poolSize: 1 });
    onTestFinished(() => restored.close());
    const emails = await restored.withTenant(ours, (tx) => tx.selectFrom('members').select('email').orderBy('email').execute());
    expect(emails).toEqual([{ email: 'first@ours.example' }, { email: 'second@ours.example' }]);
    await expect(restored.withSystem((tx) => tx.deleteFrom('audit_events').execute())).rejects.toMatchObject({ code: '42501' });
  });

  it('restores jobs that can run', async () => {
    const url = await newDatabase({ empty: true });
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole });
    const restored = openDatabase({ url, poolSize: 2 });
    const texts: string[] = [];
    const both = Promise.withResolvers<void>();
    const handler = handle(greet, async ({ text }) => {
      if (texts.push(text) === 2) both.resolve();
    });
    const worker = await startWorker({
      url,
      db: restored,
      handlers: [handler],
      concurrency: 1,
      log: { info: () => {}, error: (details) => both.reject(details) },
    });
    await both.promise;
    await worker.stop();
    await restored.close();
    expect(texts.sort()).toEqual([`ours ${AWKWARD} \u0000 \ud800`, `theirs ${AWKWARD} \u0000 \ud800`]);
  });

  it('keeps queue, priority, flags and running jobs, and omits jobs that failed permanently', async () => {
    const [url, target] = [await newDatabase(), join(await newFolder(), 'backup')];
    await withClient(url, async (client) => {
      await client.query(`set role rrs_system;
        select graphile_worker.add_job('running', '[1.0, 1e3]', 'queue', '2026-01-02 03:04:05.123456Z', 1, 'key', -3, array['a', 'b']);
        update graphile_worker._private_jobs set attempts = 1, locked_at = now(), locked_by = 'worker';
        select graphile_worker.add_job('failed', max_attempts => 1);
        update graphile_worker._private_jobs set attempts = 1 where locked_at is null`);
    });
    const running = { ...((await jobsOf(url))[1] as object), locked_by: null };
    expect(await backup({ keysFolder, url, blobs: await newStore(), target, version: '1' })).toMatchObject({ jobs: 1, rows: 0, blobs: 0 });
    const restored = await newDatabase({ empty: true });
    await restore({ keysFolder: join(root, 'restored-keys'), url: restored, blobs: await newStore(), source: target });
    expect(await jobsOf(restored)).toEqual([running]);
    expect(running).toMatchObject({ payload: '[1.0, 1e3]', queue_name: 'queue', priority: -3, max_attempts: 1, key: 'key', flags: { a: true, b: true } });
  });

  it('is readable only by its owner', async () => {
    for (const entry of await readdir(whole, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect(mode & 0o777, entry.name).toBe(entry.isDirectory() ? 0o700 : 0o600);
    }
    expect((await stat(whole)).mode & 0o777).toBe(0o700);
  });

  it('preserves any text, JSON and bytes that a row can contain', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replaceAll('\u0000', ''));
    const json = fc
      .jsonValue({ stringUnit: 'binary' })
      .map((value) => JSON.stringify(value))
      .filter((value) => !value.includes('\\u0000'));
    const row = fc.record({ text, optional: fc.option(text), json: fc.option(json), bytes: fc.uint8Array({ maxLength: 60 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 200 }), async (rows) => {
        const [from, to] = [await createTestDatabase(), await createTestDatabase({ empty: true })];
        const target = join(await newFolder(), 'backup');
        try {
          await withClient(from.url, async (client) => {
            await client.query(`insert into rrs.organizations (id, slug, name) values ($1, 'ours', 'Ours')`, [ours.orgId]);
            await client.query(
              `with input as (select * from unnest($2::text[], $3::text[], $4::jsonb[], $5::bytea[]) as t (text, optional, json, bytes)),
                 made as (insert into rrs.idempotency_keys (org_id, key_hash, request_hash, response) select $1, uuid_send(gen_random_uuid()), bytes, bytes from input)
               insert into rrs.audit_events (org_id, id, actor_type, actor_id, actor_name, action, object_type, object_id, before)
               select $1, gen_random_uuid(), 'system', optional, text, text, text, text, json from input`,
              [ours.orgId, rows.map((r) => r.text), rows.map((r) => r.optional), rows.map((r) => r.json), rows.map((r) => Buffer.from(r.bytes))],
            );
          });
          await backup({ keysFolder, url: from.url, blobs, target, version: '1' });
          await restore({ keysFolder: join(root, 'restored-keys'), url: to.url, blobs, source: target });
          expect(await contentOf(to.url)).toEqual(await contentOf(from.url));
        } finally {
          await Promise.all([from.drop(), to.drop()]);
        }
      }),
      { numRuns: 6 },
    );
  });
});

describe('a backup of a busy service', () => {
  it('is a consistent snapshot', async () => {
    await withClient(source.url, (client) =>
      client.query(
        `with key as (insert into rrs.api_keys (org_id, id, name, role, prefix, token_hash, created_by)
           select $1, gen_random_uuid(), 'key', 'viewer', '', uuid_send(gen_random_uuid()), 'test' from generate_series(1, 5000) returning id)
         insert into rrs.audit_events (org_id, id, actor_type, actor_name, action, object_type, object_id)
         select $1, gen_random_uuid(), 'system', '', 'made', 'key', id::text from key`,
        [theirs.orgId],
      ),
    );
    let during = 0;
    let over = false;
    const begun = Promise.withResolvers<void>();
    const writers = Array.from({ length: 6 }, async () => {
      while (!over) {
        await addKey(db, theirs.orgId);
        if (++during === 20) begun.resolve();
      }
    });
    await begun.promise;
    const [before, target] = [during, join(await newFolder(), 'backup')];
    await backup({ keysFolder, url: source.url, blobs, target, version: '1' });
    const after = during;
    over = true;
    await Promise.all(writers);
    expect(after - before).toBeGreaterThan(20);

    const url = await newDatabase({ empty: true });
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: target });
    const { rows } = await withClient(url, (client) =>
      client.query(
        `select count(*) filter (where k.id is null) as events_alone, count(*) filter (where a.id is null) as keys_alone, count(distinct k.id) = count(*) as one_each
         from rrs.api_keys k full join (select * from rrs.audit_events where object_type = 'key') a on a.org_id = k.org_id and a.object_id = k.id::text`,
      ),
    );
    expect(rows).toEqual([{ events_alone: '0', keys_alone: '0', one_each: true }]);
  });
});

describe('a backup', () => {
  it.each(['a folder', 'a file'])('does not overwrite %s', async (kind) => {
    const target = join(await newFolder(), 'backup');
    await (kind === 'a file' ? writeFile(target, 'mine') : mkdir(target));
    expect(await refusal(backup({ keysFolder, url: source.url, blobs, target, version: '1' }))).toMatch(/already exists. Name a folder/);
    expect(await readdir(join(target, '..'))).toEqual(['backup']);
  });

  it('reports a folder that is not writable', async () => {
    expect(await refusal(backup({ keysFolder, url: source.url, blobs, target: '/proc/backup', version: '1' }))).toMatch(/Cannot write to the folder \/proc /);
  });

  it('leaves no folder if a blob cannot be read, and replaces the folder of a crashed backup', async () => {
    const [last] = (await namesIn(blobs)).reverse();
    const failing: BlobStore = { ...blobs, get: async (sha256) => (sha256 === last ? Promise.reject(new Error('the disk is gone')) : blobs.get(sha256)) };
    const folder = await newFolder();
    const target = join(folder, 'backup');
    await expect(backup({ keysFolder, url: source.url, blobs: failing, target, version: '1' })).rejects.toThrow('the disk is gone');
    expect(await readdir(folder)).toEqual([]);

    await mkdir(join(`${target}.unfinished`, 'tables', 'left'), { recursive: true });
    await backup({ keysFolder, url: source.url, blobs, target, version: '1' });
    expect(await readdir(folder)).toEqual(['backup']);
    expect((await readdir(target)).sort()).toEqual(['blobs', 'jobs.ndjson.gz', 'keys', 'manifest.json', 'tables']);
  });

  it('is not written if a stored blob is corrupt', async () => {
    const [folder, target] = [await newFolder(), await newFolder()];
    const { sha256 } = await openFileStore(folder).put(Readable.from([Buffer.from('content')]));
    await writeFile(join(folder, sha256.slice(0, 2), sha256.slice(2, 4), sha256), 'changed');
    expect(await refusal(backup({ keysFolder, url: source.url, blobs: openFileStore(folder), target: join(target, 'backup'), version: '1' }))).toMatch(sha256);
    expect(await readdir(target)).toEqual([]);
  });

  it('continues if a blob is deleted while it is copied', async () => {
    const [removed = ''] = await namesIn(blobs);
    const emptied: BlobStore = { ...blobs, get: async (sha256) => (sha256 === removed ? null : blobs.get(sha256)) };
    const target = join(await newFolder(), 'backup');
    expect(await backup({ keysFolder, url: source.url, blobs: emptied, target, version: '1' })).toMatchObject({ blobs: CONTENTS.length - 1 });
  });

  it('fails if a concurrent backup to the same path deleted its files', async () => {
    const target = join(await newFolder(), 'backup');
    const rivalled: BlobStore = {
      ...blobs,
      async *list() {
        await rm(`${target}.unfinished`, { recursive: true });
        await mkdir(join(`${target}.unfinished`, 'blobs'), { recursive: true });
        yield* blobs.list();
      },
    };
    await expect(backup({ keysFolder, url: source.url, blobs: rivalled, target, version: '1' })).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(stat(target)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([
    ['without a grant', ''],
    [
      'with a policy that hides rows',
      'grant select on rrs.later to rrs_system; alter table rrs.later enable row level security; create policy few on rrs.later to rrs_system using (id is null)',
    ],
    [
      'with a second policy that hides rows',
      `grant select on rrs.later to rrs_system; alter table rrs.later enable row level security; create policy every on rrs.later using (true);
       create policy few on rrs.later as restrictive using (id is null)`,
    ],
  ])('is refused if there is a table %s, because its rows would be missing', async (_, sql) => {
    const url = await newDatabase();
    await withClient(url, (client) => client.query(`create table rrs.later (id uuid); ${sql}`));
    await expect(backup({ keysFolder, url, blobs, target: join(await newFolder(), 'backup'), version: '1' })).rejects.toThrow(
      'rrs_system may not read all rows of later',
    );
  });

  it('is refused for a database without tables', async () => {
    const url = await newDatabase({ empty: true });
    expect(await refusal(backup({ keysFolder, url, blobs, target: join(await newFolder(), 'backup'), version: '1' }))).toMatch(/nothing to back up/);
  });
});

describe('the signing keys', () => {
  it('are restored, readable only by their owner, and the restored service signs with them', async () => {
    const url = await newDatabase({ empty: true });
    const restored = join(await newFolder(), 'deep', 'keys');
    const summary = await restore({ keysFolder: restored, url, blobs: await newStore(), source: whole });
    expect(summary.keys).toBe(3);
    for (const name of ['package.pem', 'log.pem', 'log-note.pem']) expect((await stat(join(restored, name))).mode & 0o777).toBe(0o600);
    const copy = openDatabase({ url, poolSize: 2 });
    onTestFinished(() => copy.close());
    expect(await openSigners(copy, restored)).toMatchObject({ package: { keyId: (await openSigners(db, keysFolder)).package.keyId } });
  });

  it('of the backup replace those that a start before the restore registered', async () => {
    const [url, own] = [await newDatabase(), join(await newFolder(), 'keys')];
    const started = openDatabase({ url, poolSize: 2 });
    onTestFinished(() => started.close());
    await openSigners(started, own);
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole });
    expect(await openSigners(started, join(root, 'restored-keys'))).toMatchObject({ log: { keyId: (await openSigners(db, keysFolder)).log.keyId } });
    await expect(started.withSystem((tx) => tx.updateTable('evidence_keys').set({ use: 'log' }).execute())).rejects.toMatchObject({ code: '42501' });
    await expect(openSigners(started, own)).rejects.toThrow('is another one');
  });

  it('never overwrite other keys', async () => {
    const url = await newDatabase({ empty: true });
    const occupied = await newFolder();
    await writeFile(join(occupied, 'log.pem'), 'another', { mode: 0o600 });
    const refused = restore({ keysFolder: occupied, url, blobs: await newStore(), source: whole });
    expect(await refusal(refused)).toMatch(/log\.pem differs from the key in the backup\. Move it away/);
    expect(await readdir(occupied)).toEqual(['log.pem']);
  });
});

describe('restore changes nothing and refuses', () => {
  const [blob = '', other = ''] = CONTENTS.slice(-2).map((content) => createHash('sha256').update(content).digest('hex'));
  const pathOf = (folder: string, sha256: string): string => join(folder, 'blobs', sha256.slice(0, 2), sha256);
  const damages: [string, (folder: string) => Promise<unknown>, RegExp][] = [
    ['a changed table', (folder) => flipByte(join(folder, 'tables/members.copy.gz')), /: tables\/members\.copy\.gz was modified\. Nothing was restored/],
    [
      'a truncated table',
      (folder) => truncate(join(folder, 'tables/audit_events.copy.gz'), 15),
      /: tables\/audit_events\.copy\.gz has 15 bytes instead of \d+\. /,
    ],
    ['a missing table', (folder) => rm(join(folder, 'tables/events.copy.gz')), /: tables\/events\.copy\.gz is missing\. /],
    ['an extra file', (folder) => writeFile(join(folder, 'tables/more.copy.gz'), ''), /: tables\/more\.copy\.gz is not listed in manifest\.json\. /],
    ['a changed signing key', (folder) => flipByte(join(folder, 'keys/package.pem')), /: keys\/package\.pem was modified\. /],
    ['changed jobs', (folder) => flipByte(join(folder, 'jobs.ndjson.gz')), /: jobs\.ndjson\.gz was modified\. /],
    ['a changed blob', (folder) => flipByte(pathOf(folder, blob)), /: blobs\/..\/[0-9a-f]{64} was modified\. /],
    ['a missing blob', (folder) => rm(pathOf(folder, blob)), /: blobs\/..\/[0-9a-f]{64} is missing\. /],
    [
      'a blob under a wrong name',
      (folder) => edit(folder, ({ files }) => Object.assign(files.find(({ sha256 }) => sha256 === blob) ?? {}, { path: `blobs/ff/${other}` })),
      /manifest\.json is inconsistent/,
    ],
    ['a link in place of a file', (folder) => rm(pathOf(folder, blob)).then(() => symlink(pathOf(whole, blob), pathOf(folder, blob))), /is not a regular file/],
    [
      'several faults',
      (folder) => rm(join(folder, 'jobs.ndjson.gz')).then(() => flipByte(pathOf(folder, blob))),
      /: blobs\S+ was modified; jobs\.ndjson\.gz is missing\. /,
    ],
    ['no manifest', (folder) => rm(join(folder, 'manifest.json')), /is not a backup: it has no manifest\.json/],
    ['no folder', (folder) => rename(folder, `${folder}.away`), /is not a backup/],
    ['a broken manifest', (folder) => truncate(join(folder, 'manifest.json'), 500), /manifest\.json is not readable/],
    [
      'a manifest that leaves the folder',
      (folder) => edit(folder, ({ files }) => files.push({ path: 'tables/../../x.copy.gz', size: 0, sha256: blob })),
      /manifest\.json is not readable/,
    ],
    ['a manifest that lacks a table', (folder) => edit(folder, ({ tables }) => tables.pop()), /manifest\.json is inconsistent/],
    [
      'an unknown format',
      (folder) => edit(folder, (manifest) => Object.assign(manifest, { formatVersion: 2 })),
      /has format 2, but this version supports only format 1/,
    ],
    [
      'a newer schema',
      (folder) => edit(folder, (manifest) => newer(manifest)),
      /has schema version 9999, but this version supports only \d+. Use version 1\.2\.3/,
    ],
    [
      'other migrations',
      (folder) => edit(folder, ({ migrations }) => Object.assign(migrations[0] ?? {}, { checksum: 'other' })),
      /differ from those of the backup/,
    ],
  ];

  async function flipByte(path: string): Promise<void> {
    const bytes = await readFile(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    await writeFile(path, bytes);
  }

  function newer(manifest: Manifest): void {
    manifest.schemaVersion = 9999;
    manifest.migrations.push({ version: 9999, name: '9999-later.sql', checksum: '' });
  }

  it.each(damages)('%s', async (_, damage, message) => {
    const [folder, url, store] = [await newFolder(), await newDatabase({ empty: true }), await newStore()];
    await cp(whole, folder, { recursive: true });
    await damage(folder);
    expect(await refusal(restore({ keysFolder: join(root, 'restored-keys'), url, blobs: store, source: folder }))).toMatch(message);
    expect(await organizationsIn(url)).toBe('no schema');
    expect(await namesIn(store)).toEqual([]);
  });

  it('a database with an organization', async () => {
    const url = await newDatabase();
    await withClient(url, (client) => client.query(`insert into rrs.organizations (id, slug, name) values ($1, 'there', 'There')`, [newId()]));
    const before = await contentOf(url);
    expect(await refusal(restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole }))).toMatch(
      /contains organizations\. Set DATABASE_URL to an empty database/,
    );
    expect(await contentOf(url)).toEqual(before);
  });

  it('a database with a newer schema', async () => {
    const url = await newDatabase();
    await withClient(url, (client) => client.query(`insert into rrs.schema_migrations values (9999, '9999-later.sql', 'x')`));
    expect(await refusal(restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole }))).toMatch(
      /has schema version 9999 already.*new, empty database/,
    );
  });
});

describe('restore', () => {
  it('replaces new instance secrets with those of the backup', async () => {
    const url = await newDatabase();
    const fresh = openDatabase({ url, poolSize: 1 });
    onTestFinished(() => fresh.close());
    const made = [await instanceSecret(fresh, 'cursor'), await instanceSecret(fresh, 'other')];
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole });
    expect(await instanceSecret(fresh, 'cursor')).toEqual(await instanceSecret(db, 'cursor'));
    expect(await instanceSecret(fresh, 'cursor')).not.toEqual(made[0]);
    expect(await instanceSecret(fresh, 'other')).not.toEqual(made[1]);
  });

  it('can be repeated after the blob store failed', async () => {
    const [url, store] = [await newDatabase({ empty: true }), await newStore()];
    const failing: BlobStore = { ...store, put: () => Promise.reject(new Error('the disk is gone')) };
    await expect(restore({ keysFolder: join(root, 'restored-keys'), url, blobs: failing, source: whole })).rejects.toThrow('the disk is gone');
    expect(await organizationsIn(url)).toBe(0);
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: store, source: whole });
    expect(await organizationsIn(url)).toBe(2);
  });

  it.each([
    ['a row that the schema refuses', 'tables/members.copy.gz', (text: string) => `${text}${text.split('\n')[0]}\n`, /duplicate key/],
    ['a row that cannot be read', 'tables/sessions.copy.gz', (text: string) => `${text}not-a-row\n`, /invalid input syntax/],
    ['fewer rows than were counted', 'tables/events.copy.gz', (text: string) => text.slice(text.indexOf('\n') + 1), /events\.copy\.gz was modified/],
    ['a job that cannot be read', 'jobs.ndjson.gz', (text: string) => `${text}{"task": null}\n`, /null value/],
    ['fewer jobs than were counted', 'jobs.ndjson.gz', (text: string) => text.slice(text.indexOf('\n') + 1), /jobs\.ndjson\.gz was modified/],
  ])('leaves the database empty and row-level security in force after %s', async (_, path, change, message) => {
    const [folder, url, store] = [await newFolder(), await newDatabase({ empty: true }), await newStore()];
    await cp(whole, folder, { recursive: true });
    const forged = gzipSync(change(gunzipSync(await readFile(join(folder, path))).toString()));
    await writeFile(join(folder, path), forged);
    const sha256 = createHash('sha256').update(forged).digest('hex');
    await edit(folder, ({ files }) => Object.assign(files.find((file) => file.path === path) ?? {}, { size: forged.length, sha256 }));

    await expect(restore({ keysFolder: join(root, 'restored-keys'), url, blobs: store, source: folder })).rejects.toThrow(message);
    expect(await organizationsIn(url)).toBe(0);
    expect(await jobsOf(url)).toEqual([]);
    expect(await securityOf(url)).toEqual(await securityOf(source.url));
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: store, source: whole });
    expect(await organizationsIn(url)).toBe(2);
  });

  it('succeeds only once if two run at the same time', async () => {
    const [url, store] = [await newDatabase({ empty: true }), await newStore()];
    const outcomes = await Promise.allSettled([1, 2].map(() => restore({ keysFolder: join(root, 'restored-keys'), url, blobs: store, source: whole })));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(OperatorError) });
    expect(await organizationsIn(url)).toBe(2);
  });
});

async function edit(folder: string, change: (manifest: Manifest) => unknown): Promise<void> {
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest;
  change(manifest);
  await writeFile(path, JSON.stringify(manifest));
}
