import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { Asset } from '@rrs/scan-reports';
import { type NormalAsset, normalAsset } from '../names/asset-name.ts';
import { type Track, type TrackPolicy, trackOf } from '../names/track.ts';
import { type AssetKey, assetKeys, MAC } from './keys.ts';

export interface DescribedAsset {
  /** Names the asset, its track and its build within one import. */
  stagingKey: string;
  /** Names the asset. */
  assetKey: string;
  /** Names the asset and its track. Builds of one track say the same if they say the same words. */
  trackKey: string;
  type: Asset['type'];
  name: string;
  /** How well the name identifies the asset: 0 is best. An asset that is known by several names is shown with the best one. */
  nameRank: number;
  keys: AssetKey[];
  track: Track;
  digest: string | null;
  commit: string | null;
  /**
   * What tells apart those that have the name: the platform of an image, or everything that identifies a machine, with spaces between. Null if the report does not
   * state it.
   */
  variant: string | null;
  /** Everything that names the build and no other one: digests and ids of an image, the commit. */
  buildIds: string[];
  /** Set for a host whose name is the one under which people see it: its id if that is known, and keys of the machine that the report is about. */
  stated: { id: string | null; machineKeys: string[] } | null;
}

/** What the caller of an import states about its asset. */
export interface StatedBuild {
  version?: string | undefined;
  track?: string | undefined;
}

/** The statement about the track contradicts what the report says. The message is for users. */
export class TrackError extends Error {}

/** Finds out which asset a name means, and which track and build of it. */
export function describeAsset(asset: Asset, build: StatedBuild = {}, policy: TrackPolicy = { track_names: [] }): DescribedAsset {
  const named = normalAsset(asset);
  const stating = statedImage(asset, build);
  const normal = { ...named, digest: named.digest ?? stating.digest };
  const track = trackOf({ ...normal, stated: { ...build, version: stating.version } }, policy);
  if ('error' in track) throw new TrackError(track.error);
  const stated = asset.type === 'host' ? statedHost(asset, normal) : null;
  const keys = assetKeys(stated ? { ...asset, identifiers: [] } : asset, normal);
  const assetKey = stated?.id ? `${normal.key} ${stated.id}` : assetKeyOf(normal, keys);
  const trackKey = `${assetKey}\n${track.track}`;
  const commit = normal.commit ?? commitIn(asset, build);
  return {
    stagingKey: [trackKey, track.version, normal.digest, commit, ...(asset.platform === undefined ? [] : [asset.platform])].join('\n'),
    assetKey,
    trackKey,
    type: asset.type,
    name: normal.name,
    nameRank: nameRank(normal),
    keys,
    track,
    digest: normal.digest,
    commit,
    variant: asset.type === 'host' ? machineOf(keys) : (asset.platform ?? null),
    buildIds: [...new Set([normal.digest, stating.digest, commit, ...idsOf(asset)].filter((id) => id !== null))],
    stated,
  };
}

/** A stated name alone tells which host is meant. What the report says about the machine can contradict it. */
function statedHost(asset: Asset, normal: NormalAsset): DescribedAsset['stated'] {
  if (asset.stated === undefined) return null;
  return { id: asset.stated.id ?? null, machineKeys: machineKeys(assetKeys(asset, normal)) };
}

function machineKeys(keys: readonly AssetKey[]): string[] {
  return keys.filter(({ key }) => /^host:(?:mac|agent_id|cloud_id):/.test(key)).map(({ key }) => key);
}

/** A host whose name others may share is told apart by the best that is known of it, and machines that have one name by what identifies the machine. */
function assetKeyOf({ key }: NormalAsset, keys: readonly AssetKey[]): string {
  const machine = machineKeys(keys);
  if (machine.length > 0) return `${key} ${machine.length === 1 ? machine[0] : createHash('sha256').update(machine.join(' ')).digest('base64url')}`;
  const [best] = keys;
  const isShared = keys.some((known) => known.key === key && known.rank === 2);
  return isShared && best !== undefined ? `${key} ${best.key}` : key;
}

/** Most addresses and ids of a machine that are compared. */
const MAX_COMPARED = 32;

/** The addresses and ids of a machine, as one text. */
function machineOf(keys: readonly AssetKey[]): string | null {
  const ids = keys.filter(({ key }) => /^host:(?:ip|mac|agent_id|cloud_id):/.test(key)).map(({ key }) => key.slice('host:'.length).replaceAll(/[\s,]+/g, '_'));
  return ids.length === 0 ? null : ids.sort().slice(0, MAX_COMPARED).join(' ');
}

function idsOf({ identifiers = [] }: Asset): string[] {
  return identifiers.filter(({ kind }) => kind === 'digest' || kind === 'image_id').map(({ value }) => value.toLowerCase());
}

/** Pipelines state the commit of a repository as its version. */
function commitIn({ type }: Asset, { version }: StatedBuild): string | null {
  const name = version?.trim().toLowerCase() ?? '';
  return type === 'repository' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(name) ? name : null;
}

/** Pipelines state the digest of an image as its version, also behind its tag. */
function statedImage({ type }: Asset, { version }: StatedBuild): { version: string | undefined; digest: string | null } {
  const [, tag, digest] = (type === 'container_image' && /^(?:([^@]+)@)?(sha\d+:[0-9a-f]{32,})$/i.exec(version?.trim() ?? '')) || [];
  return digest === undefined ? { version, digest: null } : { version: tag ?? digest, digest: digest.toLowerCase() };
}

function nameRank({ type, name }: NormalAsset): number {
  if (type === 'host') return MAC.test(name) ? 3 : isIP(name) !== 0 ? 2 : name.includes('.') ? 0 : 1;
  if (type === 'repository') return /^[^/][^/.]*\.[^/]+\/./.test(name) ? 0 : name.startsWith('/') ? 2 : 1;
  return 0;
}
