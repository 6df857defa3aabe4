import { utf8 } from '@rrs/evidence-format';
import { expect, test } from 'vitest';
import { buildPackage, c2spNote, type Files, keyListOf, ORIGIN, type Recipe, writeManifests, zipOf } from './testing/build.ts';
import { useProgram } from './testing/exit-code.ts';
import { rawEntries, rawZip } from './testing/raw-zip.ts';

/** Files that two programs could read differently, or that belong to another package. One of each kind has a vector with its exact codes. These only have to be refused. */
const { exitCode, keys, list, keysFile, written } = await useProgram();
const built = await buildPackage();
const other = await buildPackage({ facts: ({ work_item }) => void Object.assign(work_item, { title: 'Another title' }) });
const zip = await zipOf(built);

/** Changes of files after sealing. The ZIP is as it should be. */
const text = (files: Files, path: string): string => Buffer.from(files.get(path) ?? '').toString();
const edit = (path: string, change: (text: string) => string) => (files: Files) => {
  if (change(text(files, path)) === text(files, path)) throw new Error(`${path} was not changed`);
  files.set(path, utf8(change(text(files, path))));
};
interface BundleJson {
  dsseEnvelope: { signatures: unknown[] };
  messageSignature?: unknown;
  verificationMaterial: { tlogEntries: unknown[]; certificate?: unknown };
}

const MANIFEST = 'manifest-sha256.txt';
const TAGS = 'tagmanifest-sha256.txt';
const BUNDLE = 'proof/package.sigstore.json';
const json = (change: (bundle: BundleJson) => void) => (source: string) => {
  const parsed = JSON.parse(source);
  change(parsed);
  return `${JSON.stringify(parsed)}\n`;
};
const swapped =
  (...paths: string[]) =>
  (files: Files) => {
    for (const path of paths) files.set(path, other.files.get(path) ?? new Uint8Array());
  };
const lines = (change: (all: string[]) => string[]) => (source: string) => change(source.split('\n')).join('\n');
const forms: Record<string, (source: string) => string> = {
  'a byte order mark': (source) => `\ufeff${source}`,
  'other line ends': (source) => source.replaceAll('\n', '\r\n'),
  'no last line end': (source) => source.trimEnd(),
  'an empty line': (source) => `${source}\n`,
  'a line twice': lines((all) => [all[0] ?? '', ...all]),
  'lines in another order': lines((all) => [...all.slice(0, -1).reverse(), '']),
  'hashes in capitals': (source) => source.replace(/^[0-9a-f]{64}/, (hash) => hash.toUpperCase()),
  'a binary mark': (source) => source.replace('  ', ' *'),
  'one space': (source) => source.replace('  ', ' '),
  'a comment': (source) => `# hashes\n${source}`,
  'a name with ./': (source) => source.replace('  ', '  ./'),
};

