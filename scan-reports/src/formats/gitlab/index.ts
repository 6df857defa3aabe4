import { type ReportEntry, ReportError, type ReportFormat, type ReportHead, type ReportInput, type ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, record, webAsset } from '../../shared/normalize.ts';
import { arr, date, type Obj, obj, str } from '../../shared/read.ts';
import { runEntry, startComponents, startList } from '../../shared/run.ts';
import { dependencyOf } from './location.ts';
import { ruleOf, type Scan, vulnerabilityOf } from './vulnerability.ts';

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
    const { scanner, type, isBroken } = await readScan(input);
    return { tools: [scanner ?? type ?? 'gitlab'], finished: !isBroken, unread: [] };
  },
  async *read(input) {
    const head = await headOf(input);
    const scan = await readScan(input);
    const pattern = patternOf(head);
    yield* readRun(scan);
    for await (const found of jsonValues(input, [pattern])) yield* readVulnerability(found, scan);
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
  const names = ['scanner', 'type', 'status', 'start_time', 'end_time', 'primary_identifiers', 'messages'].map((name) => `scan.${name}`);
  const origins = new Set<string>();
  const files = new Map<string, Obj>();
  const components = startComponents();
  for await (const { path, value } of jsonValues(input, [...names, 'scan.scanned_resources.*', ...DEPENDENCY_FILE])) {
    const [top, field] = path;
    if (field === 'scanned_resources') origins.add(webAsset(str(obj(value).url))?.name ?? '');
    else if (top === 'scan') fields[String(field)] = value;
    else if (path[2] === 'dependencies') components.add(listedOf(value), true);
    else files.set(String(field), { ...files.get(String(field)), [String(path[2])]: value });
  }
  if (str(fields.status) === 'failure') throw new ReportError('The scan failed according to scan.status, so the report is incomplete.');
  const scanner = obj(fields.scanner);
  const type = str(fields.type);
  return {
    scanner: str(scanner.id) ?? str(scanner.name),
    version: str(scanner.version),
    type,
    isBroken: arr(fields.messages).some((message) => obj(message).level === 'fatal'),
    started: date(fields.start_time),
    ended: date(fields.end_time),
    identifiers: arr(fields.primary_identifiers).map(obj),
    origins: [...origins],
    components: components.list(),
    files: type === 'dependency_scanning' ? [...files.values()].map(({ path }) => filePath(str(path))) : [],
    managers: new Map([...files.values()].map(({ path, package_manager }) => [filePath(str(path)), str(package_manager)])),
  };
}

function listedOf(dependency: unknown): { name: string | undefined; version: string | undefined } {
  const { component, version } = dependencyOf({ dependency });
  return { name: component, version };
}

const DEPENDENCY_FILE = ['path', 'package_manager', 'dependencies.*'].map((field) => `dependency_files.*.${field}`);

/** `primary_identifiers` lists all rules of the analyzer, so that GitLab can tell removed rules from fixed findings. */
function* readRun({ version, type, started, ended, identifiers, origins, components, files: read }: Scan): Generator<ReportEntry> {
  const [checks, files] = [startList(), startList()];
  for (const file of read) files.add(file);
  for (const identifier of identifiers) checks.add(ruleOf(identifier));
  // One scanner can do scans of several types, each of which finds something else.
  const restrictions = type === undefined ? [] : [`scan type ${type}`];
  yield* runEntry({ tool_version: version, started_at: started, finished_at: ended, checks: checks.list(), files: files.list(), restrictions });
  yield* runEntry({ components });
  for (const origin of origins) yield* runEntry({ asset: webAsset(origin) });
  // By schema, DAST lists what it has scanned. Without that, it has reached nothing.
  if (type === 'dast' && origins.length === 0) yield* runEntry({ unfinished: true });
}

function* readVulnerability(found: JsonValue, scan: Scan): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) yield { rejection: { place, reason: found.error } };
  else yield* record(place, () => vulnerabilityOf(obj(found.value), place, scan));
}
