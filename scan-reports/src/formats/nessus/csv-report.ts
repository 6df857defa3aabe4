import type { Asset, Observation, ReportEntry, ReportInput } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { cwesOf, hostAsset, idsIn, isIp, observation, record, required, webAsset } from '../../shared/normalize.ts';
import { epssOf } from '../../shared/ratings.ts';
import { count, date, dayOf, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { componentOf, cvssOf, exploitOf, pageIn, severityOfRisk, solutionOf } from './item.ts';
import { isDead, PING, SCAN_INFORMATION, scanInformation } from './scan-information.ts';

type HasColumns = (...names: string[]) => boolean;

/** Columns that identify the exports of Nessus and classic Vulnerability Management, of Security Center, and of Vulnerability Management. */
const KINDS = [
  ['Plugin ID', 'Host', 'Name'],
  ['Plugin', 'Plugin Name'],
  ['definition.id', 'definition.name'],
] as const;

export function isNessusCsv(hasColumns: HasColumns): boolean {
  return KINDS.some((columns) => hasColumns(...columns));
}

const COLUMNS = {
  plugin: ['Plugin ID', 'Plugin', 'definition.id'],
  name: ['Name', 'Plugin Name', 'definition.name'],
  id: ['id'],
  host: ['Host', 'asset.host_name', 'asset.name'],
  ip: ['IP Address', 'asset.display_ipv4_address', 'asset.ipv4_addresses', 'asset.display_ipv6_address'],
  fqdn: ['FQDN', 'DNS Name', 'DNS Name (FQDN)', 'asset.display_fqdn'],
  netbios: ['NetBIOS Name', 'NetBios', 'NetBIOS', 'asset.netbios_name'],
  mac: ['MAC Address', 'asset.display_mac_address'],
  severity: ['Risk', 'Severity', 'severity', 'Risk Factor', 'definition.severity'],
  state: ['Vulnerability State', 'state', 'State'],
  modified: ['risk_modified', 'Risk Modified'],
  accepted: ['Accept Risk Comment'],
  cve: ['CVE', 'definition.cve'],
  cwe: ['definition.cwe', 'CWE'],
  cpe: ['CPE', 'definition.cpe'],
  protocol: ['Protocol', 'protocol'],
  port: ['Port', 'port'],
  synopsis: ['Synopsis', 'definition.synopsis'],
  description: ['Description', 'definition.description'],
  output: ['Plugin Output', 'Plugin Text', 'output'],
  solution: ['Solution', 'Steps to Remediate', 'definition.solution'],
  references: ['See Also', 'definition.see_also'],
  crossReferences: ['XREF', 'Cross References', 'definition.references'],
  family: ['Family', 'Plugin Family', 'definition.family'],
  epss: ['EPSS Score', 'EPSS', 'definition.epss.score'],
  epssPercentile: ['EPSS Percentile', 'definition.epss.percentile'],
  exploit: ['Exploit?', 'Exploit Available', 'definition.exploit_available'],
  exploitEase: ['Exploit Ease', 'definition.exploitability_ease'],
  exploitMaturity: ['Exploit Maturity', 'Exploit Code Maturity', 'definition.vpr.drivers_exploit_code_maturity'],
  frameworks: ['Exploit Frameworks', 'Metasploit', 'Core Impact', 'CANVAS'],
  malware: ['definition.exploited_by_malware'],
  patched: ['Patch Publication Date', 'definition.patch_published'],
  started: ['Host Start'],
  ended: ['Host End'],
  firstSeen: ['First Discovered', 'First Found', 'First Seen', 'first_observed'],
  seen: ['Last Observed', 'Last Found', 'Last Seen', 'last_observed', 'last_seen', 'Host End'],
  vector4: ['CVSS V4 Vector', 'CVSS v4.0 Vector', 'CVSS4 Vector', 'definition.cvss4.base_vector'],
  score4: ['CVSS V4 Base Score', 'CVSS v4.0 Base Score', 'CVSS4 Base Score', 'definition.cvss4.base_score'],
  vector3: ['CVSS V3 Vector', 'CVSS v3.0 Vector', 'CVSS3 Vector', 'definition.cvss3.base_vector'],
  score3: ['CVSS V3 Base Score', 'CVSSv3', 'CVSS v3.0 Base Score', 'CVSS3 Base Score', 'definition.cvss3.base_score'],
  vector2: ['CVSS V2 Vector', 'CVSS v2.0 Vector', 'CVSS Vector', 'definition.cvss2.base_vector'],
  score2: ['CVSS V2 Base Score', 'CVSS v2.0 Base Score', 'CVSS Base Score', 'CVSS', 'definition.cvss2.base_score'],
} as const;

type Cell = (column: keyof typeof COLUMNS) => string | undefined;

export async function* readCsv(input: ReportInput, hasColumns: HasColumns): AsyncGenerator<ReportEntry> {
  const columns = KINDS.find((kind) => hasColumns(...kind)) ?? KINDS[0];
  let names: Readonly<Record<string, readonly string[]>> | null = null;
  const end = csvEnd();
  for await (const { cells, place } of csvRows(input, columns, { end })) {
    names ??= namesIn(cells);
    const known = names;
    const cell: Cell = (column) => {
      for (const name of known[column] ?? []) {
        const value = str(cells[name]);
        if (value !== undefined && value !== 'N/A') return value;
      }
      return undefined;
    };
    yield* record(place, () => rowOf(cell, place));
    if (cell('plugin') === PING && isDead(cell('output') ?? '') && (cell('host') ?? cell('ip')) !== undefined)
      yield* runEntry({ asset: assetOf(cell), unfinished: true });
    if (cell('plugin') === SCAN_INFORMATION && (cell('host') ?? cell('ip')) !== undefined) yield* readInformation(cell);
  }
  yield* end.facts();
}

function rowOf(cell: Cell, place: string): Observation {
  const plugin = required(cell('plugin'), 'the plugin id');
  const asset = assetOf(cell);
  const family = cell('family');
  return observation({
    place,
    tool: 'nessus',
    rule: plugin,
    // In Vulnerability Management, the id of a finding stays the same from scan to scan.
    external_id: cell('id'),
    title: cell('name') ?? `Plugin ${plugin}`,
    description: [cell('synopsis'), cell('description'), cell('output')].filter(Boolean).join('\n\n'),
    solution: solutionOf(cell('solution')),
    severity: severityOfRisk(cell('severity')),
    tool_severity: cell('severity'),
    vulnerability_ids: idsIn(cell('cve')),
    cwes: cwesOf(cell('cwe')?.split(/[\s,;]+/), cell('crossReferences')?.match(/CWE[-:# ]*\d+/gi) ?? []),
    cvss: [
      ...cvssOf(cell('vector4'), cell('score4'), 'CVSS:4.0/'),
      ...cvssOf(cell('vector3'), cell('score3'), 'CVSS:3.0/'),
      ...cvssOf(cell('vector2'), cell('score2'), ''),
    ],
    references: cell('references')?.match(/https?:\/\/[^\s,"'\]]+/gi) ?? [],
    asset,
    location:
      asset.type === 'web_application'
        ? { url: pageIn(cell('output'), asset) }
        : { port: count(cell('port')), protocol: cell('protocol')?.toLowerCase(), ...componentOf(cell('cpe')) },
    present: !/^fixed$/i.test(cell('state') ?? ''),
    suppressed: /^accepted$/i.test(cell('modified') ?? '') || cell('accepted') !== undefined,
    first_seen: date(cell('firstSeen')),
    last_seen: date(cell('seen')),
    tags: family ? [family] : [],
    epss: epssOf(cell('epss'), cell('epssPercentile')),
    exploit_maturity: exploitOf({
      maturity: cell('exploitMaturity'),
      available: isTrue(cell('exploit')) || /^exploits are available/i.test(cell('exploitEase') ?? ''),
      framework: isTrue(cell('frameworks')) || /metasploit|core impact|canvas|elliot/i.test(cell('frameworks') ?? ''),
      malware: isTrue(cell('malware')),
    }),
    known_exploited: /CISA-KNOWN-EXPLOITED/i.test(cell('crossReferences') ?? ''),
    fix_published_date: dayOf(date(cell('patched'))),
  });
}

function* readInformation(cell: Cell): Generator<ReportEntry> {
  const { credentialed, ...scanner } = scanInformation(cell('output'));
  yield* runEntry(scanner);
  yield* runEntry({ asset: assetOf(cell), started_at: date(cell('started')), finished_at: date(cell('ended')), credentialed });
}

/** The columns that the file has. An export has only a few of all possible columns, and every row has the same. */
function namesIn(cells: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(COLUMNS).map(([column, names]) => [column, names.filter((name) => name in cells)]));
}

function isTrue(text: string | undefined): boolean {
  return /^(?:yes|true)$/i.test(text ?? '');
}

/** In Web App Scanning, the protocol column contains the URL scheme instead of tcp or udp. */
function assetOf(cell: Cell): Asset {
  const host = cell('host') ?? cell('ip');
  const scheme = cell('protocol')?.toLowerCase();
  const web = scheme === 'http' || scheme === 'https' ? webAsset(`${scheme}://${host}${count(cell('port')) ? `:${cell('port')}` : ''}`) : null;
  if (web) return web;
  if (host && /^https?:\/\//i.test(host)) return webAsset(host) ?? hostAsset({ given: host });
  const ip = cell('ip');
  return hostAsset({
    fqdn: cell('fqdn'),
    netbios: cell('netbios')?.split('\\').at(-1),
    mac: cell('mac')?.split(/[\s,]+/)[0],
    ip: ip && isIp(ip) ? ip : undefined,
    given: required(host ?? cell('fqdn') ?? cell('netbios'), 'the host'),
  });
}
