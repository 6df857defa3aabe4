import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import type { Actor } from '../../shared/actor.ts';
import type { AssetFollower } from '../assets.ts';
import { isListed } from '../names/track.ts';

interface Branch {
  asset_id: string;
  n: number;
  name: string;
  /** Whether the import is the first that names it. */
  is_new: boolean;
  /** Whether the import is a scan of the default track, or the track has a name. */
  has_default: boolean;
}

interface ImportedBranches {
  importId: string;
  /** False for exports and VEX documents. They name no branch, and say nothing about which one is the default. */
  isScan: boolean;
}

/**
 * A branch counts until the default track of its repository is known, because nothing else can be. From then on it is kept apart, as it is if the default
 * track was known first. Returns notes for the import.
 */
export async function uncountBranches(tx: TenantTx, actor: Actor, follower: AssetFollower, { importId, isScan }: ImportedBranches): Promise<string[]> {
  const { orgId } = actor;
  const { rows } = await sql<Branch>`
    select track.asset_id, track.n, track.name, track.created_at = now()::timestamptz(3) as is_new, (${isScan}::boolean and bool_or(staged.track = 0)) or exists (
        select from asset_tracks main where main.org_id = ${orgId} and main.asset_id = track.asset_id and main.n = 0) as has_default
    from tenant_import_assets staged
    join asset_tracks track on track.org_id = ${orgId} and track.asset_id = staged.asset_id and track.kind = 'development' and track.counts and track.n <> 0 and track.merged_into is null
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.type = 'repository' group by track.org_id, track.asset_id, track.n order by 1, 2`.execute(
    tx,
  );
  if (rows.length === 0) return [];
  const policy = await readPolicy(tx, orgId);
  const notes: string[] = [];
  for (const [assetId, branches] of Map.groupBy(
    rows.filter(({ name }) => !isListed(name, policy)),
    ({ asset_id }) => asset_id,
  )) {
    if (!branches.some(({ has_default }) => has_default) && !(await follower.isDefaultScanned(tx, orgId, assetId))) continue;
    const { counting, unlisted } = await follower.uncount(tx, actor, { importId, assetId, tracks: branches.map(({ n }) => n) });
    const over = branches.filter(({ n }) => !counting.includes(n));
    await sql`
      with over as (
        update asset_tracks set counts = false where org_id = ${orgId} and asset_id = ${assetId} and n = any(${over.map(({ n }) => n)}::smallint[])
      )
      update tenant_import_assets set track_counts = false
      where org_id = ${orgId} and import_id = ${importId} and asset_id = ${assetId} and track = any(${over.map(({ n }) => n)}::smallint[])`.execute(tx);
    notes.push(...notesOf(branches, counting, unlisted));
  }
  return notes;
}

function notesOf(branches: readonly Branch[], counting: readonly number[], unlisted: number): string[] {
  const goesOn = branches.filter(({ n }) => counting.includes(n));
  const over = branches.filter(({ n, is_new }) => !counting.includes(n) && !is_new);
  const count = unlisted === 1 ? '1 finding that no other track has is' : `${unlisted} findings that no other track has are`;
  return [
    ...over.map(({ name }) => `The branch "${name}" no longer counts, because the default track of the repository is known now.`),
    ...(unlisted > 0 ? [`${count} not listed any more, like those of a pull request.`] : []),
    ...goesOn.map(
      ({ name }) =>
        `The branch "${name}" goes on counting although the default track is known: people have decided about findings that only it has, or put them on work items. End the track if the branch is over.`,
    ),
  ];
}
