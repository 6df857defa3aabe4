import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import { lockReportFiles } from '../../findings/import/report-files.ts';
import { systemActor } from '../../shared/actor.ts';
import { publishLeaf } from '../log/transparency-log.ts';
import { LeaseLost } from './lease.ts';
import type { PackageFile, PackageRow } from './packages.ts';
import type { Sealed } from './seal.ts';
import { lockAndCompare, lockPackagesOfItem, newestPublished, queueLogEntries, replacedBy, supersedeEarlier, supersedePackage } from './supersede.ts';

/**
 * Makes the sealed package visible and supersedes the earlier packages of the work item. The package itself is superseded at once if a later
 * one was published first, or if a finding changed while it was sealed.
 */
export async function publishPackage(
  tx: TenantTx,
  row: PackageRow,
  { bag, archive, asOf, generatedAt, logged, keyId, timestamps, witnesses }: Sealed,
): Promise<void> {
  const { org_id: orgId, id, work_item_id } = row;
  const { evidence, payload, tags } = bag;
  await keepReports(tx, orgId, evidence.scans);
  const outdated = await lockAndCompare(tx, orgId, evidence.findings);
  await lockPackagesOfItem(tx, work_item_id);
  const hashOf = (path: string): string | null => tags.find((file) => file.path === path)?.sha256 ?? null;
  const files: PackageFile[] = payload.map(({ path, size, sha256, mediaType }) => ({ path, size, sha256, media_type: mediaType }));
  const { numUpdatedRows } = await tx
    .updateTable('evidence_packages')
    .set({
      status: 'ready',
      as_of: asOf,
      generated_at: generatedAt,
      generation_ms: sql<number>`least(extract(epoch from clock_timestamp() - requested_at) * 1000, 2147483647)::int`,
      conclusion: evidence.conclusion,
      grade: evidence.completeness.grade,
      gaps: JSON.stringify(evidence.completeness.gaps),
      counts: JSON.stringify(evidence.counts),
      archive_sha256: archive.sha256,
      archive_size: String(archive.size),
      manifest_sha256: hashOf('manifest-sha256.txt'),
      tagmanifest_sha256: hashOf('tagmanifest-sha256.txt'),
      key_id: keyId,
      log_epoch: logged.log.epoch,
      log_index: String(logged.index),
      log_size: String(logged.size),
      log_root: logged.root,
      leaf_hash: sql<Buffer>`(select leaf_hash from log_leaves where org_id = ${orgId} and epoch = ${logged.log.epoch} and index = ${logged.index})`,
      timestamps: JSON.stringify(
        Array.from({ length: timestamps }, (_, index) => ({ file: index === 0 ? 'proof/timestamp.tsr' : `proof/timestamp-${index + 1}.tsr` })),
      ),
      witnesses: JSON.stringify(witnesses.map((answer) => ({ name: answer.witness, cosigned_at: answer.outcome === 'cosigned' ? answer.at : null }))),
      files: JSON.stringify(files),
    })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('status', '=', 'generating')
    .where('attempts', '=', row.attempts)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLost();
  await publishLeaf(tx, logged.log, logged.index);
  await recordContents(tx, row, [archive.sha256, ...payload.filter(({ bytes }) => bytes === null).map(({ sha256 }) => sha256)], evidence.findings);
  await supersedeEarlier(tx, row);
  const after = {
    work_item_id,
    sequence: row.sequence,
    archive_sha256: archive.sha256,
    tagmanifest_sha256: hashOf('tagmanifest-sha256.txt'),
    log_index: logged.index,
    conclusion: evidence.conclusion,
    grade: evidence.completeness.grade,
  };
  await auditAndEmit(tx, row, 'package.ready', after);
  const newest = await newestPublished(tx, row);
  const later = newest !== null && newest.sequence > row.sequence ? newest : null;
  if (later !== null || outdated !== null) {
    const by = later?.id ?? null;
    const reason = later ? replacedBy(later.sequence) : (outdated ?? '');
    await supersedePackage(tx, row, { by, reason });
    await auditAndEmit(tx, row, 'package.superseded', { work_item_id, sequence: row.sequence, reason });
  }
  await queueLogEntries(tx, orgId);
}

/** Threat: a report that was deleted while the package was sealed would stay in it for good. The next attempt leaves it out and says so. */
async function keepReports(tx: TenantTx, orgId: string, scans: Sealed['bag']['evidence']['scans']): Promise<void> {
  const carried = scans.filter(({ file }) => file !== null).map(({ id }) => id);
  const [deleted] = await lockReportFiles(tx, orgId, carried);
  if (deleted !== undefined) throw new Error(`the file of the import ${deleted} was deleted while the package was sealed`);
}

async function recordContents(
  tx: TenantTx,
  { org_id, id }: PackageRow,
  blobs: readonly string[],
  findings: readonly { id: string; state: string }[],
): Promise<void> {
  await sql`insert into package_blobs (org_id, package_id, sha256) select ${org_id}, ${id}, unnest(${[...new Set(blobs)]}::text[])`.execute(tx);
  await sql`
    insert into package_findings (org_id, package_id, finding_id, state)
    select ${org_id}, ${id}, * from unnest(${findings.map((finding) => finding.id)}::uuid[], ${findings.map(({ state }) => state)}::text[])`.execute(tx);
}

export async function failPackage(tx: TenantTx, row: PackageRow, error: string): Promise<void> {
  await tx
    .updateTable('evidence_packages')
    .set({ status: 'failed', error })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .where('status', '=', 'generating')
    .execute();
  await auditAndEmit(tx, row, 'package.failed', { work_item_id: row.work_item_id, sequence: row.sequence, error });
}

async function auditAndEmit(tx: TenantTx, { org_id: orgId, id }: PackageRow, action: EventType, after: Record<string, unknown>): Promise<void> {
  await recordAudit(tx, systemActor(orgId, 'worker'), { action, objectType: 'evidence_package', objectId: id, after });
  await emit(tx, orgId, { type: action, subject: id, data: after });
}
