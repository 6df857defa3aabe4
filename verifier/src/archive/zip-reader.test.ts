import { writeZip } from '@rrs/evidence-format';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRecorder } from '../report.ts';
import { bytesSource, type Source } from './source.ts';
import { windowOver } from './window.ts';
import { readDirectory, readEntry } from './zip-reader.ts';
import { endRecords } from './zip-records.ts';

async function written(entries: { name: string; content: Uint8Array | AsyncIterable<Uint8Array>; size?: number }[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeZip(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function unpacked(source: Source): Promise<{ entries: [string, string][]; failures: unknown[] }> {
  const recorder = createRecorder();
  const window = windowOver(source);
  const entries: [string, string][] = [];
  for (const entry of (await readDirectory(source, recorder)) ?? []) {
    const pieces: Uint8Array[] = [];
    for await (const piece of readEntry(window, entry, recorder)) pieces.push(piece.slice());
    entries.push([entry.name, Buffer.concat(pieces).toString('base64')]);
  }
  return { entries, failures: recorder.failures };
}

async function* streamed(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

test('reads archives of the writer', async () => {
  // Windows reserves some names, such as `prn`. None of them begins with "f".
  const file = fc.record({ name: fc.stringMatching(/^f[a-z]{0,8}\/f[a-z]{0,8}$/), content: fc.uint8Array({ maxLength: 50 }), stream: fc.boolean() });
  const files = fc.uniqueArray(file, { selector: ({ name }) => name, minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(files, async (list) => {
      const sorted = list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const zip = await written(sorted.map(({ name, content, stream }) => ({ name, content: stream ? streamed(content) : content })));
      expect(await unpacked(bytesSource(zip))).toEqual({
        entries: sorted.map(({ name, content }) => [name, Buffer.from(content).toString('base64')]),
        failures: [],
      });
    }),
    { numRuns: 50 },
  );
});

test('reads more entries than fit without ZIP64', async () => {
  const entries = Array.from({ length: 65_540 }, (_, index) => ({ name: `a/${String(index).padStart(6, '0')}`, content: new Uint8Array() }));
  const recorder = createRecorder();
  const found = await readDirectory(bytesSource(await written(entries)), recorder);
  expect({ count: found?.length, failures: recorder.failures }).toEqual({ count: 65_540, failures: [] });
});

/** An archive of more than 4 GiB that keeps only its records in memory. Its content is zeros. */
async function sparse(size: number): Promise<Source> {
  const kept: { at: number; bytes: Uint8Array }[] = [];
  let at = 0;
  const zeros = new Uint8Array(1 << 26);
  async function* large(): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0; left -= zeros.length) yield left < zeros.length ? zeros.subarray(0, left) : zeros;
  }
  const entries = [
    { name: 'a/large', content: large(), size },
    { name: 'a/small', content: Buffer.from('x') },
  ];
  for await (const chunk of writeZip(entries, { crc32: () => 7 })) {
    if (chunk.buffer !== zeros.buffer) kept.push({ at, bytes: chunk });
    at += chunk.length;
  }
  return {
    size: at,
    async read(offset, length) {
      const result = new Uint8Array(length);
      for (const { at: start, bytes } of kept) {
        const from = Math.max(start, offset);
        const part = bytes.subarray(from - start, Math.max(from, Math.min(start + bytes.length, offset + length)) - start);
        if (part.length > 0) result.set(part, from - offset);
      }
      return result;
    },
  };
}

test('reads an archive with a file of more than 4 GiB', async () => {
  const size = 2 ** 32 + 12_345;
  const source = await sparse(size);
  const recorder = createRecorder();
  const [large, small] = (await readDirectory(source, recorder)) ?? [];
  expect([large?.size, small?.size, recorder.failures]).toEqual([size, 1, []]);
  if (large === undefined || small === undefined) throw new Error('not read');
  const window = windowOver(source);
  const pieces = readEntry(window, small, recorder);
  expect(Buffer.from((await pieces.next()).value ?? []).toString()).toBe('x');
  await pieces.next();
  expect(recorder.failures).toEqual([]);
});

test('refuses too many entries', async () => {
  const size = 46 * 100_001;
  const zip = Buffer.concat([Buffer.alloc(size), endRecords({ entries: 100_001, size, offset: 0 })]);
  const recorder = createRecorder();
  expect(await readDirectory(bytesSource(zip), recorder)).toBeNull();
  expect(recorder.failures.map(({ code }) => code)).toEqual(['too_large']);
});

test('reports random bytes as a failure', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (noise) => {
      const zip = Buffer.concat([Buffer.from('504b0304', 'hex'), noise, Buffer.from('504b0506', 'hex'), noise.subarray(0, 18)]);
      const recorder = createRecorder();
      await recorder.guard('archive', '', () => readDirectory(bytesSource(zip), recorder));
      expect(recorder.failures.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});
