import { sql } from 'kysely';
import { findByNames } from '../../../assets/find-by-name.ts';
import { nameOfImage } from '../../../assets/names/image-name.ts';
import { assetFacts, mergedAssets, mergedTracks } from '../../../assets/relations.ts';
import { auditTrail } from '../../../audit/relations.ts';
import type { TenantTx } from '../../../db/database.ts';
import { readSelfNamed, type ScanRow } from '../../../findings/facts/scan-facts.ts';

/** What people said about what the scans are about, besides the labels of uploads. */
interface Merges {
  images: boolean;
  assets: boolean;
  tracks: boolean;
}

/**
 * Reports that count for the asset or track only because a person says so: the uploader called it so, or somebody merged it with another one or renamed it.
 * The file must name what the scans that showed the findings name. Threat: a clean report about another image, or about another environment.
 *
 * `seenIn` are the scans that showed one of the findings. `rows` are in the order in which they were received.
 */
export async function readRelabelled(
  tx: TenantTx,
  orgId: string,
  rows: readonly ScanRow[],
  { assetIds, seenIn }: { assetIds: readonly string[]; seenIn: ReadonlySet<string> },
): Promise<ReadonlySet<string>> {
  const named = rows.filter(({ run }) => targetsOf({ run }).length > 0);
  if (named.length === 0) return new Set();
  const merges = await readMerges(tx, orgId, assetIds);
  const known = await findByNames(tx, orgId, [...named.flatMap(targetsOf), ...named.flatMap((row) => labelOf(row) ?? [])]);
  const selfNamed = await readSelfNamed(tx, orgId, assetIds);
  const own = new Set(assetIds);
  const idsOf = (name: string): string[] => known.get(name)?.filter((id) => own.has(id)) ?? [];
  /** What the scans so far name that showed one of the findings. */
  const shown = new Set<string>();
  const isRelabelled = (row: ScanRow): boolean => {
    const label = labelOf(row);
    // Reports of the tool that name the asset itself show that it need not be called by another name.
    const mustBeOwn = label !== null && idsOf(label).some((id) => selfNamed.has(`${id} ${row.format}`));
    const isOwn = (target: string): boolean => idsOf(target).length > 0 || (!mustBeOwn && shown.has(target));
    const claims = [...(label === null ? [] : [isOwn]), ...nameClaims(row.scan_scope.track, merges, shown)];
    return !targetsOf(row).some((target) => claims.every((holds) => holds(target)));
  };
  const relabelled = new Set<string>();
  for (const row of named) {
    if (isRelabelled(row)) relabelled.add(row.id);
    if (seenIn.has(row.id)) for (const target of targetsOf(row)) shown.add(target);
  }
  return relabelled;
}

const targetsOf = ({ run }: Pick<ScanRow, 'run'>): string[] => run.targets ?? [];
const labelOf = ({ scan_scope: { asset } }: ScanRow): string | null => (typeof asset === 'object' ? asset.name : null);

/** What the name in the file must have in common with those that the scans before name. */
function nameClaims(track: string | undefined, { images, assets, tracks }: Merges, shown: ReadonlySet<string>): ((target: string) => boolean)[] {
  const before = [...shown].map(nameOfImage);
  const sameTrack = (target: string): boolean => {
    const { name, track: here } = nameOfImage(target);
    const same = before.filter((one) => one.name === name);
    return !images || same.length === 0 || same.some((one) => one.track === here);
  };
  return [
    ...(assets ? [(target: string) => before.length === 0 || before.some(({ name }) => name === nameOfImage(target).name)] : []),
    ...(track === undefined ? [] : [(target: string) => nameOfImage(target).track === track.toLowerCase() || sameTrack(target)]),
    ...(tracks ? [sameTrack] : []),
  ];
}

async function readMerges(tx: TenantTx, orgId: string, assetIds: readonly string[]): Promise<Merges> {
  const ids = sql`any(${assetIds as string[]}::uuid[])`;
  const { rows } = await sql<Merges>`
    select exists (select from ${assetFacts} a where a.org_id = ${orgId} and a.id = ${ids} and a.type = 'container_image') as images,
      exists (select from ${mergedAssets} m where m.org_id = ${orgId} and m.asset_id = ${ids}) as assets,
      exists (select from ${mergedTracks} m where m.org_id = ${orgId} and m.asset_id = ${ids})
        or exists (select from ${auditTrail} e where e.org_id = ${orgId} and e.object_id = any(${assetIds as string[]}) and e.action = 'asset.track_renamed') as tracks`.execute(
    tx,
  );
  return rows[0] ?? { images: false, assets: false, tracks: false };
}
