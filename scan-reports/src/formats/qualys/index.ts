import type { ReportFormat, ReportHead, ReportInput } from '../../contract.ts';
import { headOf } from '../../detect.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { xmlElements } from '../../xml/elements.ts';
import { readAssetReport } from './asset-report.ts';
import { isCsv, readCsv } from './csv.ts';
import { readDetections } from './detections.ts';
import { readScan } from './scan-result.ts';
import { readWas } from './was.ts';

const EXPECTS =
  'XML with the root element ASSET_DATA_REPORT, SCAN, WAS_SCAN_REPORT, WAS_WEBAPP_REPORT or HOST_LIST_VM_DETECTION_OUTPUT, or CSV with the columns QID and Title (or VULN TITLE)';

const root = (...names: string[]) => {
  return ({ xmlRoot }: ReportHead): boolean => xmlRoot !== null && names.includes(xmlRoot.name);
};

const isWas = root('WAS_SCAN_REPORT', 'WAS_WEBAPP_REPORT');

const SHAPES = [
  { matches: root('ASSET_DATA_REPORT'), read: readAssetReport },
  { matches: root('HOST_LIST_VM_DETECTION_OUTPUT'), read: readDetections },
  { matches: isWas, read: readWas },
  { matches: (head: ReportHead) => root('SCAN')(head) && /<SCAN\b[^>]{0,500}\svalue="|scan-1\.dtd|<KEY\s+value=/.test(head.text), read: readScan },
  { matches: isCsv, read: readCsv },
];

export const qualys: ReportFormat = {
  id: 'qualys',
  name: 'Qualys',
  description:
    'Qualys reports: asset data report (XML, CSV), VMDR list (CSV), scan result (XML, confirmed vulnerabilities only), host detections from the API (XML), web application report (WAS, XML) or PCI scan (CSV)',
  documentation: 'https://docs.qualys.com/en/vm/api/dtd/index.htm',
  expects: EXPECTS,
  assetType: 'host',
  detect: (head) => SHAPES.some(({ matches }) => matches(head)),
  async about(input) {
    const { failed, about } = startAbout();
    const head = await headOf(input);
    if (root('HOST_LIST_VM_DETECTION_OUTPUT')(head) && (await isPage(input))) failed();
    for await (const status of statusesIn(input, head)) if (!FINISHED.test(status)) failed();
    return about();
  },
  async *read(input) {
    const head = await headOf(input);
    const shape = SHAPES.find(({ matches }) => matches(head));
    if (!shape) throw notThisFormat(EXPECTS);
    yield* shape.read(input);
  },
};

/** A response has so many hosts at most. The warning has the URL of the next ones, and the request, if it is repeated, the id from which it goes on. */
async function isPage(input: ReportInput): Promise<boolean> {
  const paths = ['RESPONSE/WARNING/URL', 'REQUEST/PARAM_LIST/PARAM/KEY'].map((path) => `HOST_LIST_VM_DETECTION_OUTPUT/${path}`);
  for await (const { element, pattern } of xmlElements(input, paths)) if (pattern === 0 || element.text === 'id_min') return true;
  return false;
}

const FINISHED = /^(?:finished|no ?vulns ?found)\b/i;

/** The statuses of the scans, as far as the report states them. A report of WAS can be about several. */
async function* statusesIn(input: ReportInput, head: ReportHead): AsyncGenerator<string> {
  if (root('SCAN')(head)) {
    for await (const { element } of xmlElements(input, ['SCAN/HEADER/KEY'])) if (element.attributes.value === 'STATUS') yield element.text;
  } else if (isWas(head)) {
    for await (const { element } of xmlElements(input, ['**/SCAN_LIST/SCAN/STATUS'])) yield element.text;
  }
}
