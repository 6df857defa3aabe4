import type { Asset, AssetIdentifier, Cvss, ExploitMaturity, Observation, ReportEntry, ReportFormat, ReportInput } from '../../contract.ts';
import { headOf } from '../../detect.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, hostAsset, isIp, observation, RecordError, record, required, severityOfScore } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { count, date, num, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { child, type XmlElement, type XmlMatch, xmlElements } from '../../xml/elements.ts';

const EXPECTS = 'XML with the root element NexposeReport (XML Export, version 1.0 or 2.0)';

const NODE = 'NexposeReport/nodes/node';
const TESTS = [`${NODE}/tests/test`, '**/service/tests/test'];
/** The test did not come to a result. One that was skipped because of the version of the software did: that version is not vulnerable. */
const UNDECIDED_STATUS = /^(?:error|unknown|inconclusive|no-credentials|skipped(?!-version))/i;
const MAX_SKIPPED = 10_000;

/** One finding per positive test of a host or service. */
export const nexpose: ReportFormat = {
  id: 'nexpose',
  name: 'Nexpose / InsightVM',
  description: 'Reports "XML Export" and "XML Export 2.0" of Rapid7 Nexpose or InsightVM',
  documentation: 'https://docs.rapid7.com/nexpose/xml-export-schema',
  expects: EXPECTS,
  assetType: 'host',
  states: ['time', 'targets'],
  listsAssets: () => true,
  detect: (head) => head.xmlRoot?.name === 'NexposeReport',
  async about(input) {
    const { failed, about } = startAbout();
    if (!nexpose.detect(await headOf(input))) return about();
    const skipped = new Set<string>();
    for await (const { element, pattern } of xmlElements(input, ['NexposeReport/scans/scan', ...TESTS.map((path) => `${path}/@`)])) {
      const { status } = element.attributes;
      if (pattern === 0 && (status ?? 'finished') !== 'finished') failed();
      const test = pattern > 0 && UNDECIDED_STATUS.test(status ?? '') ? idOf(element) : undefined;
      if (test === undefined || skipped.has(test)) continue;
      if (skipped.size < MAX_SKIPPED) skipped.add(test);
      else failed();
    }
    if (skipped.size === 0) return about();
    return { ...about(), skipped: [...skipped].map((rule) => ({ rule, path: null })) };
  },
  async *read(input) {
    if ((await headOf(input)).xmlRoot?.name !== 'NexposeReport') throw notThisFormat(EXPECTS);
    yield* readTests(input, await readContext(input));
  },
};

interface Definition {
  title: string | undefined;
  severity: string | undefined;
  description: string;
  solution: string;
  references: readonly { source: string; text: string }[];
  cvss: Cvss[];
  tags: string[];
  exploit: ExploitMaturity | undefined;
}

interface Scan {
  started: Date | null;
  ended: Date | null;
}

interface Context {
  definitions: ReadonlyMap<string, Definition>;
  /** By scan id. */
  scans: ReadonlyMap<string, Scan>;
}

/** Read in a first pass, because definitions come after the hosts that refer to them. */
async function readContext(input: ReportInput): Promise<Context> {
  const definitions = new Map<string, Definition>();
  const scans = new Map<string, Scan>();
  for await (const { element, pattern } of xmlElements(input, ['NexposeReport/VulnerabilityDefinitions/vulnerability', 'NexposeReport/scans/scan'])) {
    const id = idOf(element);
    if (id && pattern === 0) definitions.set(id, definitionOf(element));
    else if (id) scans.set(id, { started: momentOf(element.attributes.startTime), ended: momentOf(element.attributes.endTime) });
  }
  return { definitions, scans };
}

/** Version 1.0 is inconsistent about the case of ids. */
function idOf(element: XmlElement): string | undefined {
  return str(element.attributes.id)?.toLowerCase();
}

function definitionOf(element: XmlElement): Definition {
  const vector = str(element.attributes.cvssVector)?.replaceAll(/[()]/g, '');
  return {
    title: str(element.attributes.title),
    severity: str(element.attributes.severity),
    description: richText(child(element, 'description')),
    solution: richText(child(element, 'solution')),
    references: (child(element, 'references')?.children ?? []).map(({ attributes, text }) => ({ source: (attributes.source ?? '').toUpperCase(), text })),
    cvss: ratingOf(vector?.startsWith('AV:') ? vector : undefined, element.attributes.cvssScore, '2.0'),
    tags: (child(element, 'tags')?.children ?? []).map(({ text }) => text),
    exploit: exploitOf(element),
  };
}

/** Malware kits that have an exploit, and public exploits. A kit is for sale; it does not say that anybody was attacked. */
function exploitOf(element: XmlElement): ExploitMaturity | undefined {
  if ((child(element, 'malware')?.children ?? []).length > 0) return 'functional';
  const types = (child(element, 'exploits')?.children ?? []).map(({ attributes }) => attributes.type?.toLowerCase());
  if (types.length === 0) return undefined;
  return types.some((type) => type !== undefined && /metasploit|core|canvas/.test(type)) ? 'functional' : 'proof_of_concept';
}

