import type { ReportFormat, ReportHead, ReportInput } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { notThisFormat } from '../../shared/input.ts';
import { type Alert, aboutAlerts } from './alert.ts';
import { jsonAlerts, readJson } from './json.ts';
import { readXml, xmlAlerts } from './xml.ts';

const EXPECTS = 'XML with the root element OWASPZAPReport, or JSON with site and alerts';

export const zap: ReportFormat = {
  id: 'zap',
  name: 'ZAP',
  description: 'Reports "Traditional XML" and "Traditional JSON" of ZAP, with or without requests and responses',
  documentation: 'https://www.zaproxy.org/docs/desktop/addons/report-generation/',
  expects: EXPECTS,
  assetType: 'web_application',
  // The time is in the language of the user in older versions, so it cannot always be read.
  states: ['targets'],
  listsAssets: () => true,
  detect: (head) => isXml(head) || isJson(head),
  async about(input) {
    return aboutAlerts(alertsIn(input));
  },
  async *read(input) {
    const head = await headOf(input);
    if (isXml(head)) yield* readXml(input);
    else if (isJson(head)) yield* readJson(input);
    else throw notThisFormat(EXPECTS);
  },
};

async function* alertsIn(input: ReportInput): AsyncGenerator<Alert> {
  const head = await headOf(input);
  if (isXml(head)) yield* xmlAlerts(input);
  else if (isJson(head)) yield* jsonAlerts(input);
}

function isXml({ xmlRoot }: ReportHead): boolean {
  return xmlRoot?.name === 'OWASPZAPReport';
}

/** GitLab DAST reports of version 14 contain the ZAP report next to their vulnerabilities. */
function isJson(head: ReportHead): boolean {
  if (!hasKeys(head, 'site') || head.jsonKeys.includes('vulnerabilities')) return false;
  return /"@programName"\s*:\s*"ZAP"/.test(head.text) || (hasKeys(head, '@version') && /"alerts"\s*:/.test(head.text)) || isWithoutSites(head);
}

const KEYS = ['site', 'created', 'insights', 'sequences'];

function isWithoutSites(head: ReportHead): boolean {
  return (
    head.jsonShape === 'object' && /"site"\s*:\s*(?:null|\[\s*\])/.test(head.text) && head.jsonKeys.every((key) => key.startsWith('@') || KEYS.includes(key))
  );
}
