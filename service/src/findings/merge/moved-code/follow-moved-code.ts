import { type RawBuilder, sql } from 'kysely';
import { importedAssets } from '../../../assets/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { lastSeenSql } from '../group-records.ts';
import { FastPathMissed } from '../known-records.ts';
import type { CompleteRun, Resolution } from '../resolution.ts';
import { pairSpots, type Spot } from './match-lines.ts';

/**
 * An inserted line moves everything below it, and files are renamed. Tools then seem to report something new and to miss something old. In a complete
 * run, findings that are the same code get the identity key of their new location before the records are matched with findings. If the finding was seen
 * later than the run, the record gets the identity key of the finding instead. See ADR 16.
 */
export async function followMoved(tx: TenantTx, resolution: Resolution, moved: CompleteRun): Promise<void> {
  const moves = [...(await changedFiles(tx, resolution, moved)).flatMap(movesIn), ...(await renamedFiles(tx, resolution, moved))];
  if (moves.length === 0) return;
  // A record that was recognized by its content must be staged in full, together with the others.
  if (moves.some(({ isSeen }) => isSeen)) throw new FastPathMissed();
  const [late, moving] = [moves.filter(({ isLate }) => isLate), moves.filter(({ isLate }) => !isLate)];
  await moveLateRecords(tx, resolution, late);
  const { orgId } = resolution;
  const newKeys = sql`unnest(${moving.map(({ id }) => id)}::uuid[], ${moving.map(({ identityKey }) => identityKey)}::text[]) as moved (id, identity_key) where f.org_id = ${orgId} and f.id = moved.id`;
  // In two steps, because one finding may take the identity key that another leaves.
  await sql`update findings f set identity_key = uuid_send(f.id) from ${newKeys}`.execute(tx);
  await sql`update findings f set identity_key = decode(moved.identity_key, 'hex') from ${newKeys}`.execute(tx);
}

async function moveLateRecords(tx: TenantTx, { orgId, importId }: Resolution, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  await sql`
    update tenant_import_rows r set identity_key = f.identity_key
    from unnest(${moves.map(({ id }) => id)}::uuid[], ${moves.map(({ identityKey }) => identityKey)}::text[]) as moved (id, identity_key)
    join findings f on f.org_id = ${orgId} and f.id = moved.id join ${importedAssets} a on a.org_id = ${orgId} and a.import_id = ${importId} and a.asset_id = f.asset_id
    where r.org_id = ${orgId} and r.import_id = ${importId} and r.asset_key = a.asset_key and r.weakness = f.weakness and r.identity_key = decode(moved.identity_key, 'hex')`.execute(
    tx,
  );
}

interface ChangedFile {
  before: (Spot & { id: string; identityKey: string; isSeen: boolean; isLate: boolean })[];
  now: (Spot & { identityKey: string; holder: string | null })[];
}

/** Files with more findings of one kind than this are not compared. */
const MAX_COMPARED = 1_000;

/** The asset of the record `r`, unless the scan of it proves nothing. */
function assetOfRecord({ orgId, importId }: Resolution): RawBuilder<unknown> {
  return sql`(
    select named.asset_id, named.started_at from ${importedAssets} named
    where named.org_id = ${orgId} and named.import_id = ${importId} and named.asset_key = r.asset_key and named.doubt is null limit 1)`;
}

