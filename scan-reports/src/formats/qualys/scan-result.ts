import type { Observation, ReportInput, ReportItem } from '../../contract.ts';
import { idsIn, observation, RecordError, record, required } from '../../shared/normalize.ts';
import { count, str } from '../../shared/read.ts';
import { childText, type XmlElement, type XmlMatch, xmlElements } from '../../xml/elements.ts';
import { assetOf, cvssOf, dateOf, describe, readable, severityOfLevel, tagsOf, textsIn } from './common.ts';

/** Reads only confirmed vulnerabilities. The sections INFOS, SERVICES and PRACTICES contain gathered information and possible weaknesses. */
export async function* readScan(input: ReportInput): AsyncGenerator<ReportItem> {
  let scanned: Date | null = null;
  for await (const { element, pattern, parents, place } of xmlElements(input, ['SCAN/HEADER/KEY', 'SCAN/IP/VULNS/CAT/VULN', 'SCAN/IP/VULNS/VULN'])) {
    if (pattern > 0) yield* record(place, () => findingOf(element, parents, place, scanned));
    else if (element.attributes.value === 'DATE') scanned = dateOf(element.text);
  }
}

function findingOf(element: XmlElement, parents: XmlMatch['parents'], place: string, scanned: Date | null): Observation {
  const text = (name: string): string | undefined => str(childText(element, name));
  const host = parents[1]?.attributes ?? {};
  const category = parents.find(({ name }) => name === 'CAT')?.attributes ?? {};
  const qid = required(str(element.attributes.number), 'the QID number');
  // A host without a name is called "No registered hostname".
  const dns = /^\S+$/.test(host.name ?? '') ? host.name : undefined;
  const asset = assetOf({ ips: [host.value], dns });
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
