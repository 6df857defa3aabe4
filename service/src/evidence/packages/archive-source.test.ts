import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import type { BlobStore } from '../../blobs/blobs.ts';
import { openFileStore } from '../../blobs/file-store.ts';
import { archiveSource } from './archive-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'rrs-archive-'));
afterAll(() => rmSync(folder, { recursive: true }));

const bytes = randomBytes(200_000);
const store = openFileStore(folder);
const stored = () => store.put(bytesOf(bytes));
async function* bytesOf(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

it('returns any range in any order', async () => {
  const ref = await stored();
  const range = fc.tuple(fc.nat(bytes.length), fc.nat(bytes.length)).map(([a, b]) => [Math.min(a, b), Math.abs(a - b)] as const);
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 8 }), async (ranges) => {
      const source = archiveSource(store, ref);
      for (const [offset, length] of ranges) expect(bytes.subarray(offset, offset + length).equals(await source.read(offset, length))).toBe(true);
      await source.close();
    }),
    { numRuns: 50 },
  );
});

it('opens one stream for a sequential read', async () => {
  let asked = 0;
  const counting: BlobStore = {
    ...store,
    pieces: (...range) => {
      asked++;
      return store.pieces(...range);
    },
  };
  const source = archiveSource(counting, await stored());
  const read: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 10_000) read.push(Buffer.from(await source.read(at, 10_000)));
  await source.close();
  expect([asked, Buffer.concat(read).equals(bytes)]).toEqual([1, true]);
});

it('fails for missing bytes and can read on afterwards', async () => {
  const ref = await stored();
  const source = archiveSource(store, { ...ref, size: ref.size + 10 });
  await expect(source.read(bytes.length - 5, 10)).rejects.toThrow('incomplete');
  expect(Buffer.from(await source.read(0, 5)).equals(bytes.subarray(0, 5))).toBe(true);
  await source.close();
  const missing = archiveSource(store, { sha256: '0'.repeat(64), size: 5 });
  await expect(missing.read(0, 5)).rejects.toThrow('not in the store');
  await missing.close();
});
