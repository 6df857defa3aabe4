import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bagInfoText, bagitText, manifestText, parseBagInfo, parseManifest } from './bag.ts';

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const path = fc.string({ unit: fc.constantFrom('a', 'b', '-', '.', '0'), minLength: 1, maxLength: 5 }).map((text) => `data/x${text}y`);
const entries = fc.uniqueArray(fc.record({ path, sha256: hash }), { selector: (entry) => entry.path, maxLength: 8 });

test('bagit.txt declares BagIt 1.0 and UTF-8', () => {
  expect(bagitText).toBe('BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n');
});

test('a manifest round-trips and is sorted by bytes whatever the order of the input', () => {
  fc.assert(
    fc.property(entries, (some) => {
      const text = manifestText(some);
      expect(manifestText(some.toReversed())).toBe(text);
      const { entries: read, faults } = parseManifest(text);
      expect(faults).toEqual([]);
      expect([...read.keys()]).toEqual(some.map((entry) => entry.path).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
      for (const entry of some) expect(read.get(entry.path)).toBe(entry.sha256);
    }),
  );
});

const H = 'a'.repeat(64);

test.each([
  [`${H}  data/a`, 'line feed'],
  [`${H} data/a\n`, 'two spaces'],
  [`${H} *data/a\n`, 'two spaces'],
  [`${H.toUpperCase()}  data/a\n`, 'two spaces'],
  [`${H.slice(1)}  data/a\n`, 'two spaces'],
  [`${H}  data/../a\n`, 'unsafe'],
  [`${H}   data/a\n`, 'unsafe'],
  [`${H}  data/a\r\n`, 'two spaces'],
  [`${H}  data/a\n\n`, 'two spaces'],
  [`${H}  data/b\n${H}  data/a\n`, 'sorted'],
  [`${H}  data/a\n${H}  data/a\n`, 'duplicate'],
  [`\\${H}  data/a\n`, 'two spaces'],
])('refuses %j', (text, message) => {
  expect(parseManifest(text).faults.map((fault) => fault.message)).toEqual([expect.stringContaining(message)]);
});

test('a fault states its line, and the other lines are read', () => {
  const { entries: read, faults } = parseManifest(`${H}  data/a\nnonsense\n${H}  data/b\n`);
  expect(faults).toEqual([{ line: 2, message: 'expected a hash, two spaces and a name' }]);
  expect([...read.keys()]).toEqual(['data/a', 'data/b']);
});

test('refuses to write unsafe names and invalid hashes', () => {
  expect(() => manifestText([{ path: '../a', sha256: H }])).toThrow('unsafe');
  expect(() => manifestText([{ path: 'a', sha256: 'x' }])).toThrow('SHA-256');
  expect(() =>
    manifestText([
      { path: 'a', sha256: H },
      { path: 'A', sha256: H },
    ]),
  ).toThrow('two files');
});

const info = {
  softwareAgent: 'rrs 0.1.0',
  date: '2026-11-15',
  packageId: '0190a8f0-0000-7000-8000-000000000002',
  workItemId: '0190a8f0-0000-7000-8000-000000000001',
  organization: 'Acme',
  payload: { bytes: 1234, files: 5 },
};

test('bag-info.txt round-trips', () => {
  expect(bagInfoText(info)).toBe(
    `Bag-Software-Agent: rrs 0.1.0\nBagging-Date: 2026-11-15\nExternal-Identifier: ${info.packageId}\nBag-Group-Identifier: ${info.workItemId}\nSource-Organization: Acme\nPayload-Oxum: 1234.5\n`,
  );
  expect(parseBagInfo(bagInfoText(info))).toEqual(info);
});

test('the name of an organization cannot add a line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (organization) => {
      const text = bagInfoText({ ...info, organization });
      expect(text.split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)).toHaveLength(7);
      expect(bagInfoText(parseBagInfo(text))).toBe(text);
    }),
  );
});

test('refuses any other line, order or notation', () => {
  const good = bagInfoText(info);
  const lines = good.split('\n');
  const wrong = [
    good.slice(0, -1),
    `${good}Extra: 1\n`,
    `${good}\n`,
    lines.slice(1).join('\n'),
    [lines[1], lines[0], ...lines.slice(2)].join('\n'),
    good.replace('1234.5', '1234.05'),
    good.replace('1234.5', '1234'),
    good.replace('1234.5', '1234.5.6'),
    good.replace('Acme', ' Acme'),
    good.replace('2026-11-15', 'today'),
    good.replaceAll('\n', '\r\n'),
  ];
  for (const text of wrong) expect(() => parseBagInfo(text), text).toThrow();
});
