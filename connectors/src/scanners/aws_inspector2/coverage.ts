import type { Asset } from '@rrs/scan-reports';
import { imageAsset, instanceAsset, resourceAsset } from '@rrs/scan-reports/aws.ts';
import { num, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';
import type { ScanOfAsset } from '../../core/contract.ts';

/**
 * The scanned assets under the names in their findings. Network reachability scans do not count: a host whose agent is gone is still scanned from
 * outside, but has lost its package findings without being fixed.
 */
export function coverageOf(resources: readonly unknown[], region: string): { covers: Asset[]; scans: ScanOfAsset[] } {
  const covered = new Map<string, { asset: Asset; times: Date[] }>();
  for (const resource of resources.map(obj)) {
    const { scanType, scanStatus, lastScannedAt } = resource;
    const asset =
      scanType !== 'NETWORK' && obj(scanStatus).statusCode === 'ACTIVE' && obj(scanStatus).reason === 'SUCCESSFUL' ? assetOf(resource, region) : null;
    if (!asset) continue;
    const key = `${asset.type} ${asset.name}`;
    const known = covered.get(key) ?? { asset, times: [] };
    const seconds = num(lastScannedAt);
    if (seconds !== undefined) known.times.push(new Date(seconds * 1000));
    covered.set(key, known);
  }
  // Packages and code of an asset are scanned separately. What the earlier scan did not see yet can still be there.
  const earliest = (times: readonly Date[]) => new Date(Math.min(...times.map((time) => time.getTime())));
  const assets = [...covered.values()];
  return {
    covers: assets.map(({ asset }) => asset),
    scans: assets.flatMap(({ asset, times }) => (times.length === 0 ? [] : [{ asset, finished_at: earliest(times) }])),
  };
}

function assetOf(resource: Obj, region: string): Asset | null {
  const id = str(resource.resourceId);
  if (id === undefined) return null;
  const { ecrImage, codeRepository } = obj(resource.resourceMetadata);
  switch (resource.resourceType) {
    case 'AWS_EC2_INSTANCE':
      return instanceAsset({ id, region }, []);
    case 'AWS_ECR_CONTAINER_IMAGE':
      return imageAsset({ id, region }, { tags: strs(obj(ecrImage).tags) });
    case 'AWS_LAMBDA_FUNCTION':
      return resourceAsset({ id, account: str(resource.accountId), region });
    case 'CODE_REPOSITORY':
      return { type: 'repository', name: str(obj(codeRepository).projectName) ?? id };
    default:
      return null;
  }
}
