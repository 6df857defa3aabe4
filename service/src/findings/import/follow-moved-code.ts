import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { type Absence, isPartly, isUnread } from './absence.ts';
import { KnownNoMore } from './known-records.ts';
import { pairLines } from './match-lines.ts';
import type { Resolution } from './resolution.ts';

/**
 * A line that is inserted above moves everything below it, and tools that mark code by nothing but its line then seem to report something
 * new and to miss something old. In a complete run, what the same rule said in the same words of the same file nearby is the same finding:
 * it takes its new place before the rows look for theirs. See ADR 16.
 */
export async function followMoved(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<void> {
  const moves = (await changedFiles(tx, resolution, absence)).flatMap(movesIn);
  if (moves.length === 0) return;
  // Whose record was recognised by its content is looked at anew, together with the others.
  if (moves.some(({ isSeen }) => isSeen)) throw new KnownNoMore();
  const { orgId } = resolution;
  const moved = sql`unnest(${moves.map(({ id }) => id)}::uuid[], ${moves.map(({ place }) => place)}::text[]) as moved (id, place) where f.org_id = ${orgId} and f.id = moved.id`;
  // In two steps, because one may take the place that another leaves.
  await sql`update findings f set place = uuid_send(f.id) from ${moved}`.execute(tx);
  await sql`update findings f set place = decode(moved.place, 'hex') from ${moved}`.execute(tx);
}

interface ChangedFile {
  before: { id: string; line: number; place: string; isSeen: boolean }[];
  now: { line: number; place: string; holder: string | null }[];
}

/** More than so many of one kind in one file are not compared with each other. */
const MOST = 1_000;

/** By rule, words and file: what was there, and what is there now, where something is at a place that nobody knows. */
async function changedFiles(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<ChangedFile[]> {
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<ChangedFile>`
    with here as (
      select covered.asset_id, coalesce(alias.weakness, r.weakness) as weakness, r.location->>'path' as path, r.title, r.place, min((r.location->>'line')::bigint) as line
      from import_rows r
      join (select distinct asset_key, asset_id from import_assets covered where covered.org_id = ${orgId} and covered.import_id = ${importId} and not ${isPartly(resolution, absence)}) covered using (asset_key)
      left join vulnerability_aliases alias on alias.org_id = ${orgId} and alias.alias = r.weakness
      where r.org_id = ${orgId} and r.import_id = ${importId} and r.present and r.external_id is null and ${isByLine(sql`r.location`)}
        and not ${isUnread(sql`r.location`, absence)}
      group by 1, 2, 3, 4, 5
    ), placed as (
      select here.*, holder.id as holder from here
      left join findings holder on holder.org_id = ${orgId} and holder.asset_id = here.asset_id and holder.weakness = here.weakness and holder.place = here.place
    ), kinds as (
      select asset_id, weakness, path, title, jsonb_agg(jsonb_build_object('line', line, 'place', encode(place, 'hex'), 'holder', holder) order by line, place) as now
      from placed group by 1, 2, 3, 4 having bool_or(holder is null) and count(*) <= ${MOST}
    )
    select kinds.now, jsonb_agg(jsonb_build_object('id', f.id, 'line', (f.location->>'line')::bigint, 'place', encode(f.place, 'hex'), 'isSeen', seen.finding_id is not null)
      order by (f.location->>'line')::bigint, f.id) as before
    from kinds
    join findings f on f.org_id = ${orgId} and f.asset_id = kinds.asset_id and f.weakness = kinds.weakness and f.title = kinds.title
      and f.location->>'path' = kinds.path and ${isByLine(sql`f.location`)}
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.state = 'present' and s.external_id is null
    left join (select distinct finding_id from import_seen where org_id = ${orgId} and import_id = ${importId}) seen on seen.finding_id = f.id
    group by kinds.asset_id, kinds.weakness, kinds.path, kinds.title, kinds.now having count(*) <= ${MOST}`.execute(tx);
  return rows;
}

/** As `placeOf` decides it. */
function isByLine(location: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`${location} ? 'path' and ${location} ? 'line' and not ${location} ?| array['component', 'purl', 'fingerprint', 'resource']`;
}

function movesIn({ before, now }: ChangedFile): Move[] {
  const ours = new Set(before.map(({ id }) => id));
  const seen = before.filter(({ isSeen, place }) => isSeen && now.every((one) => one.place !== place));
  const free = now.filter(({ holder }) => holder === null || ours.has(holder)).map((one) => ({ ...one, isSeen: false }));
  const all = [...free, ...seen.map(({ id, ...one }) => ({ ...one, holder: id }))].sort((a, b) => a.line - b.line);
  const pairs = pairLines(
    before.map(({ line }) => line),
    all.map(({ line }) => line),
  );
  const moves = pairs.flatMap(([b, n]): Move[] => {
    const [was, is] = [before[b], all[n]];
    return was && is && was.place !== is.place ? [{ id: was.id, place: is.place, holder: is.holder, isSeen: was.isSeen || is.isSeen }] : [];
  });
  return withRoom(moves);
}

interface Move {
  id: string;
  place: string;
  /** Who is there; it has to leave. */
  holder: string | null;
  isSeen: boolean;
}

function withRoom(moves: readonly Move[]): Move[] {
  const leaving = new Set(moves.map(({ id }) => id));
  const possible = moves.filter(({ holder }) => holder === null || leaving.has(holder));
  return possible.length === moves.length ? possible : withRoom(possible);
}
