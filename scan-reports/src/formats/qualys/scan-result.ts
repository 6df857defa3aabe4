import type { Asset, Observation, ReportEntry, ReportInput, RunFacts } from '../../contract.ts';
import { idsIn, observation, RecordError, record, required } from '../../shared/normalize.ts';
import { count, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { childText, type XmlElement, type XmlMatch, xmlElements } from '../../xml/elements.ts';
import { assetOf, cvssOf, dateOf, describe, readable, scannerFacts, severityOfLevel, tagsOf, textsIn } from './common.ts';

/** Reads only confirmed vulnerabilities. The sections INFOS, SERVICES and PRACTICES contain gathered information and possible weaknesses. */
export async function* readScan(input: ReportInput): AsyncGenerator<ReportEntry> {
  let scanned: Date | null = null;
  const paths = ['SCAN/HEADER/KEY', 'SCAN/IP/@', 'SCAN/IP/VULNS/CAT/VULN', 'SCAN/IP/VULNS/VULN'];
  for await (const { element, pattern, parents, place } of xmlElements(input, paths)) {
    if (pattern > 1) yield* record(place, () => findingOf(element, parents, place, scanned));
    else if (pattern === 1) yield* runEntry({ asset: hostOf(element.attributes) });
    else if (element.attributes.value === 'SCAN_HOST') yield* runEntry(scannerFacts(element.text));
    else if (element.attributes.value === 'OPTIONS') yield* runEntry(loginsIn(element.text));
    else if (element.attributes.value === 'DATE') {
      scanned = dateOf(element.text);
      yield* runEntry({ started_at: scanned });
    }
  }
}

/** "Windows Authentication ON" says that the scan tried to log in, and not that it could. Without it, checks that need a login are left out. */
function loginsIn(options: string): Pick<RunFacts, 'credentialed' | 'restrictions'> {
  const logins = options
    .split(',')
    .map((option) => option.trim())
    .filter((option) => / Authentication (?:ON|OFF)$/.test(option));
  const restrictions = logins.filter((login) => login.endsWith(' OFF'));
  const isOff = restrictions.length > 0 && !logins.some((login) => /^(?:Windows|Unix)\b.* ON$/.test(login));
  return { restrictions, ...(isOff ? { credentialed: false } : {}) };
}

/** A host without a name is called "No registered hostname". */
function hostOf(host: Readonly<Record<string, string>>): Asset | null {
  return assetOf({ ips: [host.value], dns: /^\S+$/.test(host.name ?? '') ? host.name : undefined });
}

function findingOf(element: XmlElement, parents: XmlMatch['parents'], place: string, scanned: Date | null): Observation {
  const text = (name: string): string | undefined => str(childText(element, name));
  const category = parents.find(({ name }) => name === 'CAT')?.attributes ?? {};
  const qid = required(str(element.attributes.number), 'the QID number');
  const asset = hostOf(parents[1]?.attributes ?? {});
  if (asset === null) throw new RecordError('the IP address is missing');
  return observation({
    place,
    tool: 'qualys',
    rule: qid,
    title: text('TITLE') ?? `QID ${qid}`,
    description: describe(text('DIAGNOSIS'), text('CONSEQUENCE'), text('RESULT')),
    solution: readable(text('SOLUTION')),
    severity: severityOfLevel(element.attributes.severity, undefined),
    tool_severity: element.attributes.severity,
    vulnerability_ids: [...idsIn(element.attributes.cveid), ...textsIn(element, 'CVE_ID_LIST', 'ID')],
    cvss: [...cvssOf(text('CVSS3_BASE'), '3.0'), ...cvssOf(text('CVSS_BASE'))],
    references: textsIn(element, 'VENDOR_REFERENCE_LIST', 'URL'),
    asset,
    location: { port: count(category.port), protocol: str(category.protocol)?.toLowerCase() },
    last_seen: scanned,
    tags: tagsOf(category.value, undefined),
  });
}
