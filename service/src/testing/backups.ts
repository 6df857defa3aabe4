import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished } from 'vitest';
import type { BlobStore } from '../blobs/blobs.ts';
import { openFileStore } from '../blobs/file-store.ts';
import { withClient } from '../db/connection/with-client.ts';
import { openDatabase } from '../db/database.ts';
import { instanceSecret } from '../db/instance-secret.ts';
import { openSigners } from '../evidence/keys/keys.ts';
import { backup } from '../main/backup/backup.ts';
import type { Manifest } from '../main/backup/format.ts';
import { OperatorError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { ARCHIVE, AWKWARD, addFullOrganization } from './full-organization.ts';
import { createTestDatabase } from './postgres.ts';

export const CONTENTS = ['', 'one', AWKWARD, ARCHIVE, randomBytes(300_000)].map((content) => Buffer.from(content));

export const ours = { orgId: newId() };
export const theirs = { orgId: newId() };
/** A database with two organizations, a blob store and signing keys, and a backup of all of them in `whole`. */
export async function prepareBackup() {
  const root = await mkdtemp(join(tmpdir(), 'rrs-backup-'));
  const source = await createTestDatabase();
  const db = openDatabase({ url: source.url, poolSize: 8 });
  const blobs = openFileStore(join(root, 'blobs'));
  for (const content of CONTENTS) await blobs.put(Readable.from([content]));
  for (const [slug, { orgId }] of Object.entries({ ours, theirs })) await addFullOrganization({ db, blobs }, orgId, slug);
  await instanceSecret(db, 'cursor');
  const keysFolder = join(root, 'keys');
  await openSigners(db, keysFolder);
  const whole = join(root, 'whole');
  await backup({ keysFolder, url: source.url, blobs, target: whole, version: '1.2.3' });
  const newFolder = (): Promise<string> => mkdtemp(join(root, 'folder-'));
  const newStore = async (): Promise<BlobStore> => openFileStore(await newFolder());
  const close = async (): Promise<void> => {
    await db.close();
    await source.drop();
    await rm(root, { recursive: true, force: true });
  };
  return { root, source, db, blobs, keysFolder, whole, newFolder, newStore, close };
}

export type PreparedBackup = Awaited<ReturnType<typeof prepareBackup>>;

export async function newDatabase(options?: { empty: boolean }): Promise<string> {
  const database = await createTestDatabase(options);
  onTestFinished(() => database.drop());
  return database.url;
}

/** Every row of every table in a stable order, without transaction IDs, which differ between servers. */
export async function contentOf(url: string): Promise<Record<string, string[]>> {
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

export async function jobsOf(url: string): Promise<unknown[]> {
  const { rows } = await withClient(url, (client) =>
    client.query(
      `select task_identifier, payload::text, queue_name, v.run_at::text, v.max_attempts, v.priority, v.key, v.flags, v.locked_by
       from graphile_worker.jobs v join graphile_worker._private_jobs using (id) order by task_identifier, v.key, v.run_at`,
    ),
  );
  return rows;
}

export async function namesIn(store: BlobStore): Promise<string[]> {
  const names: string[] = [];
  for await (const { sha256 } of store.list()) names.push(sha256);
  return names.sort();
}

export async function securityOf(url: string): Promise<unknown[]> {
  const query = `select relname, relrowsecurity, relforcerowsecurity, relacl::text from pg_class where relnamespace = 'rrs'::regnamespace and relkind = 'r' order by 1`;
  return (await withClient(url, (client) => client.query(query))).rows;
}

export async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => 'no refusal',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OperatorError);
  return (error as OperatorError).message;
}

export async function organizationsIn(url: string): Promise<number | 'no schema'> {
  return withClient(url, async (client) => {
    const { rows } = await client.query(`select from pg_namespace where nspname in ('rrs', 'graphile_worker')`);
    return rows.length === 0 ? 'no schema' : ((await client.query('select from rrs.organizations')).rowCount ?? 0);
  });
}

export async function editManifest(folder: string, change: (manifest: Manifest) => unknown): Promise<void> {
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest;
  change(manifest);
  await writeFile(path, JSON.stringify(manifest));
}