const files: Record<string, (files: Files) => void> = {
  ...Object.fromEntries([MANIFEST, TAGS].flatMap((path) => Object.entries(forms).map(([name, change]) => [`${path} with ${name}`, edit(path, change)]))),
  'a second manifest': (all) => void all.set('manifest-md5.txt', utf8('0  data/evidence.json\n')),
  'a fetch.txt': (all) => void all.set('fetch.txt', utf8('https://example.com 1 data/evidence.json\n')),
  'a file that no manifest lists': (all) => void all.set('data/more.txt', utf8('x')),
  'the same JSON with other spaces, in the manifests': (all) => {
    all.set('data/evidence.json', utf8(`${text(all, 'data/evidence.json').trimEnd()} \n`));
    writeManifests(all);
  },
  'the signature twice': edit(
    BUNDLE,
    json(({ dsseEnvelope }) => dsseEnvelope.signatures.push(dsseEnvelope.signatures[0])),
  ),
  'no signature': edit(
    BUNDLE,
    json(({ dsseEnvelope }) => dsseEnvelope.signatures.splice(0)),
  ),
  'the signature of another package': edit(
    BUNDLE,
    json(({ dsseEnvelope }) => {
      dsseEnvelope.signatures = JSON.parse(text(other.files, BUNDLE)).dsseEnvelope.signatures;
    }),
  ),
  'a message signature, too': edit(
    BUNDLE,
    json((bundle) => {
      bundle.messageSignature = { signature: 'AA==' };
    }),
  ),
  'a certificate, too': edit(
    BUNDLE,
    json(({ verificationMaterial }) => {
      verificationMaterial.certificate = { rawBytes: 'AA==' };
    }),
  ),
  'two log entries': edit(
    BUNDLE,
    json(({ verificationMaterial: { tlogEntries } }) => tlogEntries.push(tlogEntries[0])),
  ),
  'no log entry': edit(
    BUNDLE,
    json(({ verificationMaterial: { tlogEntries } }) => tlogEntries.splice(0)),
  ),
  'a log index in exponents': edit(BUNDLE, (source) => source.replace(/"logIndex":"(\d+)"/, '"logIndex":"$1e0"')),
  'a log index beyond all numbers': edit(BUNDLE, (source) => source.replace(/"logIndex":"(\d+)"/, '"logIndex":1e400')),
  'a member of the bundle twice': edit(BUNDLE, (source) => source.replace('{', '{"mediaType":"x",')),
  'a nested member twice': edit(BUNDLE, (source) => source.replace('"dsseEnvelope":{', '"dsseEnvelope":{"payloadType":"x",')),
  'a prototype in the bundle': edit(BUNDLE, (source) => source.replace('{', '{"__proto__":{},')),
  'another media type': edit(BUNDLE, (source) => source.replace('v0.3', 'v0.2')),
  'base64 with line breaks': edit(BUNDLE, (source) => source.replace(/"payload":"(.{8})/, '"payload":"$1\\n')),
  'base64 with other last bits': edit(BUNDLE, (source) =>
    source.replace(/([A-Za-z0-9+/])=(=?)"/, (_, last: string, more: string) => `${last === 'A' ? 'B' : String.fromCharCode(last.charCodeAt(0) + 1)}=${more}"`),
  ),
  'a byte order mark in the bundle': edit(BUNDLE, (source) => `\ufeff${source}`),
  'a second bundle after the first': edit(BUNDLE, (source) => source + source),
  'the proof of another package': swapped('proof/package.tlog-proof', 'proof/leaves.bin', 'proof/consistency.txt'),
  'the bundle of another package': swapped(BUNDLE),
  'the bundle and statement of another package': swapped(BUNDLE, 'proof/statement.json'),
  'everything but the data of another package': swapped(
    BUNDLE,
    'proof/statement.json',
    'proof/package.tlog-proof',
    'proof/leaves.bin',
    'proof/consistency.txt',
    TAGS,
    MANIFEST,
  ),
  'a line more in the checkpoint': edit('proof/package.tlog-proof', (source) => source.replace(/\n\n— /, '\nextra\n\n— ')),
  'a second signature under the checkpoint': edit('proof/package.tlog-proof', (source) => source.replace(/(— [^\n]+\n)$/, '$1$1')),
  'a signature of somebody else under the checkpoint': edit('proof/package.tlog-proof', (source) => `${source}— evil.example AAAAAAAA\n`),
  'other line ends in the checkpoint': edit('proof/package.tlog-proof', (source) => source.replaceAll('\n', '\r\n')),
  'a larger log in the checkpoint': edit(
    'proof/package.tlog-proof',
    lines((all) => all.map((line) => (/^\d+$/.test(line) ? `${line}0` : line))),
  ),
  'a log size with a leading zero': edit(
    'proof/package.tlog-proof',
    lines((all) => all.map((line) => (/^\d+$/.test(line) ? `0${line}` : line))),
  ),
  'a leaf more': (all) => void all.set('proof/leaves.bin', Buffer.concat([all.get('proof/leaves.bin') ?? '', Buffer.alloc(32)] as Buffer[])),
  'half a leaf more': (all) => void all.set('proof/leaves.bin', Buffer.concat([all.get('proof/leaves.bin') ?? '', Buffer.alloc(16)] as Buffer[])),
  'two keys in one file': edit('proof/keys/package.pem', (source) => source + text(built.files, 'proof/keys/log.pem')),
  'text after a key': edit('proof/keys/log.pem', (source) => `${source}extra\n`),
  'other line ends in a key': edit('proof/keys/package.pem', (source) => source.replaceAll('\n', '\r\n')),
  'a key more': (all) => void all.set('proof/keys/more.pem', all.get('proof/keys/log.pem') ?? new Uint8Array()),
};

test.for(Object.entries(files))('refuses a package with %s', async ([, tamper]) => {
  const changed = new Map(built.files);
  tamper(changed);
  expect(await exitCode(rawZip(rawEntries(built.folder, changed)))).toBe(1);
});

/** Documents that were sealed like this, with the right keys. */
const documents: Record<string, Recipe> = Object.fromEntries(
  Object.entries<(source: string) => string>({
    'a member twice': (source) => source.replace('{', '{"conclusion":"remediated",'),
    'a nested member twice': (source) => source.replace('"organization":{', '"organization":{"name":"Evil",'),
    'a prototype': (source) => source.replace('{', '{"__proto__":{"conclusion":"remediated"},'),
    'a nested prototype': (source) => source.replace('"organization":{', '"organization":{"__proto__":{},'),
    'a member that is not known': (source) => source.replace('{', '{"a":1,'),
    'a number beyond all numbers': (source) => source.replace(/"sequence":\d+/, '"sequence":1e400'),
    'a number in exponents': (source) => source.replace(/"sequence":(\d+)/, '"sequence":$1e0'),
    'a negative zero': (source) => source.replace(/"database_offset_ms":\d+/, '"database_offset_ms":-0'),
    'a number with a fraction of zero': (source) => source.replace(/"sequence":(\d+)/, '"sequence":$1.0'),
    NaN: (source) => source.replace(/"sequence":\d+/, '"sequence":NaN'),
    'half a surrogate pair': (source) => source.replace('"name":"Acme"', '"name":"\\ud800"'),
    'an escape that is not needed': (source) => source.replace('Acme', '\\u0041cme'),
    'a comment': (source) => source.replace('{', '{/* */'),
    'a comma too many': (source) => source.replace(/\}\n$/, ',}\n'),
    'a byte order mark': (source) => `\ufeff${source}`,
    'other line ends': (source) => source.replaceAll('\n', '\r\n'),
    'a second document': (source) => source + source,
    spaces: (source) => source.replace('{', '{ '),
    'members in another order': (source) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(source)).reverse())),
  }).map(([name, evidenceText]) => [name, { evidenceText }]),
);

test.for(Object.entries(documents))('refuses a document with %s', async ([, recipe]) => {
  expect(await exitCode(await zipOf(await buildPackage(recipe)))).toBe(1);
});

const keyLists: Record<string, string> = {
  'a member twice': list.replace('{', '{"version":2,'),
  'the keys twice': list.replace('{', '{"keys":[],'),
  'a nested member twice': list.replace('"use":"package"', '"use":"log","use":"package"'),
  'a prototype': list.replace('{', '{"__proto__":{},'),
  'a nested prototype': list.replace('"use":"package"', '"__proto__":null,"use":"package"'),
  'a member that is not known': list.replace('{', '{"note":"",'),
  'a key twice': JSON.stringify({ ...keyListOf(keys), keys: [...keyListOf(keys).keys, keyListOf(keys).keys[0]] }),
  'a version beyond all numbers': list.replace('"version":2', '"version":1e400'),
  'a version as a text': list.replace('"version":2', '"version":"2"'),
  'no keys': JSON.stringify({ ...keyListOf(keys), keys: [] }),
  'a list of lists': `[${list}]`,
  'two documents': list + list,
  'a time that does not exist': list.replace('2026-01-01T00', '2026-02-30T00'),
  nothing: '',
  null: 'null',
};

test.for(Object.entries(keyLists))('cannot use a list of keys with %s', async ([, content]) => {
  expect(await exitCode(zip, ['--keys', written('other.json', content)])).toBe(2);
});

const note = await c2spNote(keys.note, { origin: ORIGIN, size: 3, root: new Uint8Array(32) });
const checkpoints: Record<string, string> = {
  'a line more': note.replace('\n\n', '\nextra\n\n'),
  'another signature only': note.replace(/— .*/s, '— evil.example AAAAAAAA\n'),
  'no signature': note.replace(/— .*/s, ''),
  'other line ends': note.replaceAll('\n', '\r\n'),
  'a size in exponents': note.replace('\n3\n', '\n3e0\n'),
  'a size beyond all numbers': note.replace('\n3\n', `\n${'9'.repeat(400)}\n`),
  'a root that is too short': note.replace(/\n[A-Za-z0-9+/]{43}=\n/, '\nAAAA\n'),
  nothing: '',
};

test.for(Object.entries(checkpoints))('cannot use a checkpoint with %s', async ([, content]) => {
  expect(await exitCode(zip, ['--keys', keysFile, '--checkpoint', written('checkpoint', content)])).toBe(2);
});
