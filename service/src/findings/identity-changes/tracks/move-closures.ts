import { sql } from 'kysely';
import type { TrackNumbers } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';

type Tracks = Omit<TrackNumbers, 'versions'>;

/**
 * What imports that wait for confirmation no longer showed on the merged track follows it, and what they no longer showed on the one that stays is dropped,
 * as far as a source still sees the finding on the other one. Call it while both tracks have their sightings.
 */
export async function mergeClosures(tx: TenantTx, orgId: string, { assetId, from, into }: Tracks): Promise<void> {
  const held = sql`import_closures c join imports i on i.org_id = ${orgId} and i.id = c.import_id join findings f on f.org_id = ${orgId} and f.id = c.finding_id
    where c.org_id = ${orgId} and f.asset_id = ${assetId}`;
  const isOn = (track: number) => sql`exists (
    select from sightings s where s.org_id = ${orgId} and s.finding_id = c.finding_id and s.source_id = i.source_id and s.track = ${track} and s.state = 'present')`;
  const isHeldOn = (track: number) => sql`exists (
    select from import_closures own where own.org_id = ${orgId} and own.import_id = c.import_id and own.finding_id = c.finding_id and own.track = ${track})`;
  await sql`
    delete from import_closures own using ${held} and c.track = ${into} and ${isOn(from)} and not ${isHeldOn(from)}
      and (own.org_id, own.import_id, own.finding_id, own.track) = (c.org_id, c.import_id, c.finding_id, c.track)`.execute(tx);
  await sql`
    update import_closures own set track = ${into} from ${held} and c.track = ${from} and not ${isOn(into)} and not ${isHeldOn(into)}
      and (own.org_id, own.import_id, own.finding_id, own.track) = (c.org_id, c.import_id, c.finding_id, c.track)`.execute(tx);
}

/** What imports no longer showed is gone from the track `to` if that is the one they covered. Call it when both tracks have their runs. */
export async function separateClosures(tx: TenantTx, orgId: string, { assetId, from, to }: { assetId: string; from: number; to: number }): Promise<void> {
  const covers = (track: number) => sql`exists (
    select from run_assets run where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track = ${track} and run.import_id = c.import_id)`;
  await sql`
    update import_closures c set track = ${to} from findings f
    where c.org_id = ${orgId} and c.track = ${from} and f.org_id = ${orgId} and f.id = c.finding_id and f.asset_id = ${assetId} and ${covers(to)} and not ${covers(from)}`.execute(
    tx,
  );
}
