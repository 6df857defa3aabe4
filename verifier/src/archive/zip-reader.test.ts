import { writeZip } from '@rrs/evidence-format';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFindings } from '../report.ts';
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
  const findings = createFindings();
  const window = windowOver(source);
  const entries: [string, string][] = [];
  for (const entry of (await readDirectory(source, findings)) ?? []) {
    const pieces: Uint8Array[] = [];
    for await (const piece of readEntry(window, entry, findings)) pieces.push(piece.slice());
    entries.push([entry.name, Buffer.concat(pieces).toString('base64')]);
  }
  return { entries, failures: findings.failures };
}

async function* streamed(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

test('reads back what the writer writes', async () => {
  const file = fc.record({ name: fc.stringMatching(/^[a-z]{1,9}\/[a-z]{1,9}$/), content: fc.uint8Array({ maxLength: 50 }), stream: fc.boolean() });
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

test('more entries than fit without ZIP64', async () => {
  const entries = Array.from({ length: 65_540 }, (_, index) => ({ name: `a/${String(index).padStart(6, '0')}`, content: new Uint8Array() }));
  const findings = createFindings();
  const found = await readDirectory(bytesSource(await written(entries)), findings);
  expect({ count: found?.length, failures: findings.failures }).toEqual({ count: 65_540, failures: [] });
});

/** An archive of more than 4 GiB whose content is never there: zeros, but for its records. */
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

test('a file of more than 4 GiB: the directory, the record before it and the one behind it', async () => {
  const size = 2 ** 32 + 12_345;
  const source = await sparse(size);
  const findings = createFindings();
  const [large, small] = (await readDirectory(source, findings)) ?? [];
  expect([large?.size, small?.size, findings.failures]).toEqual([size, 1, []]);
  if (large === undefined || small === undefined) throw new Error('not read');
  const window = windowOver(source);
  const pieces = readEntry(window, small, findings);
  expect(Buffer.from((await pieces.next()).value ?? []).toString()).toBe('x');
  await pieces.next();
  expect(findings.failures).toEqual([]);
});

test('too many entries are not read', async () => {
  const size = 46 * 100_001;
  const zip = Buffer.concat([Buffer.alloc(size), endRecords({ entries: 100_001, size, offset: 0 })]);
  const findings = createFindings();
  expect(await readDirectory(bytesSource(zip), findings)).toBeNull();
  expect(findings.failures.map(({ code }) => code)).toEqual(['too_large']);
});

test('random bytes behind the beginning of a ZIP never throw anything but a failure', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (noise) => {
      const zip = Buffer.concat([Buffer.from('504b0304', 'hex'), noise, Buffer.from('504b0506', 'hex'), noise.subarray(0, 18)]);
      const findings = createFindings();
      await findings.guard('archive', '', () => readDirectory(bytesSource(zip), findings));
      expect(findings.failures.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});
