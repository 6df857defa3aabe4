import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesSource } from './source.ts';
import { windowOver } from './window.ts';

const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 31) >> 3);

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const kept: Uint8Array[] = [];
  for await (const piece of pieces) kept.push(piece.slice());
  return Buffer.concat(kept);
}

test('returns any ranges in any order', async () => {
  const range = fc.tuple(fc.nat(bytes.length), fc.nat(bytes.length)).map(([a, b]) => [Math.min(a, b), Math.abs(a - b)] as const);
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 4 }), async (ranges) => {
      const window = windowOver(bytesSource(bytes));
      for (const [offset, length] of ranges) {
        expect((await all(window.pieces(offset, length))).equals(bytes.subarray(offset, offset + length))).toBe(true);
        const few = Math.min(length, 40);
        expect(await window.take(offset, few)).toEqual(bytes.slice(offset, offset + few));
      }
    }),
    { numRuns: 30 },
  );
});

test('reads each byte once in large chunks when used sequentially', async () => {
  const requested: [number, number][] = [];
  const source = {
    size: bytes.length,
    async read(offset: number, length: number) {
      requested.push([offset, length]);
      return bytes.subarray(offset, offset + length);
    },
  };
  const window = windowOver(source);
  for (let at = 0; at < bytes.length; at += 1000) await window.take(at, Math.min(1000, bytes.length - at));
  expect(requested).toEqual([
    [0, 1 << 20],
    [1 << 20, 1 << 20],
    [2 << 20, bytes.length - (2 << 20)],
  ]);
});

test('throws if the source returns too few bytes or the range is beyond its end', async () => {
  const short = windowOver({ size: 100, read: async () => new Uint8Array(10) });
  await expect(short.take(0, 50)).rejects.toThrow('could not be read');
  await expect(windowOver(bytesSource(bytes)).take(bytes.length - 1, 2)).rejects.toThrow('ends before');
});
