import { ReportError, type ReportFormat, type ReportHead, type ReportInput, type ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { record } from '../../shared/normalize.ts';
import { date, obj, str } from '../../shared/read.ts';
import { type Scan, vulnerabilityOf } from './vulnerability.ts';

/** Only GitLab reports have a list of identifiers. */
const OWN_FIELD = /"identifiers"\s*:\s*\[/;

export const gitlab: ReportFormat = {
  id: 'gitlab',
  name: 'GitLab security report',
  description:
    'GitLab CI security reports (gl-*-report.json): SAST, secret detection, dependency, container and cluster image scanning, DAST, API and coverage fuzzing',
  documentation: 'https://docs.gitlab.com/development/integrations/secure/#report',
  expects: 'a JSON object with version, scan and vulnerabilities, or the older array of vulnerabilities with cve and message',
  assetType: 'repository',
  detect: (head) => {
    if (head.jsonShape === 'array') return isOldList(head);
    return hasKeys(head, 'vulnerabilities') && !hasKeys(head, 'bomFormat') && (OWN_FIELD.test(head.text) || hasKeys(head, 'version', 'scan'));
  },
  async about(input) {
    const { scanner, type } = await readScan(input);
    return { tools: [scanner ?? type ?? 'gitlab'], finished: true, unread: [] };
  },
  async *read(input) {
    const head = await headOf(input);
    const scan = await readScan(input);
    for await (const found of jsonValues(input, [patternOf(head)])) yield* readVulnerability(found, scan);
  },
};

function isOldList(head: ReportHead): boolean {
  return hasKeys(head, 'cve', 'message') && ['scanner', 'tool', 'identifiers', 'category'].some((key) => hasKeys(head, key));
}

function patternOf(head: ReportHead): string {
  const isEmptyList = /^\s*\[\s*\]/.test(head.text);
  if (head.jsonShape === 'array' && (isOldList(head) || isEmptyList)) return '*';
  const isReport = hasKeys(head, 'scan') || OWN_FIELD.test(head.text) || /"vulnerabilities"\s*:\s*(?:\[\s*\]|null)/.test(head.text);
  if (head.jsonShape !== 'object' || !isReport || hasKeys(head, 'bomFormat')) throw notThisFormat(gitlab.expects);
  return 'vulnerabilities.*';
}

/** Read in a first pass, because `scan` comes after the vulnerabilities in most reports. */
async function readScan(input: ReportInput): Promise<Scan> {
  const fields: Record<string, unknown> = {};
  const names = ['scanner', 'type', 'status', 'end_time'];
  for await (const { path, value } of jsonValues(
    input,
    names.map((name) => `scan.${name}`),
  ))
    fields[String(path[1])] = value;
  if (str(fields.status) === 'failure') throw new ReportError('The scan failed according to scan.status, so the report is incomplete.');
  const scanner = obj(fields.scanner);
  return { scanner: str(scanner.id) ?? str(scanner.name), type: str(fields.type), ended: date(fields.end_time) };
}

function* readVulnerability(found: JsonValue, scan: Scan): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) yield { rejection: { place, reason: found.error } };
  else yield* record(place, () => vulnerabilityOf(obj(found.value), place, scan));
}
