import type { Asset } from '@rrs/scan-reports';
import { imageAsset, instanceAsset, resourceAsset } from '@rrs/scan-reports/aws.ts';
import { type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';

/**
 * The scanned assets under the names in their findings. Network reachability scans do not count: a host whose agent is gone is still scanned from
 * outside, but has lost its package findings without being fixed.
 */
export function coveredAssets(resources: readonly unknown[], region: string): Asset[] {
  const assets = resources
    .map(obj)
    .filter(({ scanType, scanStatus }) => scanType !== 'NETWORK' && obj(scanStatus).statusCode === 'ACTIVE' && obj(scanStatus).reason === 'SUCCESSFUL')
    .flatMap((resource) => assetOf(resource, region) ?? []);
  return [...new Map(assets.map((asset) => [`${asset.type} ${asset.name}`, asset])).values()];
}

function assetOf(resource: Obj, region: string): Asset | null {
  const id = str(resource.resourceId);
  if (id === undefined) return null;
  const { ecrImage, codeRepository } = obj(resource.resourceMetadata);
  switch (resource.resourceType) {
    case 'AWS_EC2_INSTANCE':
      return instanceAsset({ id, region }, []);
    case 'AWS_ECR_CONTAINER_IMAGE':
      return imageAsset({ id, region }, { tag: strs(obj(ecrImage).tags)[0] });
    case 'AWS_LAMBDA_FUNCTION':
      return resourceAsset({ id, region });
    case 'CODE_REPOSITORY':
      return { type: 'repository', name: str(obj(codeRepository).projectName) ?? id };
    default:
      return null;
  }
}
