import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import {
  ed25519RawFromSpki,
  opensshFingerprint,
  PACKAGE_FORMATS,
  type PackageFormat,
  REQUIRED_FORMATS,
  spkiFromPem,
  topFolder,
  vkey,
  witnessVkey,
  writeZip,
  type ZipEntry,
} from '@rrs/evidence-format';
import { emptyTrust } from '@rrs/verifier';
import type { BlobRef, BlobStore } from '../../blobs/blobs.ts';
import type { Database } from '../../db/database.ts';
import { recordSealedArtifacts } from '../artifacts/artifacts.ts';
import { buildEvidence } from '../content/build-evidence.ts';
import { readSnapshot, repeatableRead, type Snapshot } from '../content/snapshot.ts';
import { possibleFormats } from '../formats/formats.ts';
import { openSigners, type Signers } from '../keys/keys.ts';
import { logName } from '../log/checkpoints.ts';
import { contradictionIn, cosign } from '../log/cosign.ts';
import { endContradicted, openLog } from '../log/open-log.ts';
import { LogRestarted, type LogState } from '../log/transparency-log.ts';
import type { Witness, WitnessAnswer } from '../log/witnesses.ts';
import { verifyStored } from '../verify/verify-stored.ts';
import { type Bag, type BagFile, writeBag } from './bag.ts';
import type { PackageRow, PackageToBuild } from './packages.ts';
import { appendSignature, buildLogProof, type LoggedSignature, proofFiles, signBag } from './proof.ts';
import { requestTimestamps, type TimestampAuthorities } from './timestamps.ts';

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
  const { bag, asOf, generatedAt } = await writeSnapshot(sealing, row, {
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
  /** Whether all witnesses confirmed the log just before the snapshot. The package is written before they confirm its own entry. */
  witnessed: boolean | null;
}

/** The snapshot is large, so no reference to it leaves this function. */
async function writeSnapshot(sealing: Sealing, row: PackageRow, context: SealingContext): Promise<{ bag: Bag; asOf: Date; generatedAt: Date }> {
  const { db, onStep = async () => {} } = sealing;
  await onStep('freeze');
  const snapshot = await db.withTenant({ orgId: row.org_id }, async (tx) => {
    await repeatableRead(tx);
    const read = await readSnapshot(tx, row);
    const kept = read.artifacts.filter(({ sha256, removal }) => sha256 !== null && removal === null);
    await recordSealedArtifacts(
      tx,
      row.org_id,
      row.id,
      kept.map(({ id }) => id),
    );
    return read;
  });
  await onStep('write');
  const generatedAt = new Date();
  return { bag: await bagOf(sealing, row, { ...context, snapshot, generatedAt }), asOf: snapshot.asOf, generatedAt };
}

interface SnapshotContext extends SealingContext {
  snapshot: Snapshot;
  generatedAt: Date;
}

async function bagOf(
  { blobs, version, build }: Sealing,
  row: PackageRow,
  { snapshot, signers, log, generatedAt, timestamped, witnessed }: SnapshotContext,
): Promise<Bag> {
  const { evidence, formats } = await evidenceOf(blobs, row, snapshot, { generatedAt, version, build: await build, timestamped, witnessed, log });
  const keys = {
    package: opensshFingerprint(spkiFromPem(signers.package.publicKeyPem)),
    log: opensshFingerprint(spkiFromPem(signers.log.publicKeyPem)),
    note: vkey(log.origin, ed25519RawFromSpki(spkiFromPem(signers.logNote.publicKeyPem))),
  };
  const approvedStates = new Map(snapshot.approvedStates.map(({ digest, lines }) => [digest, lines]));
  return writeBag(blobs, { evidence, keys, formats, trail: snapshot.trail.lines, approvedStates });
}

type EvidenceSettings = Omit<Parameters<typeof buildEvidence>[2], 'formats' | 'storedReports'>;

/** What the package states, and the formats that it has. */
async function evidenceOf(blobs: BlobStore, row: PackageToBuild, snapshot: Snapshot, settings: EvidenceSettings) {
  const storedReports = new Set<string>();
  for (const { sha256 } of snapshot.scans) if (await blobs.stat(sha256)) storedReports.add(sha256);
  const wanted: readonly PackageFormat[] = row.formats.length > 0 ? [...REQUIRED_FORMATS, ...(row.formats as PackageFormat[])] : PACKAGE_FORMATS;
  const formats = possibleFormats(wanted, snapshot);
  return { evidence: buildEvidence(row, snapshot, { ...settings, storedReports, formats: formats.map(({ format }) => format) }), formats };
}

function* entriesOf(blobs: BlobStore, folder: string, files: readonly BagFile[]): Generator<ZipEntry> {
  for (const { path, sha256, size, bytes } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const name = `${folder}/${path}`;
    // The hash is not compared here: the verification of the finished archive does that before it is published.
    yield bytes ? { name, content: bytes } : { name, content: size === 0 ? Readable.from([]) : blobs.pieces(sha256, { start: 0, end: size - 1 }), size };
  }
}
