import { type RawBuilder, sql } from 'kysely';
import type { RunSeparation } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import { saidByFindingSql } from '../../merge/merged-values.ts';
import { moveStored } from '../stored-sightings.ts';

export interface Split extends Pick<RunSeparation, 'assetId' | 'from' | 'into' | 'moved' | 'doubtful'> {
  orgId: string;
  to: number;
  /** The imports of the runs that move. */
  imports: string[];
}

/** When a source has scanned the track: by the runs that move, those that stay and were earlier, and those that stay and were later. */
interface Span {
  source_id: string;
  first: Date;
  first_end: Date;
  last: Date;
  before: Date | null;
  later: Date | null;
  later_end: Date | null;
}

async function spansOf(tx: TenantTx, { orgId, assetId, from, imports }: Split): Promise<Span[]> {
  const { rows } = await sql<Span>`
    with runs as materialized (
      select source_id, started_at, ended_at, import_id = any(${imports}::uuid[]) as moves from run_assets
      where org_id = ${orgId} and asset_id = ${assetId} and track = ${from}
    ), moving as materialized (
      select source_id, min(started_at) as first, min(ended_at) as first_end, max(ended_at) as last from runs where moves group by 1
    )
    select moving.*, max(own.ended_at) filter (where own.started_at < moving.first) as before,
      min(own.started_at) filter (where own.started_at >= moving.first) as later, min(own.ended_at) filter (where own.started_at >= moving.first) as later_end
    from moving left join runs own on own.source_id = moving.source_id and not own.moves group by 1, 2, 3, 4`.execute(tx);
  return rows;
}

const spanSql = (spans: readonly Span[]) => sql`jsonb_to_recordset(${JSON.stringify(spans)}) as span (
  source_id uuid, first timestamptz, first_end timestamptz, last timestamptz, before timestamptz, later timestamptz, later_end timestamptz)`;

/** Whether runs of one side can have seen `x`. When it was last seen is written once a day. */
const canMove = (x: string) => sql`(${sql.ref(`${x}.first_seen`)} <= span.last and ${sql.ref(`${x}.last_seen`)} >= date_trunc('day', span.first, 'UTC'))`;
const canStay = (x: string) => sql`(coalesce(${sql.ref(`${x}.first_seen`)} <= span.before, false) or coalesce(${wasSeenLater(x)}, false))`;
const wasSeenLater = (x: string) => sql`${sql.ref(`${x}.last_seen`)} >= date_trunc('day', span.later, 'UTC')`;

const isOnlyMoved = sql`(span.before is null and span.later is null)`;

/** A sighting, and whether runs that move and runs that stay can have seen it. */
interface Seen {
  finding_id: string;
  source_id: string;
  moves: boolean;
  stays: boolean;
}

async function seenBy(tx: TenantTx, { orgId, assetId, from, imports }: Split, spans: readonly Span[]): Promise<Seen[]> {
  const { rows } = await sql<Seen>`
    select s.finding_id, s.source_id, span.moves, span.stays or not span.moves as stays
    from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.track = ${from}
    join lateral (
      select ${isOnlyMoved} or ${canMove('s')} or coalesce(s.seen_import_id = any(${imports}::uuid[]), false) as moves,
        not ${isOnlyMoved} and (${canStay('s')} or coalesce(s.seen_import_id <> all(${imports}::uuid[]), false)) as stays
      from ${spanSql(spans)} where span.source_id = s.source_id
    ) span on true
    where f.org_id = ${orgId} and f.asset_id = ${assetId}`.execute(tx);
  return rows;
}

/** Moves the sightings and occurrences of runs to another track, and copies those that runs that stay can have seen as well. Returns their findings. */
export async function moveSightings(tx: TenantTx, split: Split): Promise<string[]> {
  const spans = await spansOf(tx, split);
  if (spans.length === 0) return [];
  const { orgId, from, to } = split;
  const seen = await seenBy(tx, split, spans);
  const both = seen.filter(({ moves, stays }) => moves && stays);
  if (both.length > 0) await copySightings(tx, split, spans, both);
  // Their occurrences follow.
  await sql`
    update sightings s set track = ${to} from ${keysSql(seen.filter(({ stays }) => !stays))}
    where s.org_id = ${orgId} and s.finding_id = key.finding_id and s.source_id = key.source_id and s.track = ${from}`.execute(tx);
  await returnPresent(tx, split, seen);
  await splitStored(tx, split, spans);
  return [...new Set(seen.map(({ finding_id }) => finding_id))];
}

const keysSql = (seen: readonly Seen[]) =>
  sql`unnest(${seen.map(({ finding_id }) => finding_id)}::uuid[], ${seen.map(({ source_id }) => source_id)}::uuid[]) as key (finding_id, source_id)`;

