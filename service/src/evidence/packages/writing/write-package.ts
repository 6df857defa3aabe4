import { PACKAGE_FORMATS, type PackageFormat, REQUIRED_FORMATS, type RenderContext } from '@rrs/evidence-format';
import type { BlobStore } from '../../../blobs/blobs.ts';
import type { Database } from '../../../db/database.ts';
import { recordSealedArtifacts } from '../../artifacts/artifacts.ts';
import { buildEvidence } from '../../content/build-evidence.ts';
import { readSnapshot, repeatableRead, type Snapshot } from '../../content/snapshot.ts';
import { possibleFormats } from '../../formats/formats.ts';
import type { LogState } from '../../log/transparency-log.ts';
import { type Bag, writeBag } from '../bag.ts';
import type { PackageRow } from '../packages.ts';

/** The package to write. All of it can be sent to a child process. */
export interface WriteTask {
  row: PackageRow;
  /** Fingerprints of the keys that will sign it. */
  keys: RenderContext['keys'];
  log: Pick<LogState, 'origin' | 'epoch' | 'createdAt'>;
  version: string;
  build: string | null;
  timestamped: boolean;
  /** Whether all witnesses confirmed the log just before the snapshot. The package is written before they confirm its own entry. */
  witnessed: boolean | null;
}

export interface WritingHost {
  put: BlobStore['put'];
  isStored(sha256: string): Promise<boolean>;
  /** Called before each of the two steps. */
  onStep(step: 'freeze' | 'write'): Promise<void>;
}

export interface Written {
  bag: Bag;
  asOf: Date;
  generatedAt: Date;
}

/** Everything that costs time in proportion to the number of findings. */
export type PackageWriter = (db: Database, task: WriteTask, host: WritingHost) => Promise<Written>;

/** Reads what the package states, and writes its files into the blob store. The snapshot is large, so no reference to it leaves this function. */
export const writePackage: PackageWriter = async (db, task, host) => {
  const { row } = task;
  await host.onStep('freeze');
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
  await host.onStep('write');
  const generatedAt = new Date();
  return { bag: await bagOf(host, task, { snapshot, generatedAt }), asOf: snapshot.asOf, generatedAt };
};

async function bagOf(host: WritingHost, task: WriteTask, { snapshot, generatedAt }: { snapshot: Snapshot; generatedAt: Date }): Promise<Bag> {
  const { row, keys, ...settings } = task;
  const storedReports = new Set<string>();
  for (const { sha256 } of snapshot.scans) if (await host.isStored(sha256)) storedReports.add(sha256);
  const wanted: readonly PackageFormat[] = row.formats.length > 0 ? [...REQUIRED_FORMATS, ...(row.formats as PackageFormat[])] : PACKAGE_FORMATS;
  const formats = possibleFormats(wanted, snapshot);
  const evidence = buildEvidence(row, snapshot, { ...settings, generatedAt, storedReports, formats: formats.map(({ format }) => format) });
  const approvedStates = new Map(snapshot.approvedStates.map(({ digest, lines }) => [digest, lines]));
  return writeBag(host, { evidence, keys, formats, trail: snapshot.trail.pieces, approvedStates });
}
