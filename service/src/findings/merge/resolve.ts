import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { closeUnseen, followScanTimes, reopenSeen } from './change-status.ts';
import { changedOutcomes, type Groups, groupRecords, noGroups } from './group-records.ts';
import { markSeen } from './known-records.ts';
import { keepLatePlaces, leaveNarrowerOpen } from './late-records.ts';
import { listFindings } from './list-findings.ts';
import { createFindings, updateShared, updateSingle } from './merged-values.ts';
import { moveKnown } from './move-known.ts';
import { followMoved } from './moved-code/follow-moved-code.ts';
import { type CompleteRun, isLarge, type Resolution } from './resolution.ts';
import { countPlaces, keepPlaces, writePlaces } from './write-places.ts';
import { judgeLate, refreshTimes, writeSightings } from './write-sightings.ts';

const changed = sql`${changedOutcomes as readonly string[]}`;

/** What `resolveRecords` did. */
export interface Outcomes {
  groups: Groups;
  /** Whether the report shows a known sighting that has or had several places. */
  seenPlaces: boolean;
  /** Findings of which a report that arrives late shows other places than newer ones. */
  inOtherPlaces: readonly string[];
  reopened: boolean;
  /** Whether there are so many new rows that the statistics of findings are outdated. Call `analyze_findings` after the transaction. */
  grown: boolean;
}

/** Turns the staged records of an import into findings and sightings. Call `resolveAssets` and `adoptIdentities` first. */
export async function resolveRecords(tx: TenantTx, resolution: Resolution, complete: CompleteRun | null): Promise<Outcomes> {
  const { orgId, staged } = resolution;
  if (isLarge(resolution)) await sql`select analyze_assets()`.execute(tx);
  // Earlier imports wrote their last rows after they had gathered statistics, and this one has just written its assets.
  const grownBefore = isLarge(resolution) && (await analyzeGrown(tx));
  if (staged.rows === 0) {
    const seenPlaces = staged.seen > 0 && (await markSeen(tx, resolution, noGroups));
    return { groups: noGroups, seenPlaces, inOtherPlaces: [], reopened: false, grown: grownBefore };
  }
  if (complete) await followMoved(tx, resolution, complete);
  const groups = await groupRecords(tx, resolution, complete !== null);
  if (groups.late) await leaveNarrowerOpen(tx, resolution);
  if (isLarge(resolution)) await sql`select analyze_groups()`.execute(tx);
  const isSeenAtPlaces = staged.seen > 0 && (await markSeen(tx, resolution, groups));
  const seenPlaces = isSeenAtPlaces || groups.updated || groups.unchanged;
  if (isChanging(groups)) await writeChanged(tx, resolution, groups);
  // The statistics do not include the new rows yet, and the next statements join them with existing ones. Many small imports add up, too.
  const grown = (isChanging(groups) && (await analyzeGrown(tx))) || grownBefore;
  if (groups.late) await judgeLate(tx, resolution);
  const inOtherPlaces = groups.unchanged ? await keepLatePlaces(tx, resolution) : [];
  if (groups.unchanged) await refreshTimes(tx, resolution);
  if (groups.updated) await updateSingle(tx, resolution);
  if (groups.shared) await updateShared(tx, resolution, groupsSql(resolution, sql`g.is_shared and g.outcome = any(${changed})`));
  if (groups.shared || groups.places || groups.joined || groups.updated)
    await countPlaces(tx, orgId, groupsSql(resolution, sql`g.outcome = any(${changed}) and (g.is_shared or g.place is null or g.outcome <> 'created')`));
  if (groups.late) {
    const late = groupsSql(resolution, sql`g.absent_at is not null`);
    await closeUnseen(tx, resolution, late);
    await followScanTimes(tx, orgId, late);
  }
  if (!groups.known) return { groups, seenPlaces, inOtherPlaces, reopened: false, grown };
  const reopened = await reopenSeen(tx, resolution);
  await listFindings(tx, resolution);
  return { groups, seenPlaces, inOtherPlaces, reopened, grown };
}

async function analyzeGrown(tx: TenantTx): Promise<boolean> {
  const { rows } = await sql<{ grown: boolean }>`select analyze_grown() as grown`.execute(tx);
  return rows[0]?.grown ?? false;
}

function isChanging({ created, joined, updated }: Groups): boolean {
  return created > 0 || joined || updated;
}

/** Writes the findings and sightings that are new, returned or say something else. */
async function writeChanged(tx: TenantTx, resolution: Resolution, groups: Groups): Promise<void> {
  const { created, joined, updated, several, places } = groups;
  if (several) await gatherSaid(tx, resolution);
  await keepTexts(tx, resolution);
  if (joined || updated) await moveKnown(tx, resolution);
  if (created > 0) await createFindings(tx, resolution, groups);
  if (updated) await keepPlaces(tx, resolution);
  await writeSightings(tx, resolution, groups);
  if (places || updated) await writePlaces(tx, resolution);
}

/** Most words that a finding gets from its other records. */
const GATHERED = 500;

/** A finding has the ids and CWEs of all its records, and a search finds it by the words of all of them. The rest is what the record says that says most. */
async function gatherSaid(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  await sql`
    with several as materialized (
      select g.n, unnest(g.members) as member from tenant_import_groups g
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.rows > 1 and g.outcome = any(${changed})
    ), said as materialized (
      select several.n, r.words, r.vulnerability_ids, r.cwes
      from several join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = several.member and r.present
    ), gathered as materialized (
      select said.n, (array_agg(distinct word))[1:${sql.lit(GATHERED)}] as words
      from said cross join lateral unnest(said.words) as word where word not like 't:%' group by said.n
    ), united as materialized (
      select said.n, distinct_ids(concat_arrays(said.vulnerability_ids)) as vulnerability_ids, distinct_sorted(concat_arrays(said.cwes)) as cwes,
        case when count(distinct said.vulnerability_ids) > 1 then jsonb_agg(distinct to_jsonb(said.vulnerability_ids)) end as named
      from said group by said.n
    )
    update tenant_import_rows r set words = distinct_sorted(r.words || gathered.words), vulnerability_ids = united.vulnerability_ids, cwes = united.cwes, named = united.named
    from united left join gathered on gathered.n = united.n
    where r.org_id = ${orgId} and r.import_id = ${importId} and r.n = united.n`.execute(tx);
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
