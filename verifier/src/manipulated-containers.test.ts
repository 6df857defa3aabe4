import { utf8 } from '@rrs/evidence-format';
import { expect, test } from 'vitest';
import { buildPackage, zipOf } from './testing/build.ts';
import { useProgram } from './testing/exit-code.ts';
import { type RawEntry, rawEntries, rawZip } from './testing/raw-zip.ts';

/** Containers that two programs could read differently. One of each kind has a vector with its exact codes. These only have to be refused. */
const { exitCode } = await useProgram();
const built = await buildPackage();
const zip = Buffer.from(await zipOf(built));

const CENTRAL = Buffer.from('504b0102', 'hex');
const centralAt = zip.indexOf(CENTRAL);
const endAt = zip.lastIndexOf(Buffer.from('504b0506', 'hex'));
const patched = (...edits: [number, string][]): Uint8Array => {
  const copy = Buffer.from(zip);
  for (const [at, hex] of edits) copy.write(hex, at, 'hex');
  return copy;
};
const concat = (...parts: (Uint8Array | string)[]): Uint8Array => Buffer.concat(parts.map((part) => Buffer.from(part)));
/** Puts bytes into the first record of the directory, after its name, and corrects what the end record says. */
function inDirectory(extra: string, length: { at: number }): Uint8Array {
  const bytes = Buffer.from(extra, 'latin1');
  const at = centralAt + 46 + zip.readUInt16LE(centralAt + 28);
  const copy = Buffer.from(concat(zip.subarray(0, at), bytes, zip.subarray(at)));
  copy.writeUInt16LE(bytes.length, centralAt + length.at);
  copy.writeUInt32LE(copy.readUInt32LE(endAt + bytes.length + 12) + bytes.length, endAt + bytes.length + 12);
  return copy;
}
const README = `${built.folder}/README.txt`;
const sorted = (list: RawEntry[]): RawEntry[] => list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
const withEntry = (name: string, content = 'x') => rawZip(sorted([...rawEntries(built.folder, built.files), { name, content: utf8(content) }]));
const inside = (path: string) => withEntry(`${built.folder}/${path}`);
const zip64End = (): Uint8Array => {
  const record = Buffer.alloc(76);
  record.write('504b0606', 0, 'hex');
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(1n << 62n, 32);
  record.write('504b0607', 56, 'hex');
  record.writeBigUInt64LE(BigInt(endAt), 64);
  return concat(zip.subarray(0, endAt), record, Buffer.from(zip.subarray(endAt)).fill(0xff, 8, 20));
};

const containers: Record<string, () => Uint8Array> = {
  'two packages in a row': () => concat(zip, zip),
  'a package after another ZIP': () => concat(rawZip([{ name: 'a', content: utf8('a') }]), zip),
  'another ZIP in the comment': () => {
    const more = rawZip([{ name: README, content: utf8('other') }]);
    const copy = Buffer.from(concat(zip, more));
    copy.writeUInt16LE(more.length, zip.length - 2);
    return copy;
  },
  'two end records': () => concat(zip, zip.subarray(endAt)),
  'a line break at the end': () => concat(zip, '\n'),
  'a byte order mark at the start': () => concat('\ufeff', zip),
  'an end record only': () => zip.subarray(endAt),
  'a directory without entries': () => concat(zip.subarray(centralAt, endAt), zip.subarray(endAt)),
  'an empty ZIP': () => rawZip([]),
  'another disk number': () => patched([endAt + 4, '0100']),
  'fewer entries on this disk': () => patched([endAt + 8, '0100']),
  'a directory that starts at byte 0': () => patched([endAt + 16, '00000000']),
  'a directory that starts beyond the end': () => patched([endAt + 16, 'feffffff']),
  'a directory of 4 GiB': () => patched([endAt + 12, 'feffffff']),
  'ZIP64 records that state 2^62 entries': zip64End,
  'a ZIP64 marker without ZIP64 records': () => patched([endAt + 16, 'ffffffff']),
  'a ZIP64 marker in an entry without the field': () => patched([centralAt + 24, 'ffffffff']),
  'a ZIP64 field that is not needed': () => inDirectory('\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00', { at: 30 }),
  'a ZIP64 field of three bytes': () => inDirectory('\x01\x00\x00', { at: 30 }),
  'a Unicode path field with another name': () => inDirectory('up\x06\x00\x01\x00\x00\x00\x00a', { at: 30 }),
  'an entry comment': () => inDirectory('hi', { at: 32 }),
  'a symbolic link': () => patched([centralAt + 38, '0000ffa1']),
  'an executable file': () => patched([centralAt + 38, '0000ed81']),
  'a directory by its attributes': () => patched([centralAt + 38, '1000ed41']),
  'an entry made by DOS': () => patched([centralAt + 4, '2d00']),
  'a name that is not marked as UTF-8': () => patched([6, '0000'], [centralAt + 8, '0000']),
  'a data descriptor that only the directory announces': () => patched([6, '0008']),
  'a data descriptor that only the entry announces': () => patched([centralAt + 8, '0008']),
  'a data descriptor that nothing announces': () => patched([6, '0008'], [centralAt + 8, '0008']),
  'a data descriptor with another CRC-32': () => patched([zip.indexOf(Buffer.from('504b0708', 'hex')) + 4, '00000000']),
  'a data descriptor with another size': () => patched([zip.indexOf(Buffer.from('504b0708', 'hex')) + 8, '01000000']),
  'a data descriptor without its signature': () => patched([zip.indexOf(Buffer.from('504b0708', 'hex')), '00000000']),
  'an entry that begins in the middle of another one': () => patched([centralAt + 42, '20000000']),
  'an entry of 4 GiB': () => patched([centralAt + 20, 'fefffffffeffffff']),
  'a name that is not UTF-8': () => patched([centralAt + 46, 'ff']),
  'a folder with content': () => inside('data/folder/'),
  'an entry without a name': () => withEntry(''),
  'a name in two normal forms': () =>
    rawZip(
      sorted([
        ...rawEntries(built.folder, built.files),
        ...['e\u0301', '\u00e9'].map((name) => ({ name: `${built.folder}/data/${name}`, content: utf8('x') })),
      ]),
    ),
  'a name with a Kelvin sign': () => inside('data/audit-trail.json\u212a'),
  'a name with a long s': () => inside('data/finding\u017f.jsonl'),
  ...Object.fromEntries(
    [
      'data/./x',
      'data//x',
      './x',
      '..',
      'data/x/..',
      'data/x.',
      'data/x ',
      ' data/x',
      'data/a:b',
      'data/a\u0000b',
      'data/a\nb',
      'data/\u202etxt.exe',
      'data/\ufeffx',
      'C:/x',
      '~/x',
      'data/aux',
      'data/x*',
      `data/${'x'.repeat(300)}`,
      'DATA/evidence.json',
      'data/evidence.json/x',
    ].map((name) => [`the name ${JSON.stringify(name).slice(0, 40)}`, () => inside(name)]),
  ),
  'an absolute name': () => withEntry('/data/evidence.json'),
  'a file next to the folder': () => withEntry('evidence.json'),
};

test.for(Object.entries(containers))('refuses a container with %s', async ([, make]) => {
  expect(await exitCode(make())).toBe(1);
});

test('the package itself is verified', async () => {
  expect(await exitCode(zip)).toBe(0);
});
