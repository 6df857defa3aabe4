import { type Asset, type AssetType, ReportError } from '@rrs/scan-reports';
import type { TrackPolicy } from '../../assets/names/track.ts';
import { type DescribedAsset, describeAsset, TrackError } from '../../assets/recognize/describe.ts';
import type { ScanScope } from './manage-imports.ts';

/** In a scan scope, says that the report is about something without a name. */
export const UNSPECIFIED = 'unspecified';

/** Types of assets of which `scan_scope.path` cannot name a part. */
export function hasNoParts(type: AssetType): boolean {
  return type === 'host' || type === 'container_image' || type === 'web_application' || type === 'cloud_resource';
}

/** Identifiers that only assets of one type have, so the report cannot be wrong about the type. */
const STRONG: readonly string[] = ['digest', 'arn'];

export interface ReportAssets {
  /** The asset of a record. Null if neither the record nor the scope names one. */
  of(asset: Asset | null): DescribedAsset | null;
  /**
   * Assets that the scope declares as covered, apart from those that the report has named so far. It knows better which track and build was scanned. A
   * report that lists what it covered, such as all hosts that answered, knows that, too: of types that it lists, nothing else was covered.
   */
  covered(listed: ReadonlySet<AssetType>): DescribedAsset[];
  /** What the report is about, if that is of another type than the scope says: a scan of a folder does not see what one of the image sees. */
  restrictions(): string[];
  /** Remarks for users about how assets were recognized. */
  notes(): string[];
}

/** What a report says about its asset that holds under any name: which build it is, and which machine. */
const OF_BUILD: readonly string[] = ['digest', 'image_id'];
const OF_MACHINE: readonly string[] = ['mac', 'agent_id', 'cloud_id'];

/** How many notes of one kind an import shows. */
const SHOWN = 5;

function describedAsset(asset: Asset, { version, track }: ScanScope, policy: TrackPolicy): DescribedAsset {
  try {
    return describeAsset(asset, { version, track }, policy);
  } catch (error) {
    if (error instanceof TrackError) throw new ReportError(error.message);
    throw error;
  }
}

/** Fails if the report is about something that the scope cannot be about. `built` collects the assets that its version is a build of. */
function assertScope({ version, path }: ScanScope, { type, name }: DescribedAsset, built: Set<string>): void {
  if (path !== undefined && hasNoParts(type))
    throw new ReportError(`\`scan_scope.path\` names a part of a repository, but the report is about the ${type} "${name}". Leave out the path.`);
  if (version === undefined) return;
  built.add(`${type} "${name}"`);
  if (built.size > 1)
    throw new ReportError(
      `\`scan_scope.version\` names a build of one asset, but the report and its scope are about several (${[...built].join(', ')} …). Leave it out, or import one report per asset.`,
    );
}

/** How many different names of one report are remembered. */
const REMEMBERED = 50_000;

