import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concat, utf8 } from '../bytes/bytes.ts';
import { nameCheck } from './names.ts';
import { writeZip, type ZipEntry, type ZipOptions } from './zip.ts';
import { endRecords, type WrittenEntry } from './zip-records.ts';

const has = (tool: string, ...args: string[]): boolean => spawnSync(tool, args).error === undefined;
const unzip = has('unzip', '-v');
const python = spawnSync('python3', ['-c', 'import zipfile']).status === 0;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zip-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(tool: string, ...args: string[]): string {
  return execFileSync(tool, args, { cwd: folder, maxBuffer: 1 << 28 }).toString();
}

async function collect(entries: Iterable<ZipEntry> | AsyncIterable<ZipEntry>, options?: ZipOptions): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeZip(entries, options)) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
}

async function* stream(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

const entries = (): ZipEntry[] => [
  { name: 'top/a.txt', content: utf8('hello') },
  { name: 'top/b/empty', content: new Uint8Array() },
  { name: 'top/b/streamed', content: stream(utf8('one '), new Uint8Array(), utf8('two')) },
  { name: 'top/c', content: stream(), size: 0 },
];

const PYTHON = `
import sys, zipfile, json
for name in sys.argv[1:]:
    z = zipfile.ZipFile(name)
    assert z.testzip() is None
    print(json.dumps([[i.filename, i.file_size, i.CRC, i.date_time, i.external_attr >> 16, i.compress_type, i.flag_bits, i.header_offset, i.extra.hex(), i.comment.decode()] for i in z.infolist()]))
`;

describe('a small archive', () => {
  test.runIf(unzip)('unzip tests, lists and unpacks it', async () => {
    writeFileSync(join(folder, 'small.zip'), await collect(entries()));
    expect(run('unzip', '-t', 'small.zip')).toContain('No errors detected');
    expect(run('unzip', '-Z1', 'small.zip')).toBe('top/a.txt\ntop/b/empty\ntop/b/streamed\ntop/c\n');
    expect(run('unzip', '-Z', '-s', 'small.zip')).toMatch(/-rw-r--r-- .* stor 80-Jan-01 00:00 top\/a.txt/);
    run('unzip', '-q', 'small.zip', '-d', 'out');
    expect(readFileSync(join(folder, 'out/top/b/streamed'), 'utf8')).toBe('one two');
  });

  test.runIf(python)('python reads it with the dates and modes of the format', async () => {
    writeFileSync(join(folder, 'python.zip'), await collect(entries()));
    const rows = JSON.parse(run('python3', '-c', PYTHON, 'python.zip')) as unknown[][];
    expect(rows.map(([name, size, crc, ...rest]) => [name, size, crc, ...rest.toSpliced(4, 1)])).toEqual(
      [
        ['top/a.txt', 5, crc32('hello'), 0x0800],
        ['top/b/empty', 0, 0, 0x0800],
        ['top/b/streamed', 7, crc32('one two'), 0x0808],
        ['top/c', 0, 0, 0x0808],
      ].map(([name, size, crc, flags]) => [name, size, crc, [1980, 1, 1, 0, 0, 0], 0o100644, 0, flags, '', '']),
    );
  });

  test('the same entries always give the same bytes, however a stream is chunked', async () => {
    const whole = await collect(entries());
    const cut = entries().with(2, { name: 'top/b/streamed', content: stream(...[...utf8('one two')].map((byte) => Uint8Array.of(byte))) });
    expect(await collect(cut, { crc32 })).toEqual(whole);
    expect(hash('sha256', whole)).toMatchInlineSnapshot(`"2a39cbac6a935df2f388af8d4574c1fecfc9c7c7e1aa52f787c4afdf99cdfcec"`);
  });

  test('reports the offset of each entry', async () => {
    const written: WrittenEntry[] = [];
    const bytes = await collect(entries(), { onEntry: (entry) => written.push(entry) });
    const view = new DataView(bytes.buffer);
    expect(written.map(({ name, size }) => [name, size])).toEqual([
      ['top/a.txt', 5],
      ['top/b/empty', 0],
      ['top/b/streamed', 7],
      ['top/c', 0],
    ]);
    for (const { offset } of written) expect(view.getUint32(offset, true)).toBe(0x04034b50);
  });

  test('an archive without entries consists of its end record', async () => {
    expect(await collect([])).toEqual(concat(Uint8Array.of(0x50, 0x4b, 5, 6), new Uint8Array(18)));
  });
});

test('passes chunks of content through without copying', async () => {
  const big = new Uint8Array(1 << 20);
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeZip([
    { name: 'a', content: big },
    { name: 'b', content: stream(big) },
  ]))
    chunks.push(chunk);
  expect(chunks.filter((chunk) => chunk === big)).toHaveLength(2);
});

