import { type RawBuilder, sql } from 'kysely';
import { recordAuditSql } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import { findingFacts } from '../../findings/relations.ts';
import { enqueue } from '../../jobs/jobs.ts';
import type { Actor } from '../../shared/actor.ts';
import { logSupersededJob } from '../jobs.ts';

/** Supersedes packages that report a finding as closed when the finding is reopened. They still verify for their date but are no longer current. */
export function followWithPackages(others: FindingFollower): FindingFollower {
  return {
    ...others,
    async follow(tx, actor, ids) {
      await others.follow(tx, actor, ids);
      await supersedeReopened(tx, actor, ids);
      await queueLogEntries(tx, actor.orgId);
    },
  };
}

const REASON = 'A finding that this package reports as closed was reopened.';

async function supersedeReopened(tx: TenantTx, actor: Actor, ids: RawBuilder<unknown>): Promise<void> {
  const { orgId } = actor;
  const data = sql`jsonb_build_object('work_item_id', work_item_id, 'sequence', sequence, 'reason', ${REASON}::text)`;
  await sql`
    with reopened as (
      select distinct p.package_id
      from package_findings p join ${findingFacts} f on f.org_id = ${orgId} and f.id = p.finding_id and f.status in ('open', 'in_progress')
      where p.org_id = ${orgId} and p.finding_id in (${ids}) and p.state not in ('open', 'in_progress')
    ), marked as (
      update evidence_packages e set status = 'superseded', superseded_at = now(), superseded_reason = ${REASON}
      from reopened where e.org_id = ${orgId} and e.id = reopened.package_id and e.status = 'ready'
      returning e.id, e.work_item_id, e.sequence
    ), audited as (${recordAuditSql(actor, { action: 'package.superseded', objectType: 'evidence_package' }, sql`select id::text as object_id, null::jsonb as before, ${data} as after from marked`)})
    ${emitSql(orgId, 'package.superseded', sql`select id::text as subject, ${data} as data from marked`)}`.execute(tx);
}

/** Superseded packages of which the transparency log does not say so yet, oldest first. */
export function unloggedPackages(tx: TenantTx, orgId: string, limit: number) {
  return tx
    .selectFrom('evidence_packages')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('status', '=', 'superseded')
    .where('superseded_index', 'is', null)
    .orderBy('superseded_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Call after packages may have been superseded. */
export async function queueLogEntries(tx: TenantTx, orgId: string): Promise<void> {
  const pending = await unloggedPackages(tx, orgId, 1);
  if (pending.length > 0) await enqueue(tx, logSupersededJob, { org_id: orgId }, { key: `log superseded packages ${orgId}` });
}

interface ItemRef {
  org_id: string;
  work_item_id: string;
}

interface PackageRef extends ItemRef {
  id: string;
  sequence: number;
}

/** Sequences are assigned, and packages published, one at a time per work item. */
export async function lockPackagesOfItem(tx: TenantTx, workItemId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`packages ${workItemId}`}, 0))`.execute(tx);
}

/**
 * Locks the findings and compares them with the states that the package claims. Returns the difference, or `null` if there is none.
 * Threat: a finding that is reopened while its package is sealed. `supersedeReopened` does not see a package before it is published, so
 * either this lock waits for that change, or that change waits for the publication.
 */
export async function lockAndCompare(tx: TenantTx, orgId: string, claimed: readonly { id: string; state: string }[]): Promise<string | null> {
  const { rows } = await sql<{ id: string; title: string; status: string }>`
    select f.id, f.title, f.status from ${findingFacts} f
    where f.org_id = ${orgId} and f.id = any(${claimed.map(({ id }) => id)}::uuid[])
    order by f.id for share`.execute(tx);
  const current = new Map(rows.map((row) => [row.id, row]));
  const changed = claimed.flatMap(({ id, state }) => {
    const finding = current.get(id);
    if (finding?.status === state) return [];
    return [finding ? `"${finding.title}" from ${state} to ${finding.status}` : `${id} from ${state} to deleted`];
  });
  if (changed.length === 0) return null;
  const named = changed.slice(0, MAX_NAMED).join(', ');
  const more = changed.length > MAX_NAMED ? ` and ${changed.length - MAX_NAMED} more` : '';
  return `While this package was sealed, ${changed.length === 1 ? 'a finding' : `${changed.length} findings`} changed: ${named}${more}.`;
}

const MAX_NAMED = 5;

export function replacedBy(sequence: number): string {
  return `Package ${sequence} of the same work item replaced it.`;
}

/** The newest published package of the work item, or the newest one below a sequence. */
export async function newestPublished(tx: TenantTx, { org_id, work_item_id }: ItemRef, { below }: { below?: number } = {}) {
  let query = tx
    .selectFrom('evidence_packages')
    .select(['id', 'sequence'])
    .where('org_id', '=', org_id)
    .where('work_item_id', '=', work_item_id)
    .where('archive_sha256', 'is not', null);
  if (below !== undefined) query = query.where('sequence', '<', below);
  return (await query.orderBy('sequence', 'desc').limit(1).executeTakeFirst()) ?? null;
}

export async function supersedeEarlier(tx: TenantTx, { org_id, id, work_item_id, sequence }: PackageRef): Promise<void> {
  await tx
    .updateTable('evidence_packages')
    .set({ status: 'superseded', superseded_at: sql<Date>`now()`, superseded_by: id, superseded_reason: replacedBy(sequence) })
    .where('org_id', '=', org_id)
    .where('work_item_id', '=', work_item_id)
    .where('status', '=', 'ready')
    .where('sequence', '<', sequence)
    .execute();
}

export async function supersedePackage(tx: TenantTx, { org_id, id }: PackageRef, { by, reason }: { by: string | null; reason: string }): Promise<void> {
  await tx
    .updateTable('evidence_packages')
    .set({ status: 'superseded', superseded_at: sql<Date>`now()`, superseded_by: by, superseded_reason: reason })
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .execute();
}
