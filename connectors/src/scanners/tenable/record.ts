import type { Asset, AssetIdentifier, Cvss, Observation, Severity } from '@rrs/scan-reports';
import { cpeComponent } from '@rrs/scan-reports/cpe.ts';
import { cwesOf, hostAsset, observation, required, severityOf } from '@rrs/scan-reports/normalize.ts';
import { arr, count, date, dayOf, num, obj, str, strs } from '@rrs/scan-reports/read.ts';
import type { ScanOfAsset } from '../../core/contract.ts';

const SEVERITIES: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical'];

/** Uses the same rules as scan reports (format `nessus`), so that a file and a connection produce the same finding. */
export function findingOf(value: unknown, place: string): Observation {
  const finding = obj(value);
  const plugin = obj(finding.plugin);
  const rule = required(str(plugin.id), 'plugin.id');
  const asset = obj(finding.asset);
  const uuid = required(str(asset.uuid), 'asset.uuid');
  const { port, protocol } = obj(finding.port);
  const solution = str(plugin.solution);
  return observation({
    place,
    tool: 'nessus',
    rule,
    external_id: str(finding.finding_id) ?? [uuid, rule, str(port) ?? '0', str(protocol) ?? ''].join(':'),
    title: str(plugin.name) ?? `Plugin ${rule}`,
    description: [str(plugin.synopsis), str(plugin.description), str(finding.output)].filter(Boolean).join('\n\n'),
    solution: /^n\/a$/i.test(solution ?? '') ? null : solution,
    severity: SEVERITIES[num(finding.severity_id) ?? -1] ?? severityOf(str(finding.severity)),
    tool_severity: str(finding.severity),
    vulnerability_ids: strs(plugin.cve),
    cwes: cwesOf(crossReferences(plugin.xrefs, 'CWE')),
    cvss: [
      ...cvssOf(plugin.cvss4_vector, plugin.cvss4_base_score, 'CVSS:4.0/'),
      ...cvssOf(plugin.cvss3_vector, plugin.cvss3_base_score, 'CVSS:3.0/'),
      ...cvssOf(plugin.cvss_vector, plugin.cvss_base_score, ''),
    ],
    references: strs(plugin.see_also).flatMap((lines) => lines.split(/\s+/)),
    asset: hostOf(uuid, {
      fqdn: str(asset.fqdn),
      given: str(asset.hostname),
      netbios: str(asset.netbios_name),
      ip: str(asset.ipv4) ?? str(asset.ipv6),
      mac: str(asset.mac_address),
      agent: str(asset.agent_uuid),
    }),
    location: { port: count(port), protocol: str(protocol)?.toLowerCase(), ...cpeComponent(strs(plugin.cpe)[0]) },
    present: str(finding.state)?.toUpperCase() !== 'FIXED',
    suppressed: str(finding.severity_modification_type)?.toUpperCase() === 'ACCEPTED',
    first_seen: date(finding.first_found),
    last_seen: date(finding.last_found),
    tags: strs(plugin.family),
    fix_published_date: dayOf(date(plugin.patch_publication_date)),
  });
}

/** A host of the assets export. Null if it was deleted or terminated. */
export function coveredAsset(value: unknown): Asset | null {
  const asset = obj(value);
  const id = str(asset.id);
  if (id === undefined || date(asset.deleted_at) !== null || date(asset.terminated_at) !== null) return null;
  const first = (field: string): string | undefined => strs(asset[field])[0];
  return hostOf(id, {
    fqdn: first('fqdns'),
    given: first('hostnames'),
    netbios: first('netbios_names'),
    ip: first('ipv4s') ?? first('ipv6s'),
    mac: first('mac_addresses'),
    agent: str(asset.agent_uuid),
    instances: [asset.aws_ec2_instance_id, asset.azure_vm_id, asset.gcp_instance_id].flatMap((one) => str(one) ?? []),
  });
}

/** The last scan of a host of the assets export. It was credentialed if it is also the last one that could log in. */
export function scanOf(value: unknown): ScanOfAsset | null {
  const { last_scan_time, last_authenticated_scan_date } = obj(value);
  const [asset, finished_at, authenticated] = [coveredAsset(value), date(last_scan_time), date(last_authenticated_scan_date)];
  return asset && finished_at ? { asset, finished_at, credentialed: authenticated !== null && authenticated >= finished_at } : null;
}

interface Names {
  fqdn: string | undefined;
  given: string | undefined;
  netbios: string | undefined;
  ip: string | undefined;
  mac: string | undefined;
  agent: string | undefined;
  instances?: readonly string[];
}

function hostOf(id: string, { netbios, agent, instances = [], ...names }: Names): Asset {
  const { name, identifiers = [] } = hostAsset({ ...names, netbios: netbios?.split('\\').at(-1) });
  const additional: AssetIdentifier[] = [id, ...instances].map((value) => ({ kind: 'cloud_id', value }));
  if (agent) additional.push({ kind: 'agent_id', value: agent });
  return { type: 'host', name: identifiers.length > 0 ? name : id, identifiers: [...identifiers, ...additional] };
}

/** Vectors of versions 3 and 4 lack the version prefix. */
function cvssOf(vector: unknown, score: unknown, prefix: string): Cvss[] {
  const raw = (str(obj(vector).raw) ?? str(vector))?.replace(/^CVSS2#/i, '');
  if (!raw?.includes(':')) return [];
  const number = num(score);
  return [{ vector: raw.startsWith('CVSS:') ? raw : `${prefix}${raw}`, ...(number === undefined ? {} : { score: number }) }];
}

function crossReferences(references: unknown, type: string): string[] {
  return arr(references)
    .map(obj)
    .filter((reference) => str(reference.type)?.toUpperCase() === type)
    .flatMap(({ id }) => str(id) ?? []);
}
