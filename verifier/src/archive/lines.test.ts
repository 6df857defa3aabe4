import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { nodePlatform } from '../node.ts';
import { linesOf } from './lines.ts';
import type { StoredFile } from './read-package.ts';

/** Reuses one buffer for all pieces, as sources may. */
function stored(text: string, pieceSize: number): StoredFile {
  const bytes = Buffer.from(text);
  const buffer = Buffer.alloc(pieceSize);
  return {
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes: null,
    async *reread() {
      for (let at = 0; at < bytes.length; at += pieceSize) yield buffer.subarray(0, bytes.copy(buffer, 0, at, at + pieceSize));
    },
  };
}

async function read(file: StoredFile, limits = { line: 10, lines: 5 }): Promise<string[]> {
  const lines: string[] = [];
  for await (const some of linesOf(file, nodePlatform(), limits)) lines.push(...some);
  return lines;
}

test.for([1, 2, 3, 5, 100])('splits a file that comes in pieces of %d bytes', async (pieceSize) => {
  const lines = ['one', '', 'zwölf', '0123456789', '\u2028'];
  expect(await read(stored(lines.map((line) => `${line}\n`).join(''), pieceSize))).toEqual(lines);
});

test('an empty file has no lines', async () => {
  expect(await read(stored('', 4))).toEqual([]);
});

test.for([1, 3, 100])('refuses lines beyond the limits in pieces of %d bytes', async (pieceSize) => {
  await expect(read(stored('0123456789a\n', pieceSize))).rejects.toThrow('longer than 10 bytes');
  await expect(read(stored('0123456789a', pieceSize))).rejects.toThrow('longer than 10 bytes');
  await expect(read(stored('\n'.repeat(6), pieceSize))).rejects.toThrow('more than 5 lines');
  await expect(read(stored('one\ntwo', pieceSize))).rejects.toThrow('does not end with a line feed');
});

test('refuses a file that changed, and bytes that are not UTF-8', async () => {
  await expect(read({ ...stored('one\n', 4), sha256: 'other' })).rejects.toThrow('changed while it was read');
  const bytes = Buffer.from([0xff, 0x0a]);
  await expect(
    read({
      ...stored('', 4),
      reread: async function* () {
        yield bytes;
      },
    }),
  ).rejects.toThrow();
});