test.runIf(python)('python reads random archives correctly', async () => {
  const content = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 3 });
  const names = fc.uniqueArray(
    fc.stringMatching(/^[a-z]{1,3}(\/[a-z]{1,3})?\.x$/).filter((name) => nameCheck(name.length)(name) === null),
    { maxLength: 4 },
  );
  const archives = fc.sample(fc.record({ names, chunks: content, streamed: fc.boolean() }), 50);
  for (const [at, { names: paths, chunks, streamed }] of archives.entries()) {
    const list = paths.sort().map((name) => ({ name, content: streamed ? stream(...chunks) : concat(...chunks) }));
    writeFileSync(join(folder, `any-${at}.zip`), await collect(list));
  }
  const read = run('python3', '-c', PYTHON, ...archives.map((_, at) => `any-${at}.zip`))
    .trimEnd()
    .split('\n');
  for (const [at, { names: paths, chunks }] of archives.entries()) {
    const rows = JSON.parse(read[at] as string) as unknown[][];
    expect(rows.map(([name, size, crc]) => [name, size, crc])).toEqual(paths.map((name) => [name, concat(...chunks).length, crc32(concat(...chunks))]));
  }
});

describe('refuses', () => {
  const empty = new Uint8Array();
  test.each([
    [['../a'], 'unsafe'],
    [['/a'], 'unsafe'],
    [['a\\b'], 'unsafe'],
    [['nul'], 'unsafe'],
    [['a'.repeat(101)], 'unsafe'],
    [['a', 'a'], 'two files'],
    [['A', 'a'], 'two files'],
    [['a', 'a/b'], 'two files'],
    [['b', 'a'], 'must come before'],
  ])('the names %j', async (names, message) => {
    await expect(collect(names.map((name) => ({ name, content: empty })))).rejects.toThrow(message);
  });

  test('content whose size differs from the given size', async () => {
    await expect(collect([{ name: 'a', content: stream(utf8('abc')), size: 4 }])).rejects.toThrow('expected 4 bytes, got 3');
    await expect(collect([{ name: 'a', content: utf8('abc'), size: 2 }])).rejects.toThrow('expected 2 bytes, got 3');
  });

  test('a stream of 4 GiB without a given size', async () => {
    const chunk = new Uint8Array(1 << 28);
    const content = stream(...new Array<Uint8Array>(16).fill(chunk));
    const writing = writeZip([{ name: 'a', content }], { crc32: () => 0 });
    await expect(
      (async () => {
        for await (const _ of writing);
      })(),
    ).rejects.toThrow('must be given');
  });
});

const CHUNK = new Uint8Array(1 << 26);

/** Writes a sparse file: chunks of zeros are holes. */
async function writeSparse(path: string, list: Iterable<ZipEntry>, options?: ZipOptions): Promise<number> {
  const file = openSync(path, 'w');
  let at = 0;
  for await (const chunk of writeZip(list, options)) {
    if (chunk !== CHUNK) writeSync(file, chunk, 0, chunk.length, at);
    at += chunk.length;
  }
  ftruncateSync(file, at);
  closeSync(file);
  return at;
}

