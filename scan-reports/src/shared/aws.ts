import type { Asset, AssetIdentifier } from '../contract.ts';

/** Assets and locations for Amazon Inspector and AWS Security Hub, whose field names differ only in case. */

interface AwsImage {
  registry?: string | undefined;
  repository?: string | undefined;
  digest?: string | undefined;
  tag?: string | undefined;
}

interface AwsResource {
  id: string;
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
  const version = image.tag ? `:${image.tag}` : found.digest ? `@${found.digest}` : '';
  return {
    type: 'container_image',
    name: found.repository ? `${host}${found.repository}${version}` : id,
    identifiers: [...(found.digest ? [{ kind: 'digest' as const, value: found.digest }] : []), ...arnOf(id)],
  };
}

export function resourceAsset({ id }: AwsResource): Asset {
  return { type: 'cloud_resource', name: id, identifiers: arnOf(id) };
}

interface AwsPackage {
  name: string | undefined;
  version: string | undefined;
  epoch: string | undefined;
  release: string | undefined;
  fixed: string | undefined;
  path: string | undefined;
}

/** AWS reports one finding even if several packages have the weakness. The first package is the location. `packageText` lists all. */
export function packageLocation(packages: readonly AwsPackage[]) {
  const [first] = packages;
  const fixes = packages.flatMap(({ name, fixed }) => (name === first?.name && fixed && !/^not ?available$/i.test(fixed) ? [withoutZeroEpoch(fixed)] : []));
  return {
    component: first?.name,
    version: first && versionOf(first),
    fixed_version: [...new Set(fixes)].join(', '),
    path: first?.path,
  };
}

export function packageText(packages: readonly AwsPackage[]): string | undefined {
  if (packages.length < 2) return undefined;
  return `Packages:\n${packages.map((one) => `- ${[one.name, versionOf(one), one.path].filter(Boolean).join(' ')}`).join('\n')}`;
}

function versionOf({ epoch, version, release }: AwsPackage): string | undefined {
  if (version === undefined) return undefined;
  return `${epoch && epoch !== '0' ? `${epoch}:` : ''}${version}${release ? `-${release}` : ''}`;
}

function withoutZeroEpoch(version: string): string {
  return version.replace(/^0:/, '');
}
