import {
  type Bundle,
  bagitText,
  canonicalJson,
  consistencyText,
  type Evidence,
  ed25519RawFromSpki,
  envelopeOf,
  jwkOf,
  KEY_LIST_VERSION,
  type KeyList,
  keyIdOf,
  type ListedKey,
  type ListedKeyUse,
  leafEntry,
  leavesBytes,
  MAX_CARRIED_LEAVES,
  manifestText,
  opensshFingerprint,
  PAYLOAD_TYPE,
  parseBundle,
  pemFromSpki,
  preAuthEncoding,
  predicateOf,
  type RenderContext,
  sha256Hex,
  statementBytes,
  tlogProofText,
  topFolder,
  utf8,
  vkey,
  writeZip,
} from '@rrs/evidence-format';
import { tagFiles } from '../rendering/readable-files.ts';
import type { Trust } from '../trust/trust.ts';
import { bundleFor, c2spNote, epochOf, type Keys, type LogParts, type LogRecipe, logParts, ORIGIN, rekorNote } from './log.ts';
import { type Files, type PayloadRecipe, payloadOf } from './payload.ts';
import type { TestKey } from './signer.ts';
import { ed25519Key, p256Key } from './signer.ts';

export type { Files, Keys };
export { c2spNote, ORIGIN };

/** Hooks that change a package after each stage of sealing. Later stages use the changed content. */
export interface Recipe extends LogRecipe, PayloadRecipe {
  keys?: Keys;
  stamps?: ((signature: Uint8Array) => Promise<Uint8Array>)[];
  tags?(files: Files): void;
  statement?(text: string): string;
  signature?(signature: Uint8Array): Uint8Array;
  log?(parts: LogParts): void;
  bundle?(bundle: Bundle): void;
  proof?(files: Files): void;
}

export interface Built {
  folder: string;
  files: Files;
  trust: Trust;
}

export async function testKeys(name = 'test'): Promise<Keys> {
  return { package: p256Key(`${name} package`), log: p256Key(`${name} log`), note: await ed25519Key(name) };
}

export function trustIn(keys: Keys, timestampRoots: string[] = []): Trust {
  return {
    packageKeys: [pemFromSpki(keys.package.spki)],
    logKeys: [pemFromSpki(keys.log.spki)],
    noteKeys: [vkey(ORIGIN, ed25519RawFromSpki(keys.note.spki))],
    timestampRoots,
    checkpoints: [],
    periods: [],
    origins: [],
    organization: null,
    origin: null,
  };
}

/** The published list with these keys. */
export function keyListOf(keys: Keys): KeyList {
  const listed = (use: ListedKeyUse, { spki }: TestKey): ListedKey => ({
    key_id: keyIdOf(use, spki),
    use,
    algorithm: use === 'note' ? 'Ed25519' : 'ES256',
    public_key_pem: pemFromSpki(spki),
    jwk: jwkOf(use, spki),
    valid_from: '2026-01-01T00:00:00.000Z',
    valid_to: null,
    revoked_at: null,
    revoked_reason: null,
  });
  return {
    version: KEY_LIST_VERSION,
    origins: ['evidence.example'],
    keys: [listed('package', keys.package), listed('log', keys.log), listed('note', keys.note)],
  };
}

/** Builds a small complete package with evidence-format. The bytes are the same each time. */
export async function buildPackage(recipe: Recipe = {}): Promise<Built> {
  const keys = recipe.keys ?? (await testKeys());
  const named = namesOf(keys, recipe);
  const { files, evidence } = payloadOf(recipe, { stamped: (recipe.stamps?.length ?? 0) > 0, keys: named });
  addTagFiles(files, evidence, named);
  recipe.tags?.(files);
  await addProof(files, { evidence, keys, recipe });
  recipe.proof?.(files);
  return { folder: topFolder(evidence.work_item.id, evidence.sequence), files, trust: trustIn(keys) };
}

/** The names of the keys in the readable files. */
function namesOf(keys: Keys, recipe: Recipe): RenderContext['keys'] {
  const note = vkey(epochOf(recipe.epoch).origin, ed25519RawFromSpki(keys.note.spki));
  return { package: opensshFingerprint(keys.package.spki), log: opensshFingerprint(keys.log.spki), note };
}

