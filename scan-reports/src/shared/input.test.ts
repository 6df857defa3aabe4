import { expect, test } from 'vitest';
import { collect, inChunks } from '../testing/reading.ts';
import { beginning, fromBuffer, notThisFormat, textBytes } from './input.ts';

const decoded = async (bytes: Uint8Array, cuts: number[] = []): Promise<string> => Buffer.concat(await collect(textBytes(inChunks(bytes, cuts)))).toString();

test('converts every encoding to UTF-8 without a byte order mark, in chunks of any size', async () => {
  const text = `<?xml version='1.0' encoding='windows-1252'?><r>${'–é'.repeat(300)}</r>`;
  const cp1252 = Buffer.concat([Buffer.from(text.slice(0, 48)), Buffer.from(text.slice(48).replaceAll('–', '\u0096'), 'latin1')]);
  for (const cuts of [[], [1], [1, 2, 3], [100, 255, 256, 257]]) {
    expect(await decoded(Buffer.from('\ufeffäb'), cuts)).toBe('äb');
    expect(await decoded(Buffer.from('\ufeffäb', 'utf16le'), cuts)).toBe('äb');
    expect(await decoded(Buffer.from(`${text}`, 'utf16le'), cuts)).toBe(text);
    expect(await decoded(cp1252, cuts)).toBe(text);
    expect(await decoded(Buffer.from('x'), cuts)).toBe('x');
    expect(await decoded(Buffer.alloc(0), cuts)).toBe('');
  }
});

test('half a character at the end becomes a replacement character', async () => {
  expect(await decoded(Buffer.from('\ufeffab', 'utf16le').subarray(0, 5))).toBe('a\ufffd');
});

test('beginning returns the requested length and stops reading', async () => {
  let chunks = 0;
  const input = {
    filename: null,
    async *open() {
      for (;;) {
        chunks++;
        yield Buffer.alloc(1_000, 'x');
      }
    },
  };
  expect((await beginning(input, 2_500)).length).toBe(2_500);
  expect(chunks).toBeLessThan(5);
  expect((await beginning(fromBuffer('ab'), 10)).toString()).toBe('ab');
});

test('the error for another format states what was expected', () => {
  expect(notThisFormat('a poem').message).toBe('The file does not have this format. Expected a poem.');
});
