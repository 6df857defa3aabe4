import type { Asset, Cvss, Observation, ReportEntry, ReportInput } from '../../contract.ts';
import { observation, RecordError, record, required } from '../../shared/normalize.ts';
import { count, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { child, childText, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { assetOf, cvssOf, dateOf, describe, readable, severityOfLevel, tagsOf, textsIn } from './common.ts';

interface GlossaryEntry {
  title: string | undefined;
  severity: string | undefined;
  category: string | undefined;
  threat: string | undefined;
  impact: string | undefined;
  solution: string | null;
  cves: string[];
  links: string[];
  cvss: Cvss[];
}

const HOST = 'ASSET_DATA_REPORT/HOST_LIST/HOST';
const NAMES = ['IP', 'IPV6', 'DNS', 'NETBIOS', 'QG_HOSTID', 'EC2_INSTANCE_ID'];

/**
 * The glossary of QIDs comes after the hosts, so it is read in a first pass. The names of a host come before its findings. Hosts without
 * findings are listed too. The report counts the findings of each address. If it lists fewer, it leaves some out.
 */
export async function* readAssetReport(input: ReportInput): AsyncGenerator<ReportEntry> {
  const { glossary, generated, counted } = await readContext(input);
  yield* runEntry({ finished_at: generated });
  let host = new Map<string, string>();
  let hostIndex = 0;
  let listed = 0;
  const endOfHost = () => runEntry({ asset: namedHost(host), ...((counted.get(host.get('IP') ?? '') ?? 0) > listed && { unfinished: true }) });
  for await (const { element, pattern, parents, place } of xmlElements(input, [
    ...NAMES.map((name) => `${HOST}/${name}`),
    `${HOST}/VULN_INFO_LIST/VULN_INFO`,
  ])) {
    const index = parents[2]?.index ?? 0;
    if (index !== hostIndex) {
      yield* endOfHost();
      host = new Map();
      listed = 0;
    }
    hostIndex = index;
    if (pattern < NAMES.length) host.set(element.name, element.text);
    else {
      listed++;
      yield* record(place, () => findingOf(element, place, hostOf(host), glossary));
    }
  }
  yield* endOfHost();
  if (hostIndex === 0 && [...counted.values()].some((count) => count > 0)) yield* runEntry({ unfinished: true });
}

function hostOf(names: ReadonlyMap<string, string>): Asset {
  const asset = namedHost(names);
  if (asset === null) throw new RecordError('the host has no IP');
  return asset;
}

function namedHost(names: ReadonlyMap<string, string>): Asset | null {
  return assetOf({
    ips: [names.get('IP'), names.get('IPV6')],
    dns: names.get('DNS'),
    netbios: names.get('NETBIOS'),
    agent: names.get('QG_HOSTID'),
    cloud: names.get('EC2_INSTANCE_ID'),
  });
}

interface Context {
  glossary: ReadonlyMap<string, GlossaryEntry>;
  generated: Date | null;
  /** How many findings each address has. */
  counted: ReadonlyMap<string, number>;
}

async function readContext(input: ReportInput): Promise<Context> {
  const glossary = new Map<string, GlossaryEntry>();
  const counted = new Map<string, number>();
  let generated: Date | null = null;
  const paths = [
    'ASSET_DATA_REPORT/GLOSSARY/VULN_DETAILS_LIST/VULN_DETAILS',
    'ASSET_DATA_REPORT/HEADER/GENERATION_DATETIME',
    'ASSET_DATA_REPORT/RISK_SCORE_PER_HOST/HOSTS',
  ];
  for await (const { element, pattern } of xmlElements(input, paths)) {
    if (pattern === 1) {
      generated = dateOf(element.text);
      continue;
    }
    if (pattern === 2) {
      counted.set(childText(element, 'IP_ADDRESS') ?? '', count(childText(element, 'TOTAL_VULNERABILITIES')) ?? 0);
      continue;
    }
    const qid = str(childText(element, 'QID')) ?? element.attributes.id?.replace(/^qid_/, '');
    if (qid) glossary.set(qid, glossaryEntryOf(element));
  }
  return { glossary, generated, counted };
}

function glossaryEntryOf(element: XmlElement): GlossaryEntry {
  const text = (name: string, parent: XmlElement | undefined = element): string | undefined => (parent ? str(childText(parent, name)) : undefined);
  return {
    title: text('TITLE'),
    severity: text('SEVERITY'),
    category: text('CATEGORY'),
    threat: text('THREAT'),
    impact: text('IMPACT'),
    solution: readable(text('SOLUTION')),
    cves: textsIn(element, 'CVE_ID_LIST', 'ID'),
    links: textsIn(element, 'VENDOR_REFERENCE_LIST', 'URL'),
    cvss: [
      ...cvssOf(text('CVSS3_BASE', child(element, 'CVSS3_SCORE')), text('CVSS3_VERSION', child(element, 'CVSS3_SCORE')) ?? '3.0'),
      ...cvssOf(text('CVSS_BASE', child(element, 'CVSS_SCORE'))),
    ],
  };
}

function findingOf(element: XmlElement, place: string, asset: Asset, glossary: ReadonlyMap<string, GlossaryEntry>): Observation {
  const text = (name: string): string | undefined => str(childText(element, name));
  const qid = required(text('QID'), 'QID');
  const known = glossary.get(qid);
  const type = text('TYPE');
  return observation({
    place,
    tool: 'qualys',
    rule: qid,
    title: known?.title ?? `QID ${qid}`,
    description: describe(known?.threat, known?.impact, text('RESULT')),
    solution: known?.solution,
    severity: severityOfLevel(known?.severity, type),
    tool_severity: known?.severity,
    vulnerability_ids: known?.cves,
    cvss: known?.cvss,
    references: known?.links,
    asset,
    location: { port: count(text('PORT')), protocol: text('PROTOCOL')?.toLowerCase(), resource: text('INSTANCE') },
    present: text('VULN_STATUS')?.toLowerCase() !== 'fixed',
    suppressed: /ignored/i.test(text('TICKET_STATE') ?? ''),
    first_seen: dateOf(text('FIRST_FOUND')),
    last_seen: dateOf(text('LAST_FOUND')),
    tags: tagsOf(known?.category, type),
  });
}