describe('an archive beyond 4 GiB', () => {
  const SIZE = 65 * CHUNK.length;
  const zeros = (): AsyncGenerator<Uint8Array> => stream(...new Array<Uint8Array>(65).fill(CHUNK));
  const fast: ZipOptions = { crc32: (bytes, previous) => (bytes === CHUNK ? 0x1234_5678 : crc32(bytes, previous)) };
  const large = (): ZipEntry[] => [
    { name: 'a', content: utf8('before') },
    { name: 'b', content: zeros(), size: SIZE },
    { name: 'c', content: utf8('after') },
    { name: 'd', content: stream(utf8('small')) },
  ];

  test('uses ZIP64 only for the large entry and the entries after it', async () => {
    const small: Uint8Array[] = [];
    for await (const chunk of writeZip(large(), fast)) if (chunk !== CHUNK) small.push(chunk);
    const bytes = Buffer.from(concat(...small));
    const local = bytes.indexOf(Buffer.from([0x50, 0x4b, 3, 4]), 1);
    expect(bytes.subarray(local + 14, local + 26).toString('hex')).toBe(`00000000${'ff'.repeat(8)}`);
    expect(bytes.subarray(local + 31, local + 51).toString('hex')).toBe(`01001000${'00'.repeat(16)}`);
    const descriptor = bytes.indexOf(Buffer.from([0x50, 0x4b, 7, 8]));
    expect([bytes.readUInt32LE(descriptor + 4), bytes.readBigUInt64LE(descriptor + 8), bytes.readBigUInt64LE(descriptor + 16)]).toEqual([
      0x1234_5678,
      BigInt(SIZE),
      BigInt(SIZE),
    ]);
    const extras: number[] = [];
    for (let at = bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2])); bytes.readUInt32LE(at) === 0x02014b50; at += 47 + bytes.readUInt16LE(at + 30))
      extras.push(bytes.readUInt16LE(at + 30));
    expect(extras).toEqual([0, 20, 12, 12]);
  });

  test.runIf(unzip && python)('unzip and python read the entries and their content', { timeout: 60_000 }, async () => {
    await writeSparse(join(folder, 'large.zip'), large(), fast);
    expect(run('unzip', '-Z1', 'large.zip')).toBe('a\nb\nc\nd\n');
    expect(run('unzip', '-p', 'large.zip', 'c')).toBe('after');
    expect(run('unzip', '-p', 'large.zip', 'd')).toBe('small');
    const script =
      "import zipfile; z = zipfile.ZipFile('large.zip'); print([i.file_size for i in z.infolist()], z.open('b').read(3), z.read('c'), z.read('d'))";
    expect(run('python3', '-c', script)).toBe(`[6, ${SIZE}, 5, 5] b'\\x00\\x00\\x00' b'after' b'small'\n`);
  });
});

test.runIf(unzip && python)('unzip and python read more than 65,535 entries', { timeout: 60_000 }, async () => {
  const count = 65_537;
  const content = utf8('x');
  function* many(): Generator<ZipEntry> {
    for (let at = 0; at < count; at++) yield { name: `d/${String(at).padStart(6, '0')}`, content };
  }
  writeFileSync(join(folder, 'many.zip'), await collect(many()));
  expect(run('unzip', '-Z1', 'many.zip').trimEnd().split('\n')).toHaveLength(count);
  expect(run('python3', '-c', "import zipfile; z = zipfile.ZipFile('many.zip'); print(len(z.infolist()), z.read('d/065536'))")).toBe(`${count} b'x'\n`);
});

test('uses ZIP64 from 65,535 entries', () => {
  const end = (entries: number): string => Buffer.from(endRecords({ entries, offset: 1, size: 2 })).toString('hex');
  expect(end(65_534)).toBe('504b050600000000fefffeff02000000010000000000');
  const zip64 = '504b06062c000000000000002d032d000000000000000000ffff000000000000ffff00000000000002000000000000000100000000000000';
  const locator = '504b060700000000030000000000000001000000';
  expect(end(65_535)).toBe(`${zip64}${locator}504b050600000000ffffffff02000000010000000000`);
});
