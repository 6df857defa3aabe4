import type { Asset, AssetIdentifier, Observation } from '@rrs/scan-reports';
import { instanceAsset } from '@rrs/scan-reports/aws.ts';
import { filePath, idsIn, observation, required, severityOf, severityOfScore } from '@rrs/scan-reports/normalize.ts';
import { ratingOf } from '@rrs/scan-reports/ratings.ts';
import { date, num, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';

/** Contains only fields and asset types that every tenant has, because an unknown one makes Wiz refuse the whole query. */
export const QUERY = `query Findings($filterBy: VulnerabilityFindingFilters, $first: Int, $after: String) {
  vulnerabilityFindings(filterBy: $filterBy, first: $first, after: $after) {
    nodes {
      id portalUrl name CVEDescription CVSSSeverity score vendorSeverity description remediation detailedName version fixedVersion
      detectionMethod link locationPath status hasExploit hasCisaKevExploit firstDetectedAt lastDetectedAt resolvedAt
      vulnerableAsset {
        ... on VulnerableAssetBase { id type name region providerUniqueId cloudPlatform subscriptionExternalId }
        ... on VulnerableAssetVirtualMachine { operatingSystem ipAddresses }
        ... on VulnerableAssetContainerImage { imageId }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`;

export function findingOf(node: Obj, place: string): Observation {
  const name = required(str(node.name), 'name');
  const component = str(node.detailedName);
  const status = required(str(node.status), 'status');
  const severity = str(node.vendorSeverity) ?? str(node.CVSSSeverity);
  const known = severityOf(severity);
  return observation({
    place,
    tool: 'wiz',
    rule: name,
    external_id: required(str(node.id), 'id'),
    title: component ? `${name} in ${component}` : name,
    description: str(node.CVEDescription) ?? str(node.description),
    solution: str(node.remediation),
    severity: known === 'unknown' ? severityOfScore(num(node.score)) : known,
    tool_severity: severity,
    vulnerability_ids: idsIn(name),
    cvss: ratingOf(undefined, node.score),
    references: [strs(node.link), strs(node.portalUrl)].flat(),
    asset: assetOf(obj(node.vulnerableAsset)),
    location: { component, version: str(node.version), fixed_version: str(node.fixedVersion), path: filePath(str(node.locationPath)) },
    present: status !== 'RESOLVED',
    suppressed: status === 'REJECTED',
    first_seen: date(node.firstDetectedAt),
    last_seen: date(node.lastDetectedAt),
    tags: [node.hasExploit === true ? 'exploit' : [], node.hasCisaKevExploit === true ? 'kev' : [], strs(node.detectionMethod)].flat(),
    known_exploited: node.hasCisaKevExploit === true,
  });
}

/** Names are not unique across clouds. The cloud id is part of the name, so that two assets with the same name stay separate. */
function assetOf(asset: Obj): Asset {
  const id = required(str(asset.id), 'vulnerableAsset');
  const name = str(asset.name) ?? id;
  const cloudId = str(asset.providerUniqueId);
  const identifiers: AssetIdentifier[] = [
    ...(cloudId ? [{ kind: cloudId.startsWith('arn:') ? ('arn' as const) : ('cloud_id' as const), value: cloudId }] : []),
    { kind: 'cloud_id', value: id },
  ];
  const unique = cloudId?.startsWith('arn:') ? cloudId : `${name} (${cloudId ?? id})`;
  const type = str(asset.type) ?? '';
  if (/^VIRTUAL_MACHINE$|^ENDPOINT$/.test(type)) return hostOf(asset, unique, identifiers);
  if (type === 'CONTAINER_IMAGE') return imageOf(asset, name, identifiers);
  if (type.startsWith('REPOSITORY')) return { type: 'repository', name };
  return { type: 'cloud_resource', name: unique, identifiers };
}

function hostOf(asset: Obj, unique: string, identifiers: readonly AssetIdentifier[]): Asset {
  const addresses = strs(asset.ipAddresses);
  const cloudId = str(asset.providerUniqueId) ?? '';
  // Other AWS sources identify an instance by its id.
  const instance = /^arn:[^:]+:ec2:.*:instance\/i-|^i-[0-9a-f]{8,}$/.test(cloudId)
    ? instanceAsset({ id: cloudId, region: str(asset.region) }, addresses)
    : null;
  if (instance) return { ...instance, identifiers: [...(instance.identifiers ?? []), ...identifiers.slice(-1)] };
  return { type: 'host', name: unique, identifiers: [...identifiers, ...addresses.map((value) => ({ kind: 'ip' as const, value }))] };
}

function imageOf(asset: Obj, name: string, identifiers: readonly AssetIdentifier[]): Asset {
  const [digest] = /sha256:[0-9a-f]{64}/.exec([asset.providerUniqueId, asset.imageId, name].map(str).join(' ')) ?? [];
  return {
    type: 'container_image',
    name: digest && !name.includes('@') ? `${name}@${digest}` : name,
    identifiers: [...(digest ? [{ kind: 'digest' as const, value: digest }] : []), ...identifiers],
  };
}