/** Each copy was seen only by the runs of its track. */
async function copySightings(tx: TenantTx, { orgId, from, to, imports, assetId }: Split, spans: readonly Span[], both: readonly Seen[]): Promise<void> {
  const own = (track: number) => sql`own.org_id = ${orgId} and own.finding_id = key.finding_id and own.source_id = key.source_id and own.track = ${track}`;
  const ofSpan = sql`${keysSql(both)} join ${spanSql(spans)} on span.source_id = key.source_id`;
  await sql`
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id and f.id in (select finding_id from ${keysSql(both)})`.execute(
    tx,
  );
  const copy = (table: 'sightings' | 'occurrences', where: RawBuilder<unknown>) => sql`
    insert into ${sql.table(table)}
    select copied.* from ${ofSpan} join ${sql.table(table)} own on ${own(from)}
    cross join jsonb_populate_record(own, jsonb_build_object('track', ${to}::smallint)) copied where ${where}`;
  await copy('sightings', sql`true`).execute(tx);
  await copy('occurrences', canMove('own')).execute(tx);
  await sql`delete from occurrences own using ${ofSpan} where ${own(from)} and not ${canStay('own')}`.execute(tx);
  for (const table of ['sightings', 'occurrences']) {
    await sql`
      update ${sql.table(table)} own set first_seen = greatest(own.first_seen, span.first_end), last_seen = least(own.last_seen, span.last) from ${ofSpan} where ${own(to)}`.execute(
      tx,
    );
    await sql`
      update ${sql.table(table)} own set first_seen = case when own.first_seen <= span.before then own.first_seen else greatest(own.first_seen, span.later_end) end,
        last_seen = case when coalesce(${wasSeenLater('own')}, false) then own.last_seen else least(own.last_seen, span.before) end from ${ofSpan} where ${own(from)}`.execute(
      tx,
    );
  }
  // Places that a moved run did not show.
  await sql`
    update occurrences own set state = 'present' from ${ofSpan}
    where ${own(from)} and own.state = 'absent' and span.later is null and own.last_seen < span.first`.execute(tx);
  for (const [track, isOwn] of [
    [from, (id: string) => sql`${sql.ref(id)} <> all(${imports}::uuid[])`],
    [to, (id: string) => sql`${sql.ref(id)} = any(${imports}::uuid[])`],
  ] as const) {
    // What the runs of the track said is not known if others said something later: it may have been as bad as it ever was. No report can repeat these words, so the next one counts.
    await sql`
      update sightings own set severity = own.peak_severity, said = jsonb_set(own.said, '{severity}', to_jsonb(own.peak_severity)), content = sha256(own.content)
      from ${keysSql(both)} where ${own(track)} and own.peak_severity > own.severity and not ${isOwn('own.seen_import_id')}`.execute(tx);
    const last = sql`(
      select run.import_id from run_assets run
      where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track = ${from} and run.source_id = own.source_id and ${isOwn('run.import_id')}
        and run.started_at <= own.last_seen
      order by run.started_at desc, run.import_id limit 1)`;
    await sql`
      update sightings own set seen_import_id = coalesce(${last}, own.seen_import_id), last_import_id = case when own.state = 'present' then coalesce(${last}, own.last_import_id) else own.last_import_id end
      from ${keysSql(both)} where ${own(track)}`.execute(tx);
  }
}

/** A run of one track proves nothing about the other. */
async function returnPresent(tx: TenantTx, { orgId, from, to, imports }: Split, seen: readonly Seen[]): Promise<void> {
  for (const [track, isOther] of [
    [from, (id: string) => sql`${sql.ref(id)} = any(${imports}::uuid[])`],
    [to, (id: string) => sql`coalesce(${sql.ref(id)} <> all(${imports}::uuid[]), true)`],
  ] as const) {
    const own = sql`${keysSql(seen)} where s.org_id = ${orgId} and s.finding_id = key.finding_id and s.source_id = key.source_id and s.track = ${track}`;
    await sql`
      update sightings s set state = 'present', absence = null, absent_at = null, gaps = null, doubted = false, last_import_id = s.seen_import_id
      from ${own} and s.state = 'absent' and ${isOther('s.last_import_id')}`.execute(tx);
    await sql`
      update sightings s set missed_at = null, missed_import_id = null, missed_because = null
      from ${own} and s.missed_at is not null and ${isOther('s.missed_import_id')}`.execute(tx);
  }
}

/** What findings said before they were merged comes back when they are separated. Runs of one line or both have shown it, too. */
async function splitStored(tx: TenantTx, { orgId, assetId, from, into }: Split, spans: readonly Span[]): Promise<void> {
  const ofAsset = sql`exists (select from findings f where f.org_id = ${orgId} and f.id = r.a and f.asset_id = ${assetId})`;
  const ofSpan = sql`${spanSql(spans)} where span.source_id = s.source_id and s.track = ${from}`;
  await moveStored(
    tx,
    orgId,
    ofAsset,
    () => sql`
      select s.track where not exists (select from ${ofSpan} and (${isOnlyMoved} or (${canMove('s')} and not ${canStay('s')})))
      union all
      select ${into}::smallint where exists (select from ${ofSpan} and (${isOnlyMoved} or ${canMove('s')}))`,
  );
}
