import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { BlobStore } from '../../blobs/blobs.ts';
import { withClient } from '../../db/connection/with-client.ts';
import { openDatabase } from '../../db/database.ts';
import { instanceSecret } from '../../db/instance-secret.ts';
import { openSigners } from '../../evidence/keys/keys.ts';
import { handle } from '../../jobs/jobs.ts';
import { startWorker } from '../../jobs/worker.ts';
import { OperatorError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import {
  CONTENTS,
  contentOf,
  editManifest,
  jobsOf,
  namesIn,
  newDatabase,
  organizationsIn,
  type PreparedBackup,
  prepareBackup,
  refusal,
  securityOf,
} from '../../testing/backups.ts';
import { AWKWARD, greet } from '../../testing/full-organization.ts';
import type { Manifest } from './format.ts';
import { restore } from './restore.ts';

let root: PreparedBackup['root'];
let source: PreparedBackup['source'];
let db: PreparedBackup['db'];
let keysFolder: PreparedBackup['keysFolder'];
let whole: PreparedBackup['whole'];
let newFolder: PreparedBackup['newFolder'];
let newStore: PreparedBackup['newStore'];
let close: PreparedBackup['close'];

beforeAll(async () => {
  ({ root, source, db, keysFolder, whole, newFolder, newStore, close } = await prepareBackup());
});
afterAll(() => close?.());

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
    const ended = await copy.withSystem((tx) => tx.selectFrom('log_endings').select(['epoch', 'reason', 'backup']).execute());
    expect(ended).toContainEqual({ epoch: 2, reason: 'restore', backup: { created_at: summary.createdAt, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  });

  it('of the backup replace those that a start before the restore registered', async () => {
    const [url, own] = [await newDatabase(), join(await newFolder(), 'keys')];
    const started = openDatabase({ url, poolSize: 2 });
    onTestFinished(() => started.close());
    await openSigners(started, own);
    await restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole });
    expect(await openSigners(started, join(root, 'restored-keys'))).toMatchObject({ log: { keyId: (await openSigners(db, keysFolder)).log.keyId } });
    await expect(started.withSystem((tx) => tx.updateTable('evidence_keys').set({ use: 'log' }).execute())).rejects.toMatchObject({ code: '42501' });
    await expect(openSigners(started, own)).rejects.toThrow('is registered');
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
      (folder) => editManifest(folder, ({ files }) => Object.assign(files.find(({ sha256 }) => sha256 === blob) ?? {}, { path: `blobs/ff/${other}` })),
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
    ['a broken manifest', (folder) => truncate(join(folder, 'manifest.json'), 500), /manifest\.json is invalid/],
    [
      'a manifest that leaves the folder',
      (folder) => editManifest(folder, ({ files }) => files.push({ path: 'tables/../../x.copy.gz', size: 0, sha256: blob })),
      /manifest\.json is invalid/,
    ],
    ['a manifest that lacks a table', (folder) => editManifest(folder, ({ tables }) => tables.pop()), /manifest\.json is inconsistent/],
    [
      'an unknown format',
      (folder) => editManifest(folder, (manifest) => Object.assign(manifest, { formatVersion: 2 })),
      /has format 2, but this version supports only format 1/,
    ],
    [
      'a newer schema',
      (folder) => editManifest(folder, (manifest) => newer(manifest)),
      /has schema version 9999, but this version supports only \d+. Use version 1\.2\.3/,
    ],
    [
      'other migrations',
      (folder) => editManifest(folder, ({ migrations }) => Object.assign(migrations[0] ?? {}, { checksum: 'other' })),
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
    await withClient(url, (client) => client.query(`insert into rrs.schema_migrations values (9999, '9999-later.sql', 'x', 9999)`));
    expect(await refusal(restore({ keysFolder: join(root, 'restored-keys'), url, blobs: await newStore(), source: whole }))).toMatch(
      /has schema version 9999, which is newer.*new, empty database/,
    );
  });
});

describe('restore', () => {
  it('adds jobs that can run', async () => {
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
    expect(texts.sort()).toEqual([`ours ${AWKWARD}`, `theirs ${AWKWARD}`]);
  });

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
    await editManifest(folder, ({ files }) => Object.assign(files.find((file) => file.path === path) ?? {}, { size: forged.length, sha256 }));

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