/** Joins paragraphs, lists and links line by line. */
function richText(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  const own = element.text.replaceAll(/\s+/g, ' ').trim();
  return [own, ...element.children.map(richText)].filter(Boolean).join('\n');
}

/** The names of a node come before its tests. Nodes without positive tests were scanned too. */
async function* readTests(input: ReportInput, context: Context): AsyncGenerator<ReportEntry> {
  let names: string[] = [];
  let node: Readonly<Record<string, string>> | null = null;
  let scan: string | undefined;
  for await (const match of xmlElements(input, [`${NODE}/@`, `${NODE}/names/name`, ...TESTS])) {
    if (match.pattern === 0) {
      if (node) yield* readRun(node, names, context.scans, scan);
      names = [];
      node = match.element.attributes;
      scan = undefined;
    } else if (match.pattern === 1) names.push(match.element.text);
    else {
      scan = match.element.attributes['scan-id'] ?? scan;
      yield* record(match.place, () => findingOf(match, names, context));
    }
  }
  if (node) yield* readRun(node, names, context.scans, scan);
}

function* readRun(
  node: Readonly<Record<string, string>>,
  names: readonly string[],
  scans: ReadonlyMap<string, Scan>,
  scan: string | undefined,
): Generator<ReportEntry> {
  if ((node.status ?? 'alive') !== 'alive' || (str(node.address) === undefined && names.length === 0)) return;
  const only = scans.size === 1 ? [...scans.values()][0] : undefined;
  const { started, ended } = scans.get(scan ?? '') ?? only ?? { started: null, ended: null };
  yield* runEntry({ asset: assetOf(node, names), started_at: started, finished_at: ended });
}

/** Statuses that are findings. "exception-…" is an accepted one. Others (not-vulnerable, skipped-…, error, unknown) are not findings. */
const POSITIVE_STATUS = /^(?:exception-)?(?:vulnerable(?:-|$)|potential)/;

function findingOf({ element, parents, place }: XmlMatch, names: readonly string[], { definitions, scans }: Context): Observation | null {
  const status = required(str(element.attributes.status)?.toLowerCase(), 'status');
  if (!POSITIVE_STATUS.test(status)) return null;
  const id = required(idOf(element), 'id');
  const known = definitions.get(id);
  const around = (name: string): Readonly<Record<string, string>> => parents.find((parent) => parent.name === name)?.attributes ?? {};
  const severity = known?.severity;
  return observation({
    place,
    tool: 'nexpose',
    rule: id,
    title: known?.title ?? id,
    description: [known?.description, richText(element)].filter(Boolean).join('\n\n'),
    solution: known?.solution,
    severity: severityOfScore(num(severity)),
    tool_severity: severity,
    vulnerability_ids: known?.references.flatMap(({ source, text }) => (source === 'CVE' ? [text] : [])),
    cwes: cwesOf(known?.references.flatMap(({ source, text }) => (source === 'CWE' ? [text] : []))),
    cvss: known?.cvss,
    references: known?.references.flatMap(({ source, text }) => (source === 'URL' ? [text] : [])),
    asset: assetOf(around('node'), names),
    location: {
      port: count(around('endpoint').port),
      protocol: str(around('endpoint').protocol)?.toLowerCase(),
      // Tells several results of one test on a host apart: a file, an account, an address.
      resource: str(element.attributes.key),
    },
    suppressed: status.includes('exception'),
    first_seen: momentOf(element.attributes['vulnerable-since']),
    last_seen: scans.get(element.attributes['scan-id'] ?? '')?.ended,
    tags: [...(known?.tags ?? []), ...(status.includes('potential') ? ['potential'] : [])],
    exploit_maturity: known?.exploit,
  });
}

function assetOf(node: Readonly<Record<string, string>>, names: readonly string[]): Asset {
  const own = names.filter((name) => name !== '' && !isIp(name));
  const fqdn = own.find((name) => name.includes('.'));
  const mac = str(node['hardware-address'])?.replace(/^(\w\w)(\w\w)(\w\w)(\w\w)(\w\w)(\w\w)$/, '$1:$2:$3:$4:$5:$6');
  const ip = str(node.address);
  if (ip === undefined && own.length === 0) throw new RecordError('the node has no address');
  const asset = hostAsset({ fqdn, hostname: own.find((name) => !name.includes('.')), ip, mac });
  const known = new Set((asset.identifiers ?? []).map(({ value }) => value));
  const further = own.map((name): AssetIdentifier => ({ kind: name.includes('.') ? 'fqdn' : 'hostname', value: name.toLowerCase() }));
  return { ...asset, identifiers: [...(asset.identifiers ?? []), ...further.filter(({ value }) => !known.has(value))] };
}

/** Parses "20210211T164506081". */
function momentOf(text: string | undefined): Date | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})?$/.exec(text ?? '');
  if (match === null) return null;
  const [, year, month, day, hours, minutes, seconds, rest = '000'] = match;
  return date(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}.${rest}Z`);
}
