import {
  bundleJson,
  consistencyText,
  type Envelope,
  ed25519RawFromSpki,
  envelopeOf,
  leafEntry,
  logId,
  PAYLOAD_TYPE,
  preAuthEncoding,
  predicateOf,
  promiseBytes,
  spkiFromPem,
  statementBytes,
  tlogProofText,
  toBase64,
  toHex,
  utf8,
  vkey,
} from '@rrs/evidence-format';
import type { Database } from '../../db/database.ts';
import type { Signers } from '../keys/keys.ts';
import { signCheckpoint } from '../log/checkpoints.ts';
import { type Appended, appendLeaf, latestCheckpoint, proveConsistency, proveInclusion, recordCheckpoint } from '../log/transparency-log.ts';
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
  entry: string;
}

export async function appendSignature(
  db: Database,
  signers: Signers,
  { row, origin }: { row: PackageRow; origin: string },
  { envelope }: Signed,
): Promise<LoggedSignature> {
  const entry = leafEntry(envelope, signers.package.publicKeyPem);
  const { org_id: orgId, id: packageId } = row;
  const appended = await db.withTenant({ orgId }, async (tx) => {
    await confirmLease(tx, row);
    return appendLeaf(tx, orgId, { origin, packageId, entry });
  });
  return { entry, ...appended };
}

export interface LogProof {
  note: string;
  rekorNote: string;
  inclusion: readonly Uint8Array[];
  consistency: string;
}

/** The checkpoint is signed between two transactions, so that nobody waits for the log while a key signs. */
export async function buildLogProof(db: Database, signers: Signers, orgId: string, { origin, index, size, root }: LoggedSignature): Promise<LogProof> {
  const checkpoint = await signCheckpoint(signers, { origin, size, root });
  return db.withTenant({ orgId }, async (tx) => {
    await recordCheckpoint(tx, orgId, checkpoint);
    const { hashes } = await proveInclusion(tx, orgId, index, size);
    const earlier = await latestCheckpoint(tx, orgId, { below: size });
    const proof = earlier && (await proveConsistency(tx, orgId, earlier.size, size));
    const consistency = consistencyText(earlier && proof ? { oldSize: earlier.size, oldRoot: proof.oldRoot, hashes: [...proof.hashes] } : { oldSize: 0 });
    return { note: checkpoint.note, rekorNote: checkpoint.rekorNote, inclusion: hashes, consistency };
  });
}

export interface ProofParts {
  signers: Signers;
  signed: Signed;
  logged: LoggedSignature;
  proof: LogProof;
  timestamps: readonly Uint8Array[];
  sealedAt: Date;
}

/** The files of proof/, sorted by path. */
export async function proofFiles({ signers, signed, logged, proof, timestamps, sealedAt }: ProofParts): Promise<BagFile[]> {
  const integratedTime = Math.floor(sealedAt.getTime() / 1000);
  const id = logId(spkiFromPem(signers.log.publicKeyPem));
  const promise = await signers.log.sign(promiseBytes({ body: toBase64(utf8(logged.entry)), integratedTime, logId: toHex(id), logIndex: logged.index }));
  const bundle = bundleJson({
    envelope: signed.envelope,
    timestamps,
    log: {
      index: logged.index,
      logId: id,
      integratedTime,
      promise,
      root: logged.root,
      size: logged.size,
      hashes: proof.inclusion,
      checkpoint: proof.rekorNote,
      entry: logged.entry,
    },
  });
  const noteKey = ed25519RawFromSpki(spkiFromPem(signers.logNote.publicKeyPem));
  const file = (name: string, mediaType: string, content: string | Uint8Array): BagFile =>
    typeof content === 'string'
      ? inMemory(`proof/${name}`, mediaType, content)
      : { path: `proof/${name}`, mediaType, size: content.length, sha256: '', bytes: content };
  return [
    file('consistency.txt', 'text/plain', proof.consistency),
    file('keys/log-note.pem', 'application/x-pem-file', signers.logNote.publicKeyPem),
    file('keys/log-note.vkey', 'text/plain', `${vkey(logged.origin, noteKey)}\n`),
    file('keys/log.pem', 'application/x-pem-file', signers.log.publicKeyPem),
    file('keys/package.pem', 'application/x-pem-file', signers.package.publicKeyPem),
    file('package.sigstore.json', 'application/json', bundle),
    file('package.tlog-proof', 'text/plain', tlogProofText({ index: logged.index, hashes: [...proof.inclusion], checkpoint: proof.note })),
    file('statement.json', 'application/json', signed.payload),
    ...timestamps.map((timestamp, index) => file(index === 0 ? 'timestamp.tsr' : `timestamp-${index + 1}.tsr`, 'application/timestamp-reply', timestamp)),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}
