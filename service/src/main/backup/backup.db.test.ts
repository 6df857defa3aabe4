import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { BlobStore } from '../../blobs/blobs.ts';
import { openFileStore } from '../../blobs/file-store.ts';
import { withClient } from '../../db/connection/with-client.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { fanOut } from '../../events/webhooks/fan-out.ts';
import { newId } from '../../shared/ids.ts';
import {
  CONTENTS,
  contentOf,
  jobsOf,
  namesIn,
  newDatabase,
  ours,
  type PreparedBackup,
  prepareBackup,
  refusal,
  securityOf,
  theirs,
} from '../../testing/backups.ts';
import { eventually } from '../../testing/eventually.ts';
import { addKey } from '../../testing/full-organization.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { backup } from './backup.ts';
import { restore } from './restore.ts';

let root: PreparedBackup['root'];
let source: PreparedBackup['source'];
let db: PreparedBackup['db'];
let blobs: PreparedBackup['blobs'];
let keysFolder: PreparedBackup['keysFolder'];
let whole: PreparedBackup['whole'];
let newFolder: PreparedBackup['newFolder'];
let newStore: PreparedBackup['newStore'];
let close: PreparedBackup['close'];

beforeAll(async () => {
  ({ root, source, db, blobs, keysFolder, whole, newFolder, newStore, close } = await prepareBackup());
});
afterAll(() => close?.());

describe('a backup of an idle service', () => {
  it('restores every row, job and blob into an empty database', async () => {
    const [url, store] = [await newDatabase({ empty: true }), await newStore()];
    const summary = await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: store, source: whole });
    const content = await contentOf(source.url);
    expect(Object.entries(content).filter(([, rows]) => rows.length === 0)).toEqual([]);
    // A restore ends the current epoch of each transparency log.
    expect(await contentOf(url)).toEqual({ ...content, log_endings: expect.arrayContaining(content.log_endings ?? []) });
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
      fc.asyncProperty(fc.array(row, { minLength: 500, maxLength: 1_000 }), async (rows) => {
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
          const content = await contentOf(from.url);
          expect(await contentOf(to.url)).toEqual({ ...content, log_endings: expect.any(Array) });
        } finally {
          await Promise.all([from.drop(), to.drop()]);
        }
      }),
      // All rows are in one backup: a backup takes longer than its rows.
      { numRuns: 1 },
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
      'rrs_system cannot read all rows of later',
    );
  });

  it('is refused for a database without tables', async () => {
    const url = await newDatabase({ empty: true });
    expect(await refusal(backup({ keysFolder, url, blobs, target: join(await newFolder(), 'backup'), version: '1' }))).toMatch(/nothing to back up/);
  });
});
