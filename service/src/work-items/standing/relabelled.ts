import { sql } from 'kysely';
import { findByNames } from '../../assets/find-by-name.ts';
import { nameOfImage } from '../../assets/names/image-name.ts';
import { assetFacts, mergedAssets, mergedTracks } from '../../assets/relations.ts';
import { auditTrail } from '../../audit/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { readSelfNamed, type ScanRow } from '../../findings/facts/scan-facts.ts';

/** Assets about which people said something besides the labels of uploads. */
interface Merges {
  images: ReadonlySet<string>;
  assets: ReadonlySet<string>;
  tracks: ReadonlySet<string>;
}

/** What reports and people call the assets. */
export interface Labels {
  merges: Merges;
  /** The assets that have a name. */
  known: ReadonlyMap<string, readonly string[]>;
  selfNamed: ReadonlySet<string>;
}

/** Reads what `relabelledScans` needs of the scans of the assets. */
export async function readLabels(tx: TenantTx, orgId: string, rows: readonly ScanRow[], assetIds: readonly string[]): Promise<Labels> {
  const named = rows.filter((row) => targetsOf(row).length > 0);
  return {
    merges: await readMerges(tx, orgId, assetIds),
    known: await findByNames(tx, orgId, [...named.flatMap(targetsOf), ...named.flatMap((row) => labelOf(row) ?? [])]),
    selfNamed: await readSelfNamed(tx, orgId, assetIds),
  };
}

/**
 * Reports that count for the asset or track only because a person says so: the uploader called it so, or somebody merged it with another one or renamed it.
 * The file must name what the scans that showed the findings name. Threat: a clean report about another image, or about another environment.
 *
 * `seenIn` are the scans that showed one of the findings. `rows` are in the order in which they were received.
 */
export function relabelledScans(
  rows: readonly ScanRow[],
  { merges, known, selfNamed }: Labels,
  { assetIds, seenIn }: { assetIds: readonly string[]; seenIn: ReadonlySet<string> },
): ReadonlySet<string> {
  const own = new Set(assetIds);
  const some = (ids: ReadonlySet<string>): boolean => assetIds.some((id) => ids.has(id));
  const judged = { images: some(merges.images), assets: some(merges.assets), tracks: some(merges.tracks) };
  const idsOf = (name: string): string[] => known.get(name)?.filter((id) => own.has(id)) ?? [];
  /** What the scans so far name that showed one of the findings. */
  const shown = new Set<string>();
  const isRelabelled = (row: ScanRow): boolean => {
    const label = labelOf(row);
    // Reports of the tool that name the asset itself show that it need not be called by another name.
    const mustBeOwn = label !== null && idsOf(label).some((id) => selfNamed.has(`${id} ${row.format}`));
    const isOwn = (target: string): boolean => idsOf(target).length > 0 || (!mustBeOwn && shown.has(target));
    const claims = [...(label === null ? [] : [isOwn]), ...nameClaims(row.scan_scope.track, judged, shown)];
    return !targetsOf(row).some((target) => claims.every((holds) => holds(target)));
  };
  const relabelled = new Set<string>();
  for (const row of rows) {
    if (targetsOf(row).length === 0) continue;
    if (isRelabelled(row)) relabelled.add(row.id);
    if (seenIn.has(row.id)) for (const target of targetsOf(row)) shown.add(target);
  }
  return relabelled;
}

/** Whether nothing in the report says what was scanned, by which tool or when. */
export function isSelfDescribed({ connection_id, run }: Pick<ScanRow, 'connection_id' | 'run'>): boolean {
  return connection_id === null && targetsOf({ run }).length === 0 && !run.names_tool && !run.names_time;
}

const targetsOf = ({ run }: Pick<ScanRow, 'run'>): string[] => run.targets ?? [];
const labelOf = ({ scan_scope: { asset } }: ScanRow): string | null => (typeof asset === 'object' ? asset.name : null);

/** What the name in the file must have in common with those that the scans before name. */
function nameClaims(
  track: string | undefined,
  { images, assets, tracks }: Record<keyof Merges, boolean>,
  shown: ReadonlySet<string>,
): ((target: string) => boolean)[] {
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
  const { rows } = await sql<Record<'id', string> & Record<keyof Merges, boolean>>`
    select a.id, a.type = 'container_image' as images, exists (select from ${mergedAssets} m where m.org_id = ${orgId} and m.asset_id = a.id) as assets,
      exists (select from ${mergedTracks} m where m.org_id = ${orgId} and m.asset_id = a.id)
        or exists (select from ${auditTrail} e where e.org_id = ${orgId} and e.object_id = a.id::text and e.action = 'asset.track_renamed') as tracks
    from ${assetFacts} a where a.org_id = ${orgId} and a.id = any(${assetIds as string[]}::uuid[])`.execute(tx);
  const idsOf = (which: keyof Merges): ReadonlySet<string> => new Set(rows.flatMap((row) => (row[which] ? [row.id] : [])));
  return { images: idsOf('images'), assets: idsOf('assets'), tracks: idsOf('tracks') };
}
