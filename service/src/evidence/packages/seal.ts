import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { ed25519RawFromSpki, opensshFingerprint, spkiFromPem, topFolder, vkey, witnessVkey, writeZip, type ZipEntry } from '@rrs/evidence-format';
import { emptyTrust } from '@rrs/verifier';
import type { BlobRef, BlobStore } from '../../blobs/blobs.ts';
import type { Database } from '../../db/database.ts';
import { openSigners, type Signers } from '../keys/keys.ts';
import { logName } from '../log/checkpoints.ts';
import { contradictionIn, cosign } from '../log/cosign.ts';
import { endContradicted, openLog } from '../log/open-log.ts';
import { LogRestarted, type LogState } from '../log/transparency-log.ts';
import type { Witness, WitnessAnswer } from '../log/witnesses.ts';
import { verifyStored } from '../verify/verify-stored.ts';
import type { Bag, BagFile } from './bag.ts';
import type { PackageRow } from './packages.ts';
import { appendSignature, buildLogProof, type LoggedSignature, proofFiles, signBag } from './proof.ts';
import { requestTimestamps, type TimestampAuthorities } from './timestamps.ts';
import { type PackageWriter, type Written, writePackage } from './writing/write-package.ts';

/** The steps of sealing, in order. A crash between any two of them leaves no partial package. */
export const sealingSteps = ['freeze', 'write', 'sign', 'log', 'checkpoint', 'timestamp', 'archive', 'verify', 'publish'] as const;
export type SealingStep = (typeof sealingSteps)[number];

export interface Sealing {
  db: Database;
  blobs: BlobStore;
  keysDir: string;
  publicUrl: () => string;
  version: string;
  /** SHA-256 over the files of the program. Null if it is not known. */
  build: Promise<string | null> | null;
  authorities: TimestampAuthorities | null;
  witnesses: readonly Witness[];
  /** How the files of the package are written. By default on the event loop of the caller. */
  write?: PackageWriter;
  /** Called before each step. Tests use it to interrupt sealing. */
  onStep?: (step: SealingStep) => Promise<void>;
}

export interface Sealed {
  bag: Bag;
  archive: BlobRef;
  asOf: Date;
  generatedAt: Date;
  logged: LoggedSignature;
  keyId: string;
  timestamps: number;
  witnesses: WitnessAnswer[];
}

/** After this many attempts, a witness that still contradicts the log counts as one that did not answer. */
const ATTEMPTS_WITH_WITNESSES = 3;

/** Does everything except publishing, for which the caller uses one transaction. */
export async function sealPackage(sealing: Sealing, row: PackageRow, { withoutTimestamps = false } = {}): Promise<Sealed> {
  const { db, blobs, onStep = async () => {} } = sealing;
  const orgId = row.org_id;
  const authorities = withoutTimestamps ? null : sealing.authorities;
  const signers = await openSigners(db, sealing.keysDir);
  const { keysDir, witnesses } = sealing;
  const { log, answers } = await openLog({ db, keysDir, signers, name: logName(sealing.publicUrl(), orgId), witnesses }, orgId);
  const { bag, asOf, generatedAt } = await write(sealing, row, {
    signers,
    log,
    timestamped: authorities !== null,
    witnessed: witnesses.length === 0 ? null : missingIn(answers).length === 0,
  });

  await onStep('sign');
  const signed = await signBag(signers, bag);

  await onStep('log');
  const logged = await appendSignature(db, signers, { row, log, keysDir }, signed);

  await onStep('checkpoint');
  const proof = await buildLogProof(db, signers, logged);
  const confirmed = await cosign({ db, witnesses }, log, { size: logged.size, note: proof.note });
  const contradiction = contradictionIn(confirmed);
  if (contradiction !== null && row.attempts <= ATTEMPTS_WITH_WITNESSES) {
    await endContradicted(db, log, contradiction);
    throw new LogRestarted(`the witness ${contradiction.witness} has seen another log`);
  }

  await onStep('timestamp');
  const timestamps = authorities ? await requestTimestamps(authorities, signed.signature) : [];

  await onStep('archive');
  const proofs = await proofFiles({
    signers,
    signed,
    logged,
    proof: { ...proof, note: withCosignatures(proof.note, confirmed) },
    timestamps,
    sealedAt: new Date(),
  });
  const archive = await blobs.put(writeZip(entriesOf(blobs, folderOf(row), [...bag.payload, ...bag.tags, ...proofs]), { crc32 }));

  await onStep('verify');
  const trust = { packageKeys: [signers.package.publicKeyPem], logKeys: [signers.log.publicKeyPem], noteKeys: [signers.logNote.publicKeyPem] };
  const witnessKeys = witnesses.filter(({ name }) => !missingIn(confirmed).includes(name)).map(witnessVkey);
  const report = await verifyStored(blobs, archive, { ...emptyTrust(), ...trust, witnessKeys, timestampRoots: authorities ? [authorities.certificates] : [] });
  if (report.verdict !== 'verified')
    throw new Error(
      `the sealed package does not verify: ${report.failures.map(({ code, file, detail }) => `${code} ${file} ${detail}`).join('; ') || report.verdict}`,
    );
  return { bag, archive, asOf, generatedAt, logged, keyId: signers.package.keyId, timestamps: timestamps.length, witnesses: confirmed };
}

function missingIn(answers: readonly WitnessAnswer[]): string[] {
  return answers.flatMap(({ witness, outcome }) => (outcome === 'cosigned' ? [] : [witness]));
}

/** C2SP notes carry the signatures of witnesses after that of the log. */
function withCosignatures(note: string, answers: readonly WitnessAnswer[]): string {
  return note + answers.map((answer) => (answer.outcome === 'cosigned' ? answer.line : '')).join('');
}

export function folderOf({ work_item_id, sequence }: Pick<PackageRow, 'work_item_id' | 'sequence'>): string {
  return topFolder(work_item_id, sequence);
}

interface SealingContext {
  signers: Signers;
  log: LogState;
  timestamped: boolean;
  witnessed: boolean | null;
}

async function write(sealing: Sealing, row: PackageRow, { signers, log, ...context }: SealingContext): Promise<Written> {
  const { db, blobs, version, onStep = async () => {}, write: writer = writePackage } = sealing;
  const { origin, epoch, createdAt } = log;
  const keys = {
    package: opensshFingerprint(spkiFromPem(signers.package.publicKeyPem)),
    log: opensshFingerprint(spkiFromPem(signers.log.publicKeyPem)),
    note: vkey(origin, ed25519RawFromSpki(spkiFromPem(signers.logNote.publicKeyPem))),
  };
  const task = { row, keys, log: { origin, epoch, createdAt }, version, build: await sealing.build, ...context };
  return writer(db, task, { put: (content) => blobs.put(content), isStored: async (sha256) => (await blobs.stat(sha256)) !== null, onStep });
}

function* entriesOf(blobs: BlobStore, folder: string, files: readonly BagFile[]): Generator<ZipEntry> {
  for (const { path, sha256, size, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const name = `${folder}/${path}`;
    // The hash is not compared here: the verification of the finished archive does that before it is published.
    yield bytes ? { name, content: bytes } : { name, content: size === 0 ? Readable.from([]) : blobs.pieces(sha256, { start: 0, end: size - 1 }), size };
  }
}
