import type { Asset, ExploitMaturity, Observation, ReportEntry, ReportHead, ReportInput, Severity } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { hasColumns } from '../../detect.ts';
import { cwesOf, idsIn, isIp, observation, RecordError, record, required } from '../../shared/normalize.ts';
import { count, dayOf, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { assetOf, cvssOf, dateOf, describe, presentText, readable, severityOfLevel, tagsOf } from './common.ts';

/** Columns of the report, of VMDR lists (by QID or CVE), of API responses and of PCI scans (also from Hacker Guardian). */
const COLUMNS = {
  title: ['Title', 'VULN TITLE'],
  ip: ['IP', 'Asset IPV4', 'IP Address', 'Asset IPv4'],
  ipv6: ['Asset IPV6', 'IPV6', 'Asset IPv6'],
  dns: ['DNS', 'Asset Name', 'HOSTNAME', 'DNS Name'],
  netbios: ['NetBIOS', 'Netbios Name', 'Netbios'],
  agent: ['QG Host ID', 'QG HostID', 'Host ID (Agent)'],
  cloud: ['EC2 Instance ID', 'Cloud Resource ID'],
  type: ['Type', 'Type Detected', 'TYPE'],
  status: ['Vuln Status', 'Status'],
  port: ['Port', 'PORT'],
  protocol: ['Protocol', 'PROTOCOL'],
  instance: ['Instance'],
  first: ['First Detected', 'First Found Datetime', 'First Found'],
  last: ['Last Detected', 'Last Found Datetime', 'Last Found'],
  cve: ['CVE ID', 'CVE', 'CVEID'],
  cwe: ['CWE'],
  cvss3: ['CVSS3.1 Base', 'CVSS3 Base', 'CVSS3', 'CVSSv3.1 Base (nvd)', 'CVSSv3.1 Base'],
  cvss2: ['CVSS Base', 'CVSS', 'CVSSv2 Base (nvd)', 'CVSSv2 Base'],
  patched: ['Patch Released'],
  threats: ['RTI'],
  threat: ['Threat', 'THREAT', 'CVE-Description'],
  impact: ['Impact', 'IMPACT'],
  result: ['Results', 'RESULT', 'Result'],
  solution: ['Solution', 'SOLUTION'],
  category: ['Category', 'CATEGORY'],
  ticket: ['Ticket State'],
  ignored: ['Ignored'],
  disabled: ['Disabled'],
  uniqueId: ['Unique Vuln ID', 'Unique Detection ID'],
} as const;

/** Columns that identify Qualys, because other tools also have a QID. */
const HEADERS = [
  ['QID', 'Title', 'IP'],
  ['QID', 'Title', 'Asset Name'],
  ['QID', 'Title', 'Asset IPV4'],
  ['QID', 'VULN TITLE'],
  ['QID', 'IP Address', 'Host ID'],
] as const;

export function isCsv(head: ReportHead): boolean {
  return HEADERS.some((columns) => hasColumns(head, ...columns));
}

/** Hosts without findings and closing remarks have their own lines. */
export async function* readCsv(input: ReportInput): AsyncGenerator<ReportEntry> {
  const end = csvEnd();
  for await (const { cells, place } of csvRows(input, ['QID'], { end })) {
    const cell: Cell = (column) => COLUMNS[column].map((name) => presentText(cells[name])).find((value) => value !== undefined);
    if (presentText(cells.QID) !== undefined || cell('title') !== undefined) yield* record(place, () => rowOf(cells, cell, place));
    else if (isIp(cell('ip') ?? '')) yield* runEntry({ asset: hostOf(cell) });
  }
  yield* end.facts();
}

type Cell = (column: keyof typeof COLUMNS) => string | undefined;

function hostOf(cell: Cell): Asset | null {
  return assetOf({ ips: [cell('ip'), cell('ipv6')], dns: cell('dns'), netbios: cell('netbios'), agent: cell('agent'), cloud: cell('cloud') });
}

function rowOf(cells: Readonly<Record<string, string>>, cell: Cell, place: string): Observation {
  const qid = required(presentText(cells.QID), 'QID');
  if (!/^\d+$/.test(qid)) throw new RecordError('QID is not a number');
  const asset = hostOf(cell);
  if (asset === null) throw new RecordError('the host has neither an address nor a name');
  const type = cell('type');
  return observation({
    place,
    tool: 'qualys',
    rule: qid,
    external_id: cell('uniqueId'),
    title: cell('title') ?? `QID ${qid}`,
    description: describe(cell('threat'), cell('impact'), cell('result')),
    solution: readable(cell('solution')),
    severity: severityOfRow(cells, type),
    tool_severity: str(cells.Severity) ?? str(cells.Q_SEVERITY) ?? str(cells.SEVERITY),
    vulnerability_ids: idsIn(cell('cve')),
    cwes: cwesOf(cell('cwe')),
    cvss: [...cvssOf(cell('cvss3'), cells['CVSS3.1 Base'] || cells['CVSSv3.1 Base (nvd)'] ? '3.1' : '3.0'), ...cvssOf(cell('cvss2'))],
    asset,
    location: { port: count(cell('port')), protocol: cell('protocol')?.toLowerCase(), resource: cell('instance') },
    present: cell('status')?.toLowerCase() !== 'fixed',
    suppressed: [cell('ignored'), cell('disabled')].some(isYes) || /ignored/i.test(cell('ticket') ?? '') || isAccepted(cells['FALSE POSITIVE STATUS']),
    first_seen: dateOf(cell('first')),
    last_seen: dateOf(cell('last') ?? isoOnly(cells['LAST SCAN'])),
    tags: tagsOf(cell('category'), type),
    exploit_maturity: exploitOf(cell('threats')),
    known_exploited: /cisa.?known.?exploited/i.test(cell('threats') ?? ''),
    fix_published_date: dayOf(dateOf(cell('patched'))),
  });
}

/** Real-time threat indicators are a list of words. */
function exploitOf(indicators: string | undefined): ExploitMaturity | undefined {
  if (/active.?(?:attack|exploit)/i.test(indicators ?? '')) return 'attacked';
  if (/exploit.?kit/i.test(indicators ?? '')) return 'functional';
  return /exploit.?public|public.?exploit/i.test(indicators ?? '') ? 'proof_of_concept' : undefined;
}

/** PCI scans list only vulnerabilities and no gathered information, so their lowest level is low. */
function severityOfRow(cells: Readonly<Record<string, string>>, type: string | undefined): Severity {
  if (cells.Q_SEVERITY === undefined) return severityOfLevel(cells.Severity ?? cells.SEVERITY, type);
  return cells.Q_SEVERITY.trim() === '1' ? 'low' : severityOfLevel(cells.Q_SEVERITY, type);
}

function isYes(text: string | undefined): boolean {
  return /^(?:yes|true|1)$/i.test(text ?? '');
}

function isAccepted(status: string | undefined): boolean {
  return /^(?:approved|accepted)$/i.test(status?.trim() ?? '');
}

/** Drops dates such as "05/09/2022", which may be May or September. */
function isoOnly(text: string | undefined): string | undefined {
  return /^\d{4}-\d{2}-\d{2}/.test(text ?? '') ? text : undefined;
}
