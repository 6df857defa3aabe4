import { sql } from 'kysely';
import { anyRows } from '../../db/any-rows.ts';
import type { TenantTx } from '../../db/database.ts';
import { closeUnseen, reopenSeen } from './change-status.ts';
import { followMoved, type MovedCode } from './follow-moved-code.ts';
import { changedOutcomes, groupRecords } from './group-records.ts';
import { markSeen } from './known-records.ts';
import { keepLatePlaces, leaveNarrowerOpen } from './late-records.ts';
import { listFindings } from './list-findings.ts';
import { createFindings, updateShared, updateSingle } from './merged-values.ts';
import { moveKnown } from './move-known.ts';
import type { Resolution } from './resolution.ts';
import { countPlaces, keepPlaces, writePlaces } from './write-places.ts';
import { refreshTimes, writeSightings } from './write-sightings.ts';

export interface Outcomes {
  created: number;
  updated: number;
  reopened: number;
}

/** Turns the staged records of an import into findings and sightings. Call `resolveAssets`, `adoptAliases`, `adoptSourcePackages` and `joinComponents` first. */
export async function resolveRecords(tx: TenantTx, resolution: Resolution, moved: MovedCode | null): Promise<Outcomes> {
  const { orgId, importId } = resolution;
  if (!(await anyRows(tx, sql`select from tenant_import_rows where org_id = ${orgId} and import_id = ${importId}`))) {
    await markSeen(tx, resolution);
    return { created: 0, updated: 0, reopened: 0 };
  }
  if (moved) await followMoved(tx, resolution, moved);
  await groupRecords(tx, resolution, moved !== null);
  await leaveNarrowerOpen(tx, resolution);
  if (resolution.large) await sql`select analyze_groups()`.execute(tx);
  await gatherWords(tx, resolution);
  await markSeen(tx, resolution);
  await keepTexts(tx, resolution);
  await moveKnown(tx, resolution);
  await createFindings(tx, resolution);
  await keepPlaces(tx, resolution);
  await writeSightings(tx, resolution);
  await writePlaces(tx, resolution, moved !== null);
  await keepLatePlaces(tx, resolution);
  await refreshTimes(tx, resolution);
  await updateSingle(tx, resolution);
  await updateShared(tx, resolution, groupsSql(resolution, sql`g.is_shared and g.outcome = any(${changedOutcomes as readonly string[]})`));
  await countPlaces(
    tx,
    resolution.orgId,
    groupsSql(resolution, sql`g.outcome = any(${changedOutcomes as readonly string[]}) and (g.is_shared or g.place is null or g.outcome <> 'created')`),
  );
  await closeUnseen(tx, resolution, groupsSql(resolution, sql`g.absent_at is not null`));
  await reopenSeen(tx, resolution);
  await listFindings(tx, resolution);
  return countOutcomes(tx, resolution);
}

/** Most words that a finding gets from its other records. */
const GATHERED = 500;

/** A search finds a finding by the words of all its records, and not only of the one that says most. Tags are those of that one. */
async function gatherWords(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  await sql`
    with several as materialized (
      select g.n, unnest(g.members) as member from tenant_import_groups g
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.rows > 1 and g.outcome = any(${changedOutcomes as readonly string[]})
    ), gathered as materialized (
      select several.n, (array_agg(distinct word))[1:${sql.lit(GATHERED)}] as words
      from several join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = several.member and r.present
      cross join lateral unnest(r.words) as word where word not like 't:%' group by several.n
    )
    update tenant_import_rows r set words = distinct_sorted(r.words || gathered.words) from gathered
    where r.org_id = ${orgId} and r.import_id = ${importId} and r.n = gathered.n`.execute(tx);
}

function groupsSql({ orgId, importId }: Resolution, where: ReturnType<typeof sql>) {
  return sql`select g.finding_id from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and ${where}`;
}

async function keepTexts(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  await sql`
    insert into finding_texts (org_id, id, description, solution, reference_urls)
    select distinct on (staged.text_id) ${orgId}::uuid, staged.text_id, staged.description, staged.solution, staged.reference_urls
    from tenant_import_texts staged
    where staged.org_id = ${orgId} and staged.import_id = ${importId}
      and not exists (select from finding_texts t where t.org_id = ${orgId} and t.id = staged.text_id)
    order by staged.text_id`.execute(tx);
}

async function countOutcomes(tx: TenantTx, { orgId, importId }: Resolution): Promise<Outcomes> {
  const { rows } = await sql<Outcomes>`
    with outcomes as (
      select finding_id, bool_or(outcome = 'created') as created, bool_or(outcome = 'reopened') as reopened, bool_or(outcome in ('joined', 'returned', 'updated')) as updated
      from tenant_import_groups where org_id = ${orgId} and import_id = ${importId} group by 1
    )
    select count(*) filter (where created)::int as created, count(*) filter (where reopened and not created)::int as reopened,
      count(*) filter (where updated and not created and not reopened)::int as updated
    from outcomes`.execute(tx);
  return rows[0] ?? { created: 0, updated: 0, reopened: 0 };
}
