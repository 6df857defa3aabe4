import type { ReportFormat, ReportHead } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { isWhole } from './counts.ts';
import { readGraphql, readRest } from './json.ts';
import { readJunit, readXml } from './xml.ts';

const EXPECTS =
  'XML with the root element issues and a burpVersion, JSON with issue_events (REST API) or Issues (GraphQL API), or JUnit XML of Dastardly or CI-driven scans';

/** The products that write such files look for different things, so each is a tool of its own. Burp Suite itself has the name of the format. */
const SHAPES = [
  { matches: ({ xmlRoot, text }: ReportHead) => xmlRoot?.name === 'issues' && /<issues[^>]{0,500}\sburpVersion=/.test(text), read: readXml, tools: null },
  { matches: junitOf('Dastardly'), read: readJunit, tools: ['dastardly'] },
  { matches: junitOf('Burp'), read: readJunit, tools: ['burp ci'] },
  { matches: (head: ReportHead) => hasKeys(head, 'issue_events'), read: readRest, tools: ['burp rest api'] },
  { matches: isGraphql, read: readGraphql, tools: ['burp graphql api'] },
];

function junitOf(product: string) {
  const named = new RegExp(`<testsuites[^>]{0,500}\\sname=["'][^"']{0,200}${product}`, 'i');
  return ({ xmlRoot, text }: ReportHead): boolean => xmlRoot?.name === 'testsuites' && named.test(text);
}

export const burp: ReportFormat = {
  id: 'burp',
  name: 'Burp Suite',
  description: 'Burp Suite issues exported as XML, JSON of scans from the REST and GraphQL APIs, or JUnit XML of Dastardly',
  documentation: 'https://portswigger.net/burp/documentation/desktop/running-scans/reporting-scan-results',
  expects: EXPECTS,
  assetType: 'web_application',
  detect: (head) => SHAPES.some(({ matches }) => matches(head)),
  async about(input) {
    const head = await headOf(input);
    const { failed, about } = startAbout(shapeOf(head)?.tools);
    if ((hasKeys(head, 'issue_events') || isGraphql(head)) && !(await isWhole(input))) failed();
    return about();
  },
  async *read(input) {
    const head = await headOf(input);
    const shape = shapeOf(head);
    if (!shape) throw notThisFormat(EXPECTS);
    yield* shape.read(input);
  },
};

const shapeOf = (head: ReportHead) => SHAPES.find(({ matches }) => matches(head));

/** Other tools also write Issues, so an empty list must be the only content. */
function isGraphql(head: ReportHead): boolean {
  if (/^\s*\{\s*"Issues"\s*:\s*\[\s*\]\s*\}\s*$/.test(head.text)) return true;
  return (hasKeys(head, 'Issues') || hasKeys(head, 'data') || hasKeys(head, 'scan')) && /"issue_type"\s*:/.test(head.text);
}
