import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type S3Fake, startS3Fake } from '../testing/fakes/s3.ts';
import type { BlobStore } from './blobs.ts';
import { openS3Store } from './s3-store.ts';

let fake: S3Fake;
let store: BlobStore;

beforeEach(async () => {
  fake = await startS3Fake();
  store = await openStore();
});
afterEach(() => fake.close());

function openStore(changes: { bucket?: string; accessKeyId?: string; secretAccessKey?: string; prefix?: string } = {}): Promise<BlobStore> {
  return openS3Store({ ...fake, prefix: 'blobs/', forcePathStyle: true, ...changes });
}

function bytes(content: string | Buffer): Readable {
  return Readable.from([Buffer.from(content)]);
}

async function contentOf(sha256: string): Promise<string> {
  const stream = await store.get(sha256);
  if (!stream) throw new Error(`${sha256} is absent`);
  return text(stream);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function operations(): string[] {
  return fake.seen.map(({ operation }) => operation);
}

it.each(['HeadObject', 'PutObject', 'GetObject', 'DeleteObject', 'ListObjectsV2'] as const)('retries %s if the store is busy', async (operation) => {
  fake.faults.push({ on: operation, behave: 'busy', times: 2 });
  const content = Buffer.alloc(300_000, 'x');
  const { sha256 } = await store.put(bytes(content));
  expect(await contentOf(sha256)).toBe(content.toString());
  expect(await all(store.list())).toMatchObject([{ sha256, size: content.length }]);
  await store.delete(sha256);
  expect(fake.objects.size).toBe(0);
  expect(operations().filter((name) => name === operation).length).toBeGreaterThanOrEqual(3);
});

it('sends length and digest, so that the store refuses a corrupt upload', async () => {
  fake.faults.push({ on: 'PutObject', behave: 'damage', times: 1 });
  await expect(store.put(bytes('evidence'))).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('BadDigest') });
  expect(fake.objects.size).toBe(0);

  const { sha256 } = await store.put(bytes('evidence'));
  expect(fake.seen.at(-1)).toMatchObject({
    operation: 'PutObject',
    key: `blobs/${sha256}`,
    headers: {
      'content-length': '8',
      'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64'),
      'x-amz-content-sha256': sha256,
    },
  });
});

it('does not upload existing content', async () => {
  await store.put(bytes('once'));
  await store.put(bytes('once'));
  expect(operations()).toEqual(['HeadObject', 'PutObject', 'HeadObject']);
});

it.each([
  ['cut', 'unavailable'],
  ['shorten', 'internal_error'],
] as const)('fails a download that the store has %s', async (behave, code) => {
  const { sha256 } = await store.put(bytes(Buffer.alloc(300_000, 'x')));
  fake.faults.push({ on: 'GetObject', behave, times: 2 });
  await expect(contentOf(sha256)).rejects.toMatchObject({ name: 'AppError', code });
  const part = await store.getRange(sha256, { start: 0, end: 299_999 });
  await expect(text(part ?? Readable.from([]))).rejects.toMatchObject({ name: 'AppError', code });
});

it('reports in one sentence that the store cannot be reached', async () => {
  const { sha256 } = await store.put(bytes('x'));
  await fake.close();
  const unreachable = { name: 'AppError', code: 'unavailable', message: 'The object store cannot be reached. Retry later.' };
  const attempts = [
    () => store.put(bytes('y')),
    () => store.get(sha256),
    () => store.getRange(sha256, { start: 0, end: 0 }),
    () => store.stat(sha256),
    () => store.delete(sha256),
    () => all(store.list()),
    () => store.check(),
  ];
  for (const attempt of attempts) {
    await expect(attempt()).rejects.toMatchObject(unreachable);
  }
});

it.each([
  ['a bucket that does not exist', { bucket: 'elsewhere' }, 'it does not exist'],
  ['an unknown access key', { accessKeyId: 'AKIAOTHER' }, '403'],
  ['a wrong secret', { secretAccessKey: 'guessed' }, '403'],
])('is not usable with %s', async (_case, changes, reason) => {
  const other = await openStore(changes);
  await expect(other.check()).rejects.toThrow(reason);
  await expect(other.put(bytes('x'))).rejects.toMatchObject({ code: 'unavailable' });
  await expect(other.get('a'.repeat(64))).rejects.toMatchObject({ code: 'unavailable' });
  expect(fake.objects.size).toBe(0);
});

it('uses only its own prefix', async () => {
  const other = await openStore({ prefix: 'blobs/other' });
  const { sha256 } = await other.put(bytes('theirs'));
  const mine = await store.put(bytes('mine'));
  expect(await all(store.list())).toMatchObject([mine]);
  expect(await store.stat(sha256)).toBeNull();
  expect(fake.objects.has(`blobs/other/${sha256}`)).toBe(true);
});

it('lists past the 1,000 objects of a page', async () => {
  for (let i = 0; i < 1_234; i++) fake.objects.set(`blobs/${i.toString(16).padStart(64, '0')}`, { path: '', size: i, modified: new Date() });
  fake.objects.set('blobs/notes.txt', { path: '', size: 1, modified: new Date() });
  const found = await all(store.list());
  expect(found).toHaveLength(1_234);
  expect(operations()).toEqual(['ListObjectsV2', 'ListObjectsV2']);
});
