import {
  bundleJson,
  consistencyText,
  type Envelope,
  ed25519RawFromSpki,
  envelopeOf,
  leafEntry,
  leavesBytes,
  logId,
  MAX_CARRIED_LEAVES,
  PAYLOAD_TYPE,
  preAuthEncoding,
  predicateOf,
  promiseBytes,
  type SuccessionEnvelope,
  spkiFromPem,
  statementBytes,
  successionsText,
  tlogProofText,
  toBase64,
  toHex,
  utf8,
  vkey,
} from '@rrs/evidence-format';
import type { Database, TenantTx } from '../../db/database.ts';
import { readSuccessions, type Signers } from '../keys/keys.ts';
import { signCheckpoint } from '../log/checkpoints.ts';
import { appendMarked } from '../log/open-log.ts';
import {
  type Appended,
  appendLeaf,
  type LogState,
  latestCheckpoint,
  proveConsistency,
  proveInclusion,
  readLeaf,
  readLeafHashes,
  recordCheckpoint,
} from '../log/transparency-log.ts';
import { type Bag, type BagFile, inMemory } from './bag.ts';
import { confirmLease } from './lease.ts';
import type { PackageRow } from './packages.ts';

export interface Signed {
  payload: Uint8Array;
  envelope: Envelope;
  signature: Uint8Array;
}

/** Signs both manifests and the two files that people download alone. */
export async function signBag(signers: Signers, { evidence, payload, tags }: Bag): Promise<Signed> {
  const hashOf = (path: string): string | undefined => [...payload, ...tags].find((file) => file.path === path)?.sha256;
  const pdf = hashOf('data/report.pdf');
  const statement = statementBytes(
    {
      'tagmanifest-sha256.txt': hashOf('tagmanifest-sha256.txt') ?? '',
      'manifest-sha256.txt': hashOf('manifest-sha256.txt') ?? '',
      'data/evidence.json': hashOf('data/evidence.json') ?? '',
      ...(pdf === undefined ? {} : { 'data/report.pdf': pdf }),
    },
    predicateOf(evidence),
  );
  const signature = await signers.package.sign(preAuthEncoding(PAYLOAD_TYPE, statement));
  return { payload: statement, signature, envelope: envelopeOf(statement, { keyId: signers.package.keyId, signature }) };
}

export interface LoggedSignature extends Appended {
  log: LogState;
  entry: string;
}

interface Target {
  row: PackageRow;
  log: LogState;
  keysDir: string;
}

export async function appendSignature(db: Database, signers: Signers, { row, log, keysDir }: Target, { envelope }: Signed): Promise<LoggedSignature> {
  const entry = leafEntry(envelope, signers.package.publicKeyPem);
  const appended = await appendMarked(db, keysDir, log, async (tx) => {
    await confirmLease(tx, row);
    return appendLeaf(tx, log, { packageId: row.id, entry });
  });
  return { log, entry, ...appended };
}

interface EpochLeaf {
  entry: string;
  envelope: Envelope;
  appendedAt: Date;
  inclusion: readonly Uint8Array[];
}

export interface LogProof {
  note: string;
  rekorNote: string;
  inclusion: readonly Uint8Array[];
  consistency: string;
  /** Null above the size up to which packages carry the hashes of all leaves. */
  leaves: Uint8Array | null;
  epoch: EpochLeaf;
  successions: readonly SuccessionEnvelope[];
}

/** The checkpoint is signed between two transactions, so that nobody waits for the log while a key signs. */
export async function buildLogProof(db: Database, signers: Signers, { log, origin, index, size, root }: LoggedSignature): Promise<LogProof> {
  const checkpoint = await signCheckpoint(signers, { origin, size, root });
  return db.withTenant({ orgId: log.orgId }, async (tx) => {
    await recordCheckpoint(tx, log, checkpoint);
    const { hashes } = await proveInclusion(tx, log, index, size);
    const earlier = await latestCheckpoint(tx, log, { below: size });
    const proof = earlier && (await proveConsistency(tx, log, earlier.size, size));
    const consistency = consistencyText(earlier && proof ? { oldSize: earlier.size, oldRoot: proof.oldRoot, hashes: [...proof.hashes] } : { oldSize: 0 });
    const leaves = size <= MAX_CARRIED_LEAVES ? leavesBytes(await readLeafHashes(tx, log, size)) : null;
    const successions = (await readSuccessions(tx)).map(({ envelope }) => envelope);
    return {
      successions,
      note: checkpoint.note,
      rekorNote: checkpoint.rekorNote,
      inclusion: hashes,
      consistency,
      leaves,
      epoch: await readEpochLeaf(tx, log, size),
    };
  });
}

