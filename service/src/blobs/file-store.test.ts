import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BlobStore } from './blobs.ts';
import { openFileStore } from './file-store.ts';

let base: string;
let root: string;
let store: BlobStore;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'file-store-'));
  root = join(base, 'blobs');
  store = openFileStore(root);
});
afterEach(() => rm(base, { recursive: true }));

function bytes(content: string): Readable {
  return Readable.from([Buffer.from(content)]);
}

function placeOf(sha256: string): string {
  return join(root, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
}

async function contentOf(sha256: string): Promise<string> {
  const stream = await store.get(sha256);
  if (!stream) throw new Error(`${sha256} is absent`);
  return text(stream);
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

it('stores a blob under two levels of folders, readable only by its owner', async () => {
  const { sha256 } = await store.put(bytes('secret'));
  const place = placeOf(sha256);
  expect(await modeOf(place)).toBe('600');
  for (const folder of [root, join(root, 'tmp'), join(place, '..'), join(place, '../..')]) expect(await modeOf(folder)).toBe('700');
});

it('leaves no temporary file, whether a put succeeds or fails', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    expect(await readdir(join(root, 'tmp'))).toHaveLength(1);
    throw new Error('broken off');
  }
  await store.put(bytes('whole'));
  await expect(store.put(failing())).rejects.toThrow('broken off');
  await expect(store.put(bytes('too large'), { maxBytes: 1 })).rejects.toThrow('exceeds the limit');
  expect(await readdir(join(root, 'tmp'))).toEqual([]);
});

it('returns complete content while the same content is put and deleted', async () => {
  const content = Buffer.alloc(1024 * 1024, 'x');
  const { sha256 } = await store.put(Readable.from([content]));
  let writing = true;
  const writer = (async () => {
    for (let i = 0; i < 20; i++) {
      if (i % 3 === 2) await store.delete(sha256);
      await store.put(Readable.from([content]));
    }
    writing = false;
  })();
  let reads = 0;
  while (writing) {
    const stream = await store.get(sha256);
    if (!stream) continue;
    expect(await buffer(stream)).toHaveLength(content.length);
    reads++;
  }
  await writer;
  expect(reads).toBeGreaterThan(0);
});

it.each(['first use', 'check'])('deletes temporary files on %s only if they are older than a day', async (moment) => {
  const temporary = join(root, 'tmp');
  await mkdir(temporary, { recursive: true });
  const [old, young] = [join(temporary, randomUUID()), join(temporary, randomUUID())];
  await writeFile(old, 'left by a crash');
  await writeFile(young, 'being written by another process');
  const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
  await utimes(old, yesterday, yesterday);
  if (moment === 'check') await store.check();
  else await store.put(bytes('first'));
  expect(await readdir(temporary)).toEqual([young.split('/').at(-1)]);
});

it('reports content that was changed or truncated on disk as an error', async () => {
  const { sha256 } = await store.put(bytes('evidence'));
  for (const damaged of ['evidencE', 'evid', '']) {
    await writeFile(placeOf(sha256), damaged);
    await expect(contentOf(sha256)).rejects.toMatchObject({ code: 'internal_error' });
  }
  await store.put(bytes('evidence'));
  expect(await contentOf(sha256)).toBe('evidence');
});

it('names a folder that is not writable, and recovers once it is', async () => {
  await writeFile(root, 'a file where the folder should be');
  await expect(store.check()).rejects.toThrow(`Cannot write to the folder for stored files ${root}`);
  await expect(store.put(bytes('x'))).rejects.toThrow();
  await rm(root);
  await store.check();
  await store.put(bytes('x'));
});
