import type { Asset, Observation, ReportEntry, ReportInput } from '../../contract.ts';
import { cwesOf, idsIn, observation, record, required, urlPlace, webAsset } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { child, childText, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { cvssOf, dateOf, describe, presentText, readable, scannerFacts, severityOfLevel } from './common.ts';

interface GlossaryEntry {
  title: string | undefined;
  severity: string | undefined;
  category: string | undefined;
  description: string;
  solution: string | null;
  cwes: number[];
  cvss: ReturnType<typeof cvssOf>;
}

interface Context {
  glossary: ReadonlyMap<string, GlossaryEntry>;
  /** URLs of the scanned applications by name. */
  applications: ReadonlyMap<string, string>;
  scans: readonly XmlElement[];
}

const LISTS = ['**/VULNERABILITY_LIST/VULNERABILITY', '**/SENSITIVE_CONTENT_LIST/SENSITIVE_CONTENT', '**/INFORMATION_GATHERED_LIST/INFORMATION_GATHERED'];

/** The glossary and the applications come after the results, so they are read in a first pass. */
export async function* readWas(input: ReportInput): AsyncGenerator<ReportEntry> {
  const context = await readContext(input);
  for (const scan of context.scans) yield* readRun(scan);
  for (const url of context.applications.values()) yield* runEntry({ asset: webAsset(url) });
  let application: string | undefined;
  for await (const { element, pattern, place } of xmlElements(input, [...LISTS, '*/RESULTS/WEB_APPLICATION/NAME'])) {
    if (pattern === LISTS.length) application = element.text;
    else yield* record(place, () => findingOf(element, place, context, application));
  }
}

function* readRun(scan: XmlElement): Generator<ReportEntry> {
  const text = (name: string): string | undefined => str(childText(scan, name));
  const login = text('AUTHENTICATION_STATUS');
  yield* runEntry({
    ...scannerFacts(text('SCANNER')),
    started_at: dateOf(text('START_DATE')),
    finished_at: dateOf(text('END_DATE')),
    credentialed: login === undefined ? undefined : /^success/i.test(login),
  });
}

async function readContext(input: ReportInput): Promise<Context> {
  const scans: XmlElement[] = [];
  const glossary = new Map<string, GlossaryEntry>();
  const applications = new Map<string, string>();
  for await (const { element, pattern } of xmlElements(input, ['*/GLOSSARY/QID_LIST/QID', '**/WEBAPP', '**/SCAN_LIST/SCAN'])) {
    if (pattern === 2) scans.push(element);
    const qid = str(childText(element, 'QID'));
    if (pattern === 0 && qid) glossary.set(qid, glossaryEntryOf(element));
    const url = str(childText(element, 'URL'));
    if (pattern === 1 && url) applications.set(childText(element, 'NAME'), url);
  }
  return { glossary, applications, scans };
}

function glossaryEntryOf(element: XmlElement): GlossaryEntry {
  const text = (name: string): string | undefined => str(childText(element, name));
  const rating = child(element, 'CVSS_V3');
  const vector = rating?.children.find(({ text: value }) => value.startsWith('CVSS:3'))?.text;
  return {
    title: text('TITLE'),
    severity: text('SEVERITY'),
    category: text('CATEGORY'),
    description: describe(text('DESCRIPTION'), text('IMPACT'), undefined),
    solution: readable(text('SOLUTION')),
    cwes: cwesOf(text('CWE')),
    cvss: vector
      ? [{ vector }]
      : [...ratingOf(undefined, rating && (childText(rating, 'BASE') || childText(rating, 'CVSS_V3_BASE')), '3.1'), ...cvssOf(text('CVSS_BASE'))],
  };
}

/** Payloads, requests and responses are not read, because they may contain secrets. */
function findingOf(element: XmlElement, place: string, { glossary, applications }: Context, application: string | undefined): Observation {
  const text = (name: string): string | undefined => str(childText(element, name));
  const qid = required(text('QID'), 'QID');
  const known = glossary.get(qid);
  const url = text('URL');
  const type = element.name === 'INFORMATION_GATHERED' ? 'Ig' : text('POTENTIAL') === 'true' ? 'Potential' : known?.category;
  return observation({
    place,
    tool: 'qualys',
    rule: qid,
    external_id: text('UNIQUE_ID'),
    title: text('TITLE') ?? known?.title ?? `QID ${qid}`,
    description: known?.description,
    solution: known?.solution,
    severity: severityOfLevel(text('SEVERITY') ?? known?.severity, type),
    tool_severity: text('SEVERITY') ?? known?.severity,
    vulnerability_ids: idsIn(known?.title),
    cwes: known?.cwes,
    cvss: known?.cvss,
    asset: webAsset(url) ?? applicationOf(applications, application),
    location: { url: urlPlace(url), parameter: presentText(text('PARAM')), method: methodOf(element) },
    present: text('STATUS')?.toLowerCase() !== 'fixed',
    suppressed: text('IGNORED') === 'true',
    first_seen: dateOf(text('FIRST_TIME_DETECTED')),
    last_seen: dateOf(text('LAST_TIME_DETECTED') ?? text('DETECTION_DATE')),
    tags: [known?.category ?? [], type === 'Potential' ? 'potential' : []].flat(),
  });
}

function applicationOf(applications: ReadonlyMap<string, string>, name: string | undefined): Asset | null {
  const only = applications.size === 1 ? [...applications.values()][0] : undefined;
  return webAsset(applications.get(name ?? '') ?? only);
}

function methodOf(element: XmlElement): string | undefined {
  const request = ['PAYLOADS', 'PAYLOAD', 'REQUEST'].reduce<XmlElement | undefined>((at, name) => at && child(at, name), element);
  return request && str(childText(request, 'METHOD'));
}
