import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { endSightings } from '../endings/end-sightings.ts';
import type { FindingFollower } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { STALE_DAYS } from '../stale.ts';
import { activeStatuses } from '../status.ts';

export interface SourceRow {
  id: string;
  kind: 'manual' | 'import' | 'connection';
  provider: string;
  tool: string;
  name: string;
  path: string;
  first_scan: Date | null;
  last_scan: Date | null;
  open_findings: number;
  stale: boolean;
  retired_at: Date | null;
  retired_by: string | null;
  retired_reason: string | null;
  created_at: Date;
}

function sourcesSql(orgId: string) {
  return sql<SourceRow>`(
    select o.id, o.kind, o.provider, o.tool, o.name, o.path, scans.first_scan, scans.last_scan, coalesce(open.count, 0)::int as open_findings,
      (o.kind <> 'manual' and o.retired_at is null and coalesce(scans.last_scan, o.created_at) < now() - make_interval(days => ${STALE_DAYS})) as stale,
      o.retired_at, o.retired_by, o.retired_reason, o.created_at
    from sources o
    left join (
      select runs.source_id, min(runs.started_at) as first_scan, max(runs.ended_at) as last_scan from run_assets runs where runs.org_id = ${orgId} group by 1
    ) scans on scans.source_id = o.id
    left join (
      select s.source_id, count(distinct s.finding_id) as count from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
      where s.org_id = ${orgId} and s.state = 'present' and f.status = any(${activeStatuses as readonly string[]}) and f.listed group by 1
    ) open on open.source_id = o.id
    where o.org_id = ${orgId})`;
}

export function listSources(tx: TenantTx, orgId: string, { retired, stale }: { retired?: boolean; stale?: boolean }, page: PageRequest) {
  let query = tx.selectFrom(sourcesSql(orgId).as('sources')).selectAll();
  if (retired !== undefined) query = query.where('retired_at', retired ? 'is not' : 'is', null);
  if (stale !== undefined) query = query.where('stale', '=', stale);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

async function readSource(tx: TenantTx, orgId: string, id: string): Promise<SourceRow> {
  const source = await tx.selectFrom(sourcesSql(orgId).as('sources')).selectAll().where('id', '=', id).executeTakeFirst();
  if (!source) throw notFound('source', id);
  return source;
}

interface Retirement {
  id: string;
  reason: string;
}

/** Retires a source that will not scan again, so that its findings do not stay open for ever. */
export async function retireSource(tx: TenantTx, actor: Actor, follower: FindingFollower, { id, reason }: Retirement): Promise<SourceRow> {
  await takeImportLock(tx, actor.orgId);
  const source = await readSource(tx, actor.orgId, id);
  if (source.kind === 'manual') throw new AppError('conflict', 'People report findings through this source. It cannot be retired.');
  if (source.retired_at !== null) throw new AppError('conflict', 'The source is already retired.');
  const retired = { retired_at: sql<Date>`now()`, retired_by: actor.person?.name ?? actor.name, retired_reason: reason };
  await tx.updateTable('sources').set(retired).where('org_id', '=', actor.orgId).where('id', '=', id).execute();
  await record(tx, actor, 'source.retired', source, { reason });
  await endSightings(tx, actor, follower, { code: 'source_retired', where: sql<boolean>`s.source_id = ${id}` });
  return readSource(tx, actor.orgId, id);
}

/** Puts a source back in use. Its findings come back with its next scan. */
export async function reactivateSource(tx: TenantTx, actor: Actor, id: string): Promise<SourceRow> {
  await takeImportLock(tx, actor.orgId);
  const source = await readSource(tx, actor.orgId, id);
  if (source.retired_at === null) throw new AppError('conflict', 'The source is not retired.');
  const active = { retired_at: null, retired_by: null, retired_reason: null };
  await tx.updateTable('sources').set(active).where('org_id', '=', actor.orgId).where('id', '=', id).execute();
  await record(tx, actor, 'source.reactivated', source, {});
  return readSource(tx, actor.orgId, id);
}

async function record(
  tx: TenantTx,
  actor: Actor,
  action: 'source.retired' | 'source.reactivated',
  source: SourceRow,
  extra: { reason?: string },
): Promise<void> {
  const { id, kind, provider, name } = source;
  const after = { kind, provider, name, retired: action === 'source.retired', ...extra };
  await recordAudit(tx, actor, { action, objectType: 'source', objectId: id, before: { retired: source.retired_at !== null }, after });
  await emit(tx, actor.orgId, { type: action, subject: id, data: after });
}