function addTagFiles(files: Files, evidence: Evidence, keys: RenderContext['keys']): void {
  const payload = [...files].filter(([path]) => path.startsWith('data/'));
  const total = { files: payload.length, bytes: payload.reduce((sum, [, { length }]) => sum + length, 0) };
  files.set('bagit.txt', utf8(bagitText));
  for (const { path, text } of tagFiles(evidence, { keys }, total)) files.set(path, utf8([...text()].join('')));
  writeManifests(files);
}

/** Rewrites the manifests, as an attacker would after changing a file. */
export function writeManifests(files: Files): void {
  const hashed = (paths: string[]) => utf8(manifestText(paths.map((path) => ({ path, sha256: sha256Hex(files.get(path) ?? new Uint8Array()) }))));
  files.set('manifest-sha256.txt', hashed([...files.keys()].filter((path) => path.startsWith('data/'))));
  files.set('tagmanifest-sha256.txt', hashed(['README.txt', 'bag-info.txt', 'bagit.txt', 'manifest-sha256.txt']));
}

async function addProof(files: Files, { evidence, keys, recipe }: { evidence: Evidence; keys: Keys; recipe: Recipe }): Promise<void> {
  const hash = (path: string) => sha256Hex(files.get(path) ?? new Uint8Array());
  const report = files.has('data/report.pdf') ? { 'data/report.pdf': hash('data/report.pdf') } : {};
  const subjects = {
    'tagmanifest-sha256.txt': hash('tagmanifest-sha256.txt'),
    'manifest-sha256.txt': hash('manifest-sha256.txt'),
    'data/evidence.json': hash('data/evidence.json'),
    ...report,
  };
  const text = Buffer.from(statementBytes(subjects, predicateOf(evidence))).toString();
  const statement = utf8(recipe.statement?.(text) ?? text);
  const signed = await keys.package.sign(preAuthEncoding(PAYLOAD_TYPE, statement));
  const signature = recipe.signature?.(signed) ?? signed;
  const envelope = envelopeOf(statement, { keyId: opensshFingerprint(keys.package.spki), signature });
  const timestamps = await Promise.all((recipe.stamps ?? []).map((stamp) => stamp(signature)));
  const log = await logParts(keys, leafEntry(envelope, pemFromSpki(keys.package.spki)), recipe);
  recipe.log?.(log);
  const checkpoint = await rekorNote(keys, log);
  const bundle = parseBundle(await bundleFor(keys, { ...log, checkpoint, envelope, timestamps }));
  recipe.bundle?.(bundle);
  const note = utf8(tlogProofText({ index: log.index, hashes: log.hashes, checkpoint: await c2spNote(keys.note, log.c2sp) }));
  const texts = {
    'package.sigstore.json': `${canonicalJson(bundle)}\n`,
    'consistency.txt': consistencyText(log.consistency),
    'epoch.sigstore.json': await bundleFor(keys, { ...log, ...log.epoch, index: 0, checkpoint, timestamps: [] }),
    'keys/package.pem': pemFromSpki(keys.package.spki),
    'keys/log.pem': pemFromSpki(keys.log.spki),
    'keys/log-note.pem': pemFromSpki(keys.note.spki),
    'keys/log-note.vkey': `${vkey(log.epoch.origin, ed25519RawFromSpki(keys.note.spki))}\n`,
  };
  for (const [name, content] of Object.entries(texts)) files.set(`proof/${name}`, utf8(content));
  if (log.size <= MAX_CARRIED_LEAVES) files.set('proof/leaves.bin', leavesBytes(log.leaves));
  files.set('proof/statement.json', statement);
  files.set('proof/package.tlog-proof', note);
  for (const [index, token] of timestamps.entries()) files.set(index === 0 ? 'proof/timestamp.tsr' : `proof/timestamp-${index + 1}.tsr`, token);
}

/** Writes the ZIP like the service: large files as streams. */
export async function zipOf({ folder, files }: Pick<Built, 'folder' | 'files'>, streamFrom = 1000): Promise<Uint8Array> {
  const entries = [...files]
    .map(([path, bytes]) => ({ name: `${folder}/${path}`, content: bytes.length < streamFrom ? bytes : pieces(bytes) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeZip(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const half = bytes.length >> 1;
  yield bytes.subarray(0, half);
  yield bytes.subarray(half);
}
