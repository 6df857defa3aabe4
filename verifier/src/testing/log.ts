import {
  bundleJson,
  type Consistency,
  checkpointText,
  consistencyProof,
  type Envelope,
  ed25519RawFromSpki,
  envelopeOf,
  epochStatement,
  inclusionProof,
  type LogEpoch,
  leafEntry,
  leafHash,
  logId,
  type NodeId,
  nodesAfterAppend,
  noteKeyIdEcdsa,
  noteKeyIdEd25519,
  noteWith,
  opensshFingerprint,
  PAYLOAD_TYPE,
  pemFromSpki,
  preAuthEncoding,
  promiseBytes,
  rekorOrigin,
  rootFrom,
  sha256,
  signerOf,
  toHex,
  utf8,
} from '@rrs/evidence-format';
import { IDS } from './sample.ts';
import type { TestKey } from './signer.ts';

export const ORIGIN = `evidence.example/orgs/${IDS.organization}`;

export interface Keys {
  package: TestKey;
  log: TestKey;
  note: TestKey;
}

export interface LogRecipe {
  /** Changes the statement that the log starts with. */
  epoch?(epoch: LogEpoch): void;
  /** Index of the entry in the log, and size of the log's earlier state. */
  index?: number;
  oldSize?: number;
}

interface Tree {
  origin: string;
  size: number;
  root: Uint8Array;
}

interface EpochEntry {
  origin: string;
  entry: string;
  envelope: Envelope;
  hashes: Uint8Array[];
}

export interface LogParts {
  index: number;
  size: number;
  root: Uint8Array;
  hashes: Uint8Array[];
  leaves: Uint8Array[];
  entry: string;
  integratedTime: number;
  rekor: Tree;
  c2sp: Tree;
  consistency: Consistency;
  epoch: EpochEntry;
}

/** A log that starts with its statement, has some entries of other packages, and ends with this entry. */
export async function logParts(keys: Keys, entry: string, { epoch: change, index = 6, oldSize = Math.min(index, 4) }: LogRecipe): Promise<LogParts> {
  const epoch = epochOf(change);
  const statement = epochStatement(epoch);
  const signature = await keys.package.sign(preAuthEncoding(PAYLOAD_TYPE, statement));
  const envelope = envelopeOf(statement, { keyId: opensshFingerprint(keys.package.spki), signature });
  const first = leafEntry(envelope, pemFromSpki(keys.package.spki));
  const { leaves, lookup } = treeOf(index + 1, (at) => (at === index ? entry : at === 0 ? first : null));
  const size = index + 1;
  const root = rootFrom(size, lookup);
  const consistency =
    oldSize === 0 ? { oldSize: 0 as const } : { oldSize, oldRoot: rootFrom(oldSize, lookup), hashes: consistencyProof(oldSize, size, lookup) };
  const { origin } = epoch;
  return {
    index,
    size,
    root,
    hashes: inclusionProof(index, size, lookup),
    leaves,
    entry,
    integratedTime: 1_772_600_780,
    rekor: { origin: rekorOrigin(origin), size, root },
    c2sp: { origin, size, root },
    consistency,
    epoch: { origin, entry: first, envelope, hashes: inclusionProof(0, size, lookup) },
  };
}

/** The statement that the log starts with. */
export function epochOf(change: LogRecipe['epoch'] | undefined): LogEpoch {
  const at = '2026-01-01T00:00:00.000Z';
  const epoch: LogEpoch = { organization_id: IDS.organization, epoch: 1, origin: ORIGIN, previous: null, lost: null, reason: 'created', backup: null, at };
  change?.(epoch);
  return epoch;
}

/** A tree of the given entries. Where there is none, an entry of another package is made up. */
export function treeOf(size: number, entryAt: (index: number) => string | null) {
  const nodes = new Map<string, Uint8Array>();
  const keyOf = ({ level, index }: NodeId) => `${level}/${index}`;
  const lookup = (node: NodeId) => nodes.get(keyOf(node)) ?? new Uint8Array();
  const leaves = Array.from({ length: size }, (_, at) => {
    const entry = entryAt(at);
    const leaf = entry === null ? sha256(utf8(`an earlier entry ${at}`)) : leafHash(utf8(entry));
    for (const node of nodesAfterAppend(at, leaf, lookup)) nodes.set(keyOf(node), node.hash);
    return leaf;
  });
  return { leaves, lookup };
}

interface BundledEntry {
  index: number;
  size: number;
  root: Uint8Array;
  hashes: Uint8Array[];
  entry: string;
  integratedTime: number;
  envelope: Envelope;
  checkpoint: string;
  timestamps: Uint8Array[];
}

export async function bundleFor({ log: key }: Keys, { envelope, timestamps, ...log }: BundledEntry): Promise<string> {
  const id = logId(key.spki);
  const { entry, integratedTime, index } = log;
  const promise = await key.sign(promiseBytes({ body: Buffer.from(entry).toString('base64'), integratedTime, logId: toHex(id), logIndex: index }));
  return bundleJson({ envelope, timestamps, log: { ...log, logId: id, promise } });
}

export async function rekorNote({ log: key }: Keys, { rekor }: LogParts): Promise<string> {
  const text = checkpointText(rekor);
  return noteWith(text, [{ name: signerOf(rekor.origin), keyId: noteKeyIdEcdsa(key.spki), signature: await key.sign(utf8(text)) }]);
}

export async function c2spNote(key: TestKey, tree: Tree): Promise<string> {
  const text = checkpointText(tree);
  const keyId = noteKeyIdEd25519(tree.origin, ed25519RawFromSpki(key.spki));
  return noteWith(text, [{ name: tree.origin, keyId, signature: await key.sign(utf8(text)) }]);
}
