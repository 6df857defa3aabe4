import { type RawBuilder, sql } from 'kysely';
import { mergedNumbers } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';

/** The merged finding of a rule, or the one that stayed. */
export type Which = 'a' | 'b';
type Table = 'sightings' | 'occurrences';

/** The sightings or occurrences that a finding of the rule `r` had before the merge. */
export const stored = (which: Which, table: Table): RawBuilder<unknown> =>
  sql`jsonb_populate_recordset(null::${sql.table(table)}, r.undo->${sql.lit(which)}->${sql.lit(table)})`;

/** Selects the tracks on which the sighting or occurrence `s` of a finding of the rule `r` is to be. */
type TracksOf = (which: Which) => RawBuilder<unknown>;

/** What the rule `r` keeps, on other tracks. If a source gets two sightings on one track, the present or else the newer one is kept. */
function undoSql(tracksOf: TracksOf): RawBuilder<unknown> {
  const rowsOf = (which: Which, table: Table) => {
    const key = sql.join(['s.source_id', 'line.track', ...(table === 'occurrences' ? ['s.place'] : [])].map((name) => sql.ref(name)));
    return sql`(select coalesce(jsonb_agg(kept.moved), '[]') from (
      select distinct on (${key}) to_jsonb(s) || jsonb_build_object('track', line.track) as moved
      from ${stored(which, table)} s cross join lateral (${tracksOf(which)}) line (track)
      order by ${key}, s.state = 'present' desc, s.last_seen desc) kept)`;
  };
  const kept = (which: Which) =>
    sql`r.undo->${sql.lit(which)} || jsonb_build_object('sightings', ${rowsOf(which, 'sightings')}, 'occurrences', ${rowsOf(which, 'occurrences')})`;
  return sql`jsonb_build_object('a', ${kept('a')}, 'b', ${kept('b')})`;
}

/** Moves what findings that are merged said before to other tracks, so that it is there when they are separated. `where` selects rules `r`. */
export async function moveStored(tx: TenantTx, orgId: string, where: RawBuilder<unknown>, tracksOf: TracksOf): Promise<void> {
  await sql`update identity_rules r set undo = ${undoSql(tracksOf)} where r.org_id = ${orgId} and r.revoked_at is null and ${where}`.execute(tx);
}

/** Defines `r`: rules, with what findings said before the merge on the tracks into which theirs have been merged since. */
export function rulesSql(orgId: string, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  const mergedTracks = sql`findings f join ${mergedNumbers} t on t.org_id = ${orgId} and t.asset_id = f.asset_id where f.org_id = ${orgId} and f.id = r.b`;
  const present = undoSql(() => sql`select coalesce((select t.merged_into from ${mergedTracks} and t.n = s.track), s.track)`);
  return sql`r as materialized (
    select r.id, r.a, r.b, r.created_at, case when exists (select from ${mergedTracks}) then ${present} else r.undo end as undo
    from identity_rules r where r.org_id = ${orgId} and r.id in (${ids}))`;
}

/** What findings that are merged said before is still there if only the imports had not shown it. `where` selects rules `r`. */
export async function returnStored(tx: TenantTx, orgId: string, where: RawBuilder<unknown>, imports: readonly string[]): Promise<void> {
  if (imports.length === 0) return;
  const present = JSON.stringify({ state: 'present', absence: null, absent_at: null, gaps: null });
  const returned = (which: Which) => sql`r.undo->${sql.lit(which)} || jsonb_build_object('sightings', (
    select coalesce(jsonb_agg(case when said->>'state' = 'absent' and (said->>'last_import_id')::uuid = any(${imports as string[]}::uuid[]) then said || ${present}::jsonb else said end), '[]')
    from jsonb_array_elements(r.undo->${sql.lit(which)}->'sightings') said))`;
  await sql`
    update identity_rules r set undo = jsonb_build_object('a', ${returned('a')}, 'b', ${returned('b')})
    where r.org_id = ${orgId} and r.revoked_at is null and ${where}`.execute(tx);
}
