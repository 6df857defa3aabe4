import type { Asset, AssetIdentifier, Cvss, Observation } from '@rrs/scan-reports';
import { cwesOf, hostAsset, idsIn, observation, required, severityOf, severityOfScore } from '@rrs/scan-reports/normalize.ts';
import { arr, count, date, num, type Obj, obj, plain, str } from '@rrs/scan-reports/read.ts';

/** The lists of an asset: findings that are new since the comparison time, unchanged, and no longer found. */
const LISTS = ['new', 'same', 'remediated'] as const;

interface Found {
  list: (typeof LISTS)[number];
  value: unknown;
  place: string;
}

export function findingsOn(asset: Obj, place: string): Found[] {
  return LISTS.flatMap((list) => arr(asset[list]).map((value, n) => ({ list, value, place: `${place}.${list}[${n}]` })));
}

/** Named like the nodes of a report (format `nexpose`), with the id of the platform in addition. */
export function assetOf(asset: Obj): Asset {
  const id = required(str(asset.id), 'id of the asset');
  const { name, identifiers = [] } = hostAsset({ given: str(asset.host_name), ip: str(asset.ip), mac: str(asset.mac) });
  const agents = arr(asset.unique_identifiers)
    .map(obj)
    .filter(({ source }) => /^R7 Agent$/i.test(str(source) ?? ''))
    .flatMap((agent): AssetIdentifier[] => (str(agent.id) ? [{ kind: 'agent_id', value: str(agent.id) as string }] : []));
  return { type: 'host', name: identifiers.length > 0 ? name : id, identifiers: [...identifiers, { kind: 'cloud_id', value: id }, ...agents] };
}

/** Whether the asset was assessed and its findings are listed. */
export function isCovered(asset: Obj, found: readonly Found[]): boolean {
  return asset.assessed_for_vulnerabilities === true && (found.some(({ list }) => list !== 'remediated') || (num(asset.total_vulnerabilities) ?? 0) === 0);
}

/** Tested and not vulnerable, or replaced by the result of another check. */
const NOT_PRESENT = /^(?:NOT_VULN|OVERRIDDEN|SUPERSEDED)/i;
/** Present, but accepted with an exception. */
const EXCEPTED = /^EXCEPTION/i;

export function findingOf({ list, value, place }: Found, asset: Asset, definition: Obj): Observation {
  const finding = obj(value);
  const rule = required(str(finding.vulnerability_id)?.toLowerCase(), 'vulnerability_id');
  const status = str(finding.status) ?? '';
  const [key, port, protocol] = [str(finding.key), count(finding.port), str(finding.protocol)?.toLowerCase()];
  const links = arr(definition.links).map(obj);
  const assetId = asset.identifiers?.find(({ kind }) => kind === 'cloud_id')?.value;
  return observation({
    place,
    tool: 'nexpose',
    rule,
    external_id: [assetId, rule, port ?? '', protocol ?? '', str(finding.nic) ?? '', key ?? ''].join('|'),
    title: str(definition.title) ?? rule,
    description: [plain(str(definition.description)), plain(str(finding.proof))].filter(Boolean).join('\n\n'),
    solution: [str(finding.solution_summary), plain(str(finding.solution_fix))].filter(Boolean).join('\n\n'),
    severity: str(definition.severity) ? severityOf(str(definition.severity)) : severityOfScore(num(definition.severity_score)),
    tool_severity: str(definition.severity),
    vulnerability_ids: idsIn(...arr(definition.cves).map(str)),
    cwes: cwesOf(
      str(definition.references)?.match(/cwe:[^,]+/gi) ?? [],
      links.filter(({ source }) => /^cwe$/i.test(str(source) ?? '')).map(({ id }) => id),
    ),
    cvss: [...cvssOf(definition.cvss_v3_vector, definition.cvss_v3_score), ...cvssOf(definition.cvss_v2_vector, definition.cvss_v2_score)],
    references: links.flatMap(({ href }) => str(href) ?? []),
    asset,
    // Distinguishes several results of one check on a host: a file, an account, an address.
    location: { port, protocol, resource: key },
    present: !NOT_PRESENT.test(status) && (list !== 'remediated' || EXCEPTED.test(status)),
    suppressed: EXCEPTED.test(status),
    first_seen: date(finding.first_found),
    last_seen: date(finding.last_found),
    tags: [...(str(definition.categories)?.split(',') ?? []), ...(/POT/i.test(status) ? ['potential'] : [])].map((tag) => tag.trim()),
  });
}

/** Vectors of version 2 are in parentheses. */
function cvssOf(vector: unknown, score: unknown): Cvss[] {
  const bare = str(vector)?.replaceAll(/[()]/g, '');
  if (!bare?.includes(':')) return [];
  const number = num(score);
  return [{ vector: bare, ...(number === undefined ? {} : { score: number }) }];
}