/** Decides which asset each record of a report is about. The scope takes precedence over what a report about one asset calls it. */
export function reportAssets(scope: ScanScope, assetType: AssetType, policy: TrackPolicy): ReportAssets {
  const named = scope.asset === UNSPECIFIED ? { type: assetType, name: UNSPECIFIED } : scope.asset ? { ...scope.asset, stated: {} } : null;
  const known = new Map<string, DescribedAsset>();
  const seen = new WeakMap<Asset, DescribedAsset>();
  const others = new Set<string>();
  const notes = new Set<string>();
  const types = new Set<AssetType>();
  const built = new Set<string>();
  const stated = new Map<string, DescribedAsset>();
  /** Where the report knows no more than their names, it means the hosts that the scope names. */
  const statedHosts = new Set<string>();
  const describe = (asset: Asset): DescribedAsset => {
    const signature = JSON.stringify(asset);
    const found = known.get(signature);
    if (found) return found;
    if (known.size >= REMEMBERED) known.clear();
    const own = describedAsset(asset, scope, policy);
    const described = own.type === 'host' && statedHosts.has(own.assetKey) ? { ...own, stated: { id: null, machineKeys: [] } } : own;
    assertScope(scope, described, built);
    // A single build closes nothing, which is worth a note only where something could have been closed.
    if (described.track.note !== undefined && (described.track.kind !== 'build' || scope.coverage === 'complete')) notes.add(described.track.note);
    known.set(signature, described);
    return described;
  };
  /** Records about one asset often share the object, and comparing objects is cheaper than writing them. */
  const describeOnce = (asset: Asset): DescribedAsset => {
    const described = seen.get(asset) ?? describe(asset);
    seen.set(asset, described);
    return described;
  };
  const renamed = (asset: Asset, name: Asset): DescribedAsset => {
    others.add(`${asset.type} "${asset.name}"`);
    if (others.size > 1)
      throw new ReportError(
        `The report is about several assets (${[...others].join(', ')} …), so \`scan_scope.asset\` cannot name a single one. Leave it out, or import one report per asset.`,
      );
    if (asset.type !== name.type && (asset.identifiers ?? []).some(({ kind }) => STRONG.includes(kind)))
      throw new ReportError(
        `The report is about the ${asset.type} "${asset.name}", and \`scan_scope.asset\` says that it is a ${name.type}. Correct the type, or import the report that was meant.`,
      );
    if (asset.type !== name.type) types.add(asset.type);
    const { version, commit, ref, platform } = asset;
    const kept = (asset.identifiers ?? []).filter(({ kind }) => OF_BUILD.includes(kind) || (name.type === 'host' && OF_MACHINE.includes(kind)));
    return describe({
      ...name,
      ...(version === undefined ? {} : { version }),
      ...(commit === undefined ? {} : { commit }),
      ...(ref === undefined ? {} : { ref }),
      ...(platform === undefined ? {} : { platform }),
      ...(kept.length > 0 ? { identifiers: kept } : {}),
    });
  };
  const single = named && describe(named);
  for (const asset of [...(single ? [single] : []), ...(scope.assets ?? []).map((name) => describe({ ...name, stated: {} }))])
    stated.set(asset.trackKey, asset);
  for (const { type, assetKey } of named ? [] : stated.values()) if (type === 'host') statedHosts.add(assetKey);
  /** A host that the scope names by its address is the one that the report knows better. */
  const mention = (asset: DescribedAsset): DescribedAsset => {
    if (stated.size === 0) return asset;
    const names = [asset.assetKey, ...asset.keys.map(({ key }) => key.replace(/^host:ip:/, 'host:'))];
    for (const key of [...names.flatMap((name) => [`${name}\n${asset.track.track}`, `${name}\n`]), ...(single ? [single.trackKey] : [])]) stated.delete(key);
    return asset;
  };
  return {
    of: (asset) => (named ? (asset ? mention(renamed(asset, named)) : (single as DescribedAsset)) : asset ? mention(describeOnce(asset)) : null),
    covered: (listed) => {
      // All assets that the report lists are the single one, whatever their type.
      const isMissing = (asset: DescribedAsset): boolean => listed.has(asset.type) || (asset === single && listed.size > 0);
      const all = [...stated.values()];
      for (const { type, name } of all.filter(isMissing))
        notes.add(`The report does not list the ${type} "${name}", so it says nothing about it, although \`scan_scope\` names it.`);
      return all.filter((asset) => !isMissing(asset));
    },
    restrictions: () => [...types].map((type) => `asset of type ${type}`),
    notes: () => {
      const [other] = others;
      const some = [...notes].slice(0, SHOWN);
      if (!named || other === undefined || other === `${named.type} "${named.name}"`) return some;
      return [...some, `The report calls its asset ${other}. Its findings were recorded on ${named.type} "${named.name}", as \`scan_scope.asset\` says.`];
    },
  };
}
