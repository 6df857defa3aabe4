import { canonicalJson, leafEntry, type PackageStatus, packageStatusStatement } from '@rrs/evidence-format';
import { sql } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import { AppError } from '../../shared/errors.ts';
import { openSigners, type Signers } from '../keys/keys.ts';
import { logName, signCheckpoint } from '../log/checkpoints.ts';
import { contradictionIn, cosign } from '../log/cosign.ts';
import { appendMarked, endContradicted, openLog, signStatement } from '../log/open-log.ts';
import { type Appended, appendLeaf, type LogState, latestCheckpoint, recordCheckpoint } from '../log/transparency-log.ts';
import type { Witness } from '../log/witnesses.ts';
import type { PackageRow } from './packages.ts';
import { unloggedPackages } from './supersede.ts';

/** What the service knows about a sealed package now. */
export async function readStatus(tx: TenantTx, row: PackageRow): Promise<Uint8Array> {
  const { id, org_id: orgId, sequence, log_epoch: epoch, log_size, log_root, generated_at, superseded_at, tagmanifest_sha256 } = row;
  if (epoch === null || log_root === null || generated_at === null || tagmanifest_sha256 === null)
    throw new AppError('conflict', `The package "${id}" is not sealed, so it has no status statement. Its status is "${row.status}".`);
  const latest = (await latestCheckpoint(tx, { orgId, epoch })) ?? { size: Number(log_size), root: log_root };
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(tx);
  const status: PackageStatus = {
    package_id: id,
    epoch,
    sequence,
    status: superseded_at === null ? 'ready' : 'superseded',
    by: row.superseded_by,
    reason: row.superseded_reason,
    since: (superseded_at ?? generated_at).toISOString(),
    as_of: (rows[0]?.now ?? new Date()).toISOString(),
    log: { size: latest.size, root: latest.root.toString('hex') },
  };
  return packageStatusStatement(tagmanifest_sha256, status);
}

interface Logging {
  db: Database;
  keysDir: string;
  publicUrl: () => string;
  witnesses: readonly Witness[];
}

const BATCH = 100;

/** Adds a signed statement to the log for each superseded package that has none, and then signs a checkpoint. */
export async function logSuperseded({ db, keysDir, publicUrl, witnesses }: Logging, orgId: string): Promise<void> {
  const signers = await openSigners(db, keysDir);
  const pending = () => db.withTenant({ orgId }, (tx) => unloggedPackages(tx, orgId, BATCH));
  for (let rows = await pending(); rows.length > 0; rows = await pending()) {
    const { log } = await openLog({ db, keysDir, signers, name: logName(publicUrl(), orgId), witnesses }, orgId);
    let last: Appended | null = null;
    for (const row of rows) last = await logStatus({ db, keysDir, signers, log }, row);
    if (last === null) continue;
    const checkpoint = await signCheckpoint(signers, last);
    await db.withTenant({ orgId }, (tx) => recordCheckpoint(tx, log, checkpoint));
    const contradiction = contradictionIn(await cosign({ db, witnesses }, log, checkpoint));
    if (contradiction !== null) await endContradicted(db, log, contradiction);
  }
}

interface OpenedLog {
  db: Database;
  keysDir: string;
  signers: Signers;
  log: LogState;
}

async function logStatus({ db, keysDir, signers, log }: OpenedLog, row: PackageRow): Promise<Appended> {
  const statement = await db.withTenant({ orgId: row.org_id }, (tx) => readStatus(tx, row));
  const envelope = await signStatement(signers, statement);
  const entry = leafEntry(envelope, signers.package.publicKeyPem);
  return appendMarked(db, keysDir, log, async (tx) => {
    const appended = await appendLeaf(tx, log, { packageId: null, entry, envelope: canonicalJson(envelope) });
    const { numUpdatedRows } = await tx
      .updateTable('evidence_packages')
      .set({ superseded_epoch: log.epoch, superseded_index: String(appended.index) })
      .where('org_id', '=', row.org_id)
      .where('id', '=', row.id)
      .where('superseded_index', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Error(`another worker added the status of package ${row.id} to the log`);
    return appended;
  });
}