async function readEpochLeaf(tx: TenantTx, log: LogState, size: number): Promise<EpochLeaf> {
  const leaf = await readLeaf(tx, log, 0);
  if (!leaf?.envelope) throw new Error('the transparency log has no statement about its epoch');
  const { hashes } = await proveInclusion(tx, log, 0, size);
  return { entry: leaf.entry, envelope: JSON.parse(leaf.envelope) as Envelope, appendedAt: leaf.appended_at, inclusion: hashes };
}

export interface ProofParts {
  signers: Signers;
  signed: Signed;
  logged: LoggedSignature;
  proof: LogProof;
  timestamps: readonly Uint8Array[];
  sealedAt: Date;
}

interface BundledEntry {
  index: number;
  entry: string;
  envelope: Envelope;
  integratedAt: Date;
  inclusion: readonly Uint8Array[];
  timestamps: readonly Uint8Array[];
}

/** A Sigstore bundle for an entry of the tree that the package is in. */
async function bundleOf(
  { signers, logged, proof }: ProofParts,
  { index, entry, envelope, integratedAt, inclusion, timestamps }: BundledEntry,
): Promise<string> {
  const integratedTime = Math.floor(integratedAt.getTime() / 1000);
  const id = logId(spkiFromPem(signers.log.publicKeyPem));
  const promise = await signers.log.sign(promiseBytes({ body: toBase64(utf8(entry)), integratedTime, logId: toHex(id), logIndex: index }));
  const { root, size } = logged;
  return bundleJson({
    envelope,
    timestamps,
    log: { index, logId: id, integratedTime, promise, root, size, hashes: inclusion, checkpoint: proof.rekorNote, entry },
  });
}

/** The files of proof/, sorted by path. */
export async function proofFiles(parts: ProofParts): Promise<BagFile[]> {
  const { signers, signed, logged, proof, timestamps, sealedAt } = parts;
  const { index, entry } = logged;
  const bundle = await bundleOf(parts, { index, entry, envelope: signed.envelope, integratedAt: sealedAt, inclusion: proof.inclusion, timestamps });
  const epochBundle = await bundleOf(parts, { ...proof.epoch, index: 0, integratedAt: proof.epoch.appendedAt, timestamps: [] });
  const noteKey = ed25519RawFromSpki(spkiFromPem(signers.logNote.publicKeyPem));
  const file = (name: string, mediaType: string, content: string | Uint8Array): BagFile =>
    typeof content === 'string'
      ? inMemory(`proof/${name}`, mediaType, content)
      : { path: `proof/${name}`, mediaType, size: content.length, sha256: '', bytes: content };
  return [
    file('consistency.txt', 'text/plain', proof.consistency),
    file('epoch.sigstore.json', 'application/json', epochBundle),
    ...(proof.leaves === null ? [] : [file('leaves.bin', 'application/octet-stream', proof.leaves)]),
    file('keys/log-note.pem', 'application/x-pem-file', signers.logNote.publicKeyPem),
    file('keys/log-note.vkey', 'text/plain', `${vkey(logged.origin, noteKey)}\n`),
    file('keys/log.pem', 'application/x-pem-file', signers.log.publicKeyPem),
    file('keys/package.pem', 'application/x-pem-file', signers.package.publicKeyPem),
    file('package.sigstore.json', 'application/json', bundle),
    file('package.tlog-proof', 'text/plain', tlogProofText({ index: logged.index, hashes: [...proof.inclusion], checkpoint: proof.note })),
    ...(proof.successions.length === 0 ? [] : [file('succession.json', 'application/json', successionsText(proof.successions))]),
    file('statement.json', 'application/json', signed.payload),
    ...timestamps.map((timestamp, index) => file(index === 0 ? 'timestamp.tsr' : `timestamp-${index + 1}.tsr`, 'application/timestamp-reply', timestamp)),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}