/** Whether the sighting `s` was present when the run began, as far as is known. A newer run may not have shown it any more. */
function wasThere(startedAt: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(s.state = 'present' or s.absent_at > ${startedAt})`;
}

/**
 * Whether a complete run was the first to see the sighting `s` on the asset. Partial runs follow no moved code: what they were the first to see would have
 * been something else than what an earlier run found elsewhere, had the reports come in order. Some sources state other times than those of their runs.
 */
function isFromComplete({ orgId, sourceId }: Resolution, asset: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`coalesce((
    select bool_or(first.complete and first.accepted) from run_assets first
    where first.org_id = ${orgId} and first.source_id = ${sourceId} and first.asset_id = ${asset} and first.track = s.track and s.first_seen between first.started_at and first.ended_at), true)`;
}

/** By rule, title and file: what was there and what is there now, for files with a record that matches no known finding. */
async function changedFiles(tx: TenantTx, resolution: Resolution, { isUnread }: CompleteRun): Promise<ChangedFile[]> {
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<ChangedFile>`
    with here as (
      select covered.asset_id, r.weakness, r.location->>'path' as path, r.title, r.identity_key, min((r.location->>'line')::bigint) as line, min(r.location->>'snippet') as snippet, min(covered.started_at) as started_at
      from tenant_import_rows r
      cross join lateral ${assetOfRecord(resolution)} covered
      where r.org_id = ${orgId} and r.import_id = ${importId} and r.present and r.external_id is null and ${isByLine(sql`r.location`)}
        and not ${isUnread(sql`r.location`)}
      group by 1, 2, 3, 4, 5
    ), located as (
      select here.*, holder.id as holder from here
      left join findings holder on holder.org_id = ${orgId} and holder.asset_id = here.asset_id and holder.weakness = here.weakness and holder.identity_key = here.identity_key
    ), kinds as (
      select asset_id, weakness, path, title, jsonb_agg(jsonb_build_object('line', line, 'snippet', snippet, 'identityKey', encode(identity_key, 'hex'), 'holder', holder) order by line, identity_key) as now,
        min(started_at) as started_at
      from located group by 1, 2, 3, 4 having bool_or(holder is null) and count(*) <= ${MAX_COMPARED}
    )
    select kinds.now, jsonb_agg(jsonb_build_object('id', f.id, 'line', (f.location->>'line')::bigint, 'snippet', f.location->>'snippet', 'identityKey', encode(f.identity_key, 'hex'), 'isSeen', seen.finding_id is not null, 'isLate', ${lastSeenSql} > kinds.started_at,
      'isDecided', f.status in ('false_positive', 'risk_accepted'))
      order by (f.location->>'line')::bigint, f.id) as before
    from kinds
    join findings f on f.org_id = ${orgId} and f.asset_id = kinds.asset_id and f.weakness = kinds.weakness and f.title = kinds.title
      and f.location->>'path' = kinds.path and ${isByLine(sql`f.location`)}
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and ${wasThere(sql`kinds.started_at`)} and s.external_id is null
      and (s.first_seen <= kinds.started_at or ${isFromComplete(resolution, sql`kinds.asset_id`)})
    left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = f.asset_id and c.track = s.track
    left join (select distinct finding_id from tenant_import_seen where org_id = ${orgId} and import_id = ${importId}) seen on seen.finding_id = f.id
    group by kinds.asset_id, kinds.weakness, kinds.path, kinds.title, kinds.now having count(*) <= ${MAX_COMPARED}`.execute(tx);
  return rows;
}

/**
 * Code with a fingerprint of the tool that is in another file now. A fingerprint that was, or is, in several files at once does not tell which of them
 * was renamed, and what is in a file that the tool did not read may still be there.
 */
async function renamedFiles(tx: TenantTx, resolution: Resolution, { isUnread }: CompleteRun): Promise<Move[]> {
  const { orgId, importId, sourceId } = resolution;
  const isFingerprinted = (location: RawBuilder<unknown>) =>
    sql`${location} ? 'path' and ${location} ? 'fingerprint' and not ${location} ?| array['component', 'purl']`;
  const { rows } = await sql<Move>`
    with here as materialized (
      select covered.asset_id, r.weakness, r.location->>'fingerprint' as fingerprint, r.identity_key, min(covered.started_at) as started_at
      from tenant_import_rows r
      cross join lateral ${assetOfRecord(resolution)} covered
      where r.org_id = ${orgId} and r.import_id = ${importId} and r.present and r.external_id is null and ${isFingerprinted(sql`r.location`)}
      group by 1, 2, 3, 4
    ), fresh as materialized (
      select here.asset_id, here.weakness, here.fingerprint, min(encode(here.identity_key, 'hex')) as identity_key, min(here.started_at) as started_at from here
      where not exists (select from findings holder where holder.org_id = ${orgId} and holder.asset_id = here.asset_id and holder.weakness = here.weakness and holder.identity_key = here.identity_key)
      group by 1, 2, 3 having count(*) = 1
    )
    select min(f.id::text) as id, fresh.identity_key as "identityKey", null as holder, false as "isSeen", bool_or(${lastSeenSql} > fresh.started_at) as "isLate" from fresh
    join findings f on f.org_id = ${orgId} and f.asset_id = fresh.asset_id and f.weakness = fresh.weakness and f.location->>'fingerprint' = fresh.fingerprint and ${isFingerprinted(sql`f.location`)}
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and ${wasThere(sql`fresh.started_at`)} and s.external_id is null
      and (s.first_seen <= fresh.started_at or ${isFromComplete(resolution, sql`fresh.asset_id`)})
    left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = f.asset_id and c.track = s.track
    left join here on here.asset_id = f.asset_id and here.weakness = f.weakness and here.identity_key = f.identity_key
    left join tenant_import_seen seen on seen.org_id = ${orgId} and seen.import_id = ${importId} and seen.finding_id = f.id
    group by fresh.asset_id, fresh.weakness, fresh.fingerprint, fresh.identity_key
    having count(distinct f.id) = 1 and bool_and(here.asset_id is null and seen.finding_id is null and not coalesce(${isUnread(sql`f.location`)}, false))`.execute(
    tx,
  );
  return rows;
}

/** Whether `identityOf` uses the line. */
function isByLine(location: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`${location} ? 'path' and ${location} ? 'line' and not ${location} ?| array['component', 'purl', 'fingerprint', 'resource']`;
}

function movesIn({ before, now }: ChangedFile): Move[] {
  const ours = new Set(before.map(({ id }) => id));
  const seen = before.filter(({ isSeen, identityKey }) => isSeen && now.every((one) => one.identityKey !== identityKey));
  const free = now.filter(({ holder }) => holder === null || ours.has(holder)).map((one) => ({ ...one, isSeen: false }));
  const all = [...free, ...seen.map(({ id, ...one }) => ({ ...one, holder: id }))].sort((a, b) => a.line - b.line);
  const moves = pairSpots(before, all).flatMap(([b, n]): Move[] => {
    const [was, is] = [before[b], all[n]];
    return was && is && was.identityKey !== is.identityKey
      ? [{ id: was.id, identityKey: is.identityKey, holder: is.holder, isSeen: was.isSeen || is.isSeen, isLate: was.isLate }]
      : [];
  });
  return movableOf(moves);
}

interface Move {
  id: string;
  identityKey: string;
  /** The finding that has this identity key now. It has to move away. */
  holder: string | null;
  isSeen: boolean;
  /** Whether the finding was seen later than the run, so that the run shows where it was before. */
  isLate: boolean;
}

function movableOf(moves: readonly Move[]): Move[] {
  const leaving = new Set(moves.map(({ id }) => id));
  const possible = moves.filter(({ holder }) => holder === null || leaving.has(holder));
  return possible.length === moves.length ? possible : movableOf(possible);
}
