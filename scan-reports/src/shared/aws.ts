import type { Asset, AssetIdentifier, Observation } from '../contract.ts';
import { cloudAsset } from '../names/cloud.ts';
import { oneTag } from '../names/one-tag.ts';
import { ecosystemOf } from './ecosystem.ts';

/** Assets and locations for Amazon Inspector and AWS Security Hub, whose field names differ only in case. */

interface AwsImage {
  registry?: string | undefined;
  repository?: string | undefined;
  digest?: string | undefined;
  /** In any order. */
  tags?: readonly string[];
}

interface AwsResource {
  id: string;
  account?: string | undefined;
  region: string | undefined;
}

function arnOf(id: string): AssetIdentifier[] {
  return id.startsWith('arn:') ? [{ kind: 'arn', value: id }] : [];
}

/** Addresses that many hosts share. As identifiers they would merge different hosts. */
const SHARED_ADDRESS = /^(?:0\.0\.0\.0|127\.[\d.]+|::1?)$/;

/** The instance id is the name because addresses change. */
export function instanceAsset({ id }: AwsResource, addresses: readonly string[]): Asset {
  const instance = id.split(/[/:]/).at(-1) || id;
  return {
    type: 'host',
    name: instance,
    identifiers: [
      { kind: 'cloud_id', value: instance },
      ...arnOf(id),
      ...addresses.filter((address) => !SHARED_ADDRESS.test(address)).map((value) => ({ kind: 'ip' as const, value })),
    ],
  };
}

/** Names an ECR image by its pull reference. */
export function imageAsset({ id, region }: AwsResource, image: AwsImage): Asset {
  const [, partition, arnRegion, account, repository, digest] = /^arn:([^:]+):ecr:([^:]*):([^:]*):repository\/(.+?)(?:\/(sha256:[0-9a-f]+))?$/i.exec(id) ?? [];
  const found = { registry: image.registry ?? account, repository: image.repository ?? repository, digest: image.digest ?? digest };
  const imageRegion = region ?? arnRegion;
  const host = found.registry && imageRegion ? `${found.registry}.dkr.ecr.${imageRegion}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/` : '';
  const tag = oneTag(image.tags ?? []);
  const version = tag ? `:${tag}` : found.digest ? `@${found.digest}` : '';
  return {
    type: 'container_image',
    name: found.repository ? `${host}${found.repository}${version}` : id,
    identifiers: [...(found.digest ? [{ kind: 'digest' as const, value: found.digest }] : []), ...arnOf(id)],
  };
}

export function resourceAsset(resource: AwsResource): Asset {
  return cloudAsset({ provider: 'aws', ...resource });
}

interface AwsPackage {
  name: string | undefined;
  version: string | undefined;
  epoch: string | undefined;
  release: string | undefined;
  fixed: string | undefined;
  path: string | undefined;
  /** Package manager, as AWS calls it. */
  manager?: string | undefined;
  layer?: string | undefined;
}

/** AWS reports one finding even if several packages have the weakness. Returns one location per package, version and file. */
export function packageLocations(packages: readonly AwsPackage[]) {
  const locations = new Map<string, { fixes: string[]; first: AwsPackage }>();
  for (const one of packages) {
    const key = JSON.stringify([one.name, versionOf(one), one.path]);
    const known = locations.get(key) ?? { fixes: [], first: one };
    if (one.fixed && !/^not ?available$/i.test(one.fixed)) known.fixes.push(withoutZeroEpoch(one.fixed));
    locations.set(key, known);
  }
  return [...locations.values()].map(({ fixes, first }) => ({
    component: first.name,
    version: versionOf(first),
    fixed_version: [...new Set(fixes)].join(', '),
    ecosystem: ecosystemOf(first.manager),
    layer: first.layer,
    path: first.path,
  }));
}

/** Exploits and fixes, which AWS states as YES, NO or PARTIAL. */
export function availability(exploit: string | undefined, fix: string | undefined): Pick<Observation, 'exploit_maturity' | 'fix_state'> {
  return {
    ...(exploit === 'YES' ? { exploit_maturity: 'proof_of_concept' as const } : {}),
    ...(fix === 'YES' || fix === 'PARTIAL' ? { fix_state: 'available' as const } : fix === 'NO' ? { fix_state: 'not_available' as const } : {}),
  };
}

function versionOf({ epoch, version, release }: AwsPackage): string | undefined {
  if (version === undefined) return undefined;
  return `${epoch && epoch !== '0' ? `${epoch}:` : ''}${version}${release ? `-${release}` : ''}`;
}

function withoutZeroEpoch(version: string): string {
  return version.replace(/^0:/, '');
}
