import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlobStore } from '../../blobs/blobs.ts';
import { openS3Store } from '../../blobs/s3-store.ts';
import { recordImport } from '../../findings/import/manage-imports.ts';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { startS3Fake } from '../../testing/fakes/s3.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { eraseHandler, sweepHandler } from '../handlers.ts';

interface Opened {
  store: BlobStore;
  /** Makes the blob two days older. */
  age(sha256: string): Promise<void>;
  close(): Promise<void>;
}

const twoDaysAgo = new Date(Date.now() - 2 * 86_400_000);
let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

async function onFiles(): Promise<Opened> {
  const pathOf = (sha256: string): string => join(api.blobFolder, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  return { store: api.blobs, age: (sha256) => utimes(pathOf(sha256), twoDaysAgo, twoDaysAgo), close: async () => {} };
}

async function onS3(): Promise<Opened> {
  const fake = await startS3Fake({ pageSize: 7 });
  const age = async (sha256: string): Promise<void> => {
    const object = fake.objects.get(`blobs/${sha256}`);
    if (object) object.modified = twoDaysAgo;
  };
  return { store: await openS3Store({ ...fake, prefix: 'blobs', forcePathStyle: true }), age, close: fake.close };
}

describe.each([
  ['files', onFiles],
  ['S3', onS3],
])('a sweep of a store on %s', (_name, open) => {
  let opened: Opened;
  let store: BlobStore;
  beforeAll(async () => {
    opened = await open();
    store = opened.store;
  });
  afterAll(() => opened.close());

  const put = async (): Promise<string> => (await store.put(Readable.from([Buffer.from(`bytes ${newId()}`)]))).sha256;
  const putOld = async (): Promise<string> => {
    const sha256 = await put();
    await opened.age(sha256);
    return sha256;
  };
  const refer = (sha256: string) => {
    const actor = systemActor(api.ours.id, 'test');
    const report = { format: null, filename: null, sha256, bytes: 1, scan_scope: {}, dry_run: false };
    return api.db.withTenant(actor, (tx) => recordImport(tx, actor, report));
  };

  /** Sweeps, and runs the jobs that this queued. Returns the errors in the log. */
  async function sweep({ beforeErasing = async () => {} } = {}): Promise<string[]> {
    const errors: string[] = [];
    const log = { info: () => {}, error: (_details: object, message: string) => void errors.push(message) };
    const context = { db: api.db, log, signal: new AbortController().signal, lastAttempt: false };
    await sweepHandler(store).run({}, context);
    await beforeErasing();
    const { rows } = await api.db.withSystem((tx) =>
      sql<{ payload: object }>`
        delete from graphile_worker._private_jobs job using graphile_worker._private_tasks task
        where task.id = job.task_id and identifier = 'erase_bytes' returning payload`.execute(tx),
    );
    for (const { payload } of rows) await eraseHandler(store).run(payload, context);
    return errors;
  }

  it('erases old bytes that nothing refers to, and keeps the others', async () => {
    const [orphan, referenced, fresh] = [await putOld(), await putOld(), await put()];
    await refer(referenced);
    expect(await sweep()).toEqual([]);
    expect(await store.stat(orphan)).toBeNull();
    for (const kept of [referenced, fresh]) expect(await store.stat(kept)).not.toBeNull();
  });

  it('keeps bytes that are stored again or referred to before they are erased', async () => {
    const content = Buffer.from(`bytes ${newId()}`);
    const { sha256: again } = await store.put(Readable.from([content]));
    await opened.age(again);
    const adopted = await putOld();
    await sweep({
      beforeErasing: async () => {
        await store.put(Readable.from([content]));
        await refer(adopted);
      },
    });
    for (const kept of [again, adopted]) expect(await store.stat(kept)).not.toBeNull();
  });

  it('erases nothing if the database knows hardly any of the files', async () => {
    const orphans = await Promise.all(Array.from({ length: 101 }, putOld));
    expect(await sweep()).toEqual([expect.stringContaining('belong together')]);
    for (const sha256 of orphans) expect(await store.stat(sha256)).not.toBeNull();
    for (const sha256 of orphans) await store.delete(sha256);
  });
});
