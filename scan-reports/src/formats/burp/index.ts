import type { ReportFormat, ReportHead } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { isWhole } from './counts.ts';
import { readGraphql, readRest } from './json.ts';
import { readJunit, readXml } from './xml.ts';

const EXPECTS =
  'XML with the root element issues and a burpVersion, JSON with issue_events (REST API) or Issues (GraphQL API), or JUnit XML of Dastardly or CI-driven scans';

const SHAPES = [
  { matches: ({ xmlRoot, text }: ReportHead) => xmlRoot?.name === 'issues' && /<issues[^>]{0,500}\sburpVersion=/.test(text), read: readXml },
  {
    matches: ({ xmlRoot, text }: ReportHead) => xmlRoot?.name === 'testsuites' && /<testsuites[^>]{0,500}\sname=["'][^"']{0,200}(?:Dastardly|Burp)/i.test(text),
    read: readJunit,
  },
  { matches: (head: ReportHead) => hasKeys(head, 'issue_events'), read: readRest },
  { matches: isGraphql, read: readGraphql },
];

export const burp: ReportFormat = {
  id: 'burp',
  name: 'Burp Suite',
  description: 'Burp Suite issues exported as XML, JSON of scans from the REST and GraphQL APIs, or JUnit XML of Dastardly',
  documentation: 'https://portswigger.net/burp/documentation/desktop/running-scans/reporting-scan-results',
  expects: EXPECTS,
  assetType: 'web_application',
  detect: (head) => SHAPES.some(({ matches }) => matches(head)),
  async about(input) {
    const { failed, about } = startAbout();
    const head = await headOf(input);
    if ((hasKeys(head, 'issue_events') || isGraphql(head)) && !(await isWhole(input))) failed();
    return about();
  },
  async *read(input) {
    const head = await headOf(input);
    const shape = SHAPES.find(({ matches }) => matches(head));
    if (!shape) throw notThisFormat(EXPECTS);
    yield* shape.read(input);
  },
};

/** Other tools also write Issues, so an empty list must be the only content. */
function isGraphql(head: ReportHead): boolean {
  if (/^\s*\{\s*"Issues"\s*:\s*\[\s*\]\s*\}\s*$/.test(head.text)) return true;
  return (hasKeys(head, 'Issues') || hasKeys(head, 'data') || hasKeys(head, 'scan')) && /"issue_type"\s*:/.test(head.text);
}
