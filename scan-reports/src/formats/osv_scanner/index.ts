import type { Cvss, Observation, ReportFormat, ReportHead, ReportInput, ReportItem, Severity } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, filePath, observation, RecordError, record, required, severityOf, severityOfScore } from '../../shared/normalize.ts';
import { arr, isObj, num, type Obj, obj, str, strs } from '../../shared/read.ts';

const EXPECTS = 'a JSON object with results, each with source and packages';

/** The source and package of a vulnerability, and the groups of records that describe the same vulnerability. */
interface Context {
  source: Obj;
  package: Obj;
  groups: Obj[];
  dependencyGroups: string[];
}

export const osvScanner: ReportFormat = {
  id: 'osv_scanner',
  name: 'OSV-Scanner',
  description: 'Output of `osv-scanner scan --format json`',
  documentation: 'https://google.github.io/osv-scanner/output/#json',
  expects: EXPECTS,
  assetType: 'repository',
  detect: (head) => isOsvScanner(head) && (hasKeys(head, 'experimental_config') || /"(?:packages|source)"\s*:/.test(head.text)),
  async *read(input) {
    const head = await headOf(input);
    // Without any package to scan, the scanner writes an empty file.
    if (head.text.trim() === '') return;
    if (!isOsvScanner(head)) throw notThisFormat(EXPECTS);
    const contexts = await readContexts(input);
    for await (const found of jsonValues(input, ['results.*.packages.*.vulnerabilities.*', 'results.*.packages.*.license_violations.*']))
      yield* readEntry(found, contexts.get(found.path.slice(0, 4).join('.')) ?? { source: {}, package: {}, groups: [], dependencyGroups: [] });
  },
};

const KEYS = ['results', 'experimental_config', 'experimental_generic_findings', 'image_metadata', 'license_summary'];

function isOsvScanner(head: ReportHead): boolean {
  if (head.jsonShape !== 'object' || !hasKeys(head, 'results')) return false;
  if (hasKeys(head, 'experimental_config') || /"results"\s*:\s*\[\s*\{\s*"(?:source|packages|experimental_pes)"/.test(head.text)) return true;
  return head.jsonKeys.every((key) => KEYS.includes(key)) && /"results"\s*:\s*(?:null|\[\s*\])/.test(head.text);
}

async function readContexts(input: ReportInput): Promise<Map<string, Context>> {
  const sources = new Map<unknown, Obj>();
  const packages = new Map<string, Obj>();
  const fields = ['package', 'groups', 'dependency_groups'];
  for await (const { path, value } of jsonValues(input, ['results.*.source', ...fields.map((field) => `results.*.packages.*.${field}`)])) {
    if (path.length === 3) sources.set(path[1], obj(value));
    else {
      const owner = path.slice(0, 4).join('.');
      packages.set(owner, { ...packages.get(owner), [String(path[4])]: value });
    }
  }
  return new Map(
    [...packages].map(([owner, parts]) => [
      owner,
      {
        source: sources.get(Number(owner.split('.')[1])) ?? {},
        package: obj(parts.package),
        groups: arr(parts.groups).map(obj),
        dependencyGroups: strs(parts.dependency_groups),
      },
    ]),
  );
}

function* readEntry(found: JsonValue, context: Context): Generator<ReportItem> {
  const place = placeOf(found);
  yield* record(place, () => {
    if (found.error) throw new RecordError(found.error);
    if (found.pattern === 1) return licenseOf(required(str(found.value), 'the license'), place, context);
    if (!isObj(found.value)) throw new RecordError('the record is not an object');
    return vulnerabilityOf(found.value, place, context);
  });
}

function vulnerabilityOf(entry: Obj, place: string, context: Context): Observation {
  const id = required(str(entry.id), 'id');
  const group = context.groups.find(({ ids }) => strs(ids).includes(id)) ?? {};
  const component = componentOf(context);
  const affected = affectedOf(entry, context);
  const { severity, word } = severityOfEntry(entry, affected, group);
  const analysis = obj(obj(group.experimental_analysis)[id] ?? obj(group.experimentalAnalysis)[id]);
  const isWithdrawn = str(entry.withdrawn) !== undefined;
  return observation({
    place,
    tool: 'osv-scanner',
    rule: id,
    title: str(entry.summary) ?? `${id}${component ? ` in ${component}` : ''}`,
    description: str(entry.details),
    severity,
    tool_severity: word,
    vulnerability_ids: [id, ...strs(entry.aliases), ...strs(group.ids), ...strs(group.aliases)],
    cwes: cwesOf(strs(obj(entry.database_specific).cwe_ids)),
    cvss: [...arr(entry.severity), ...affected.flatMap((one) => arr(one.severity))].flatMap(cvssOf),
    references: arr(entry.references).flatMap((reference) => strs(obj(reference).url)),
    location: { ...locationOf(context), fixed_version: fixedVersions(affected).join(', ') },
    suppressed: isWithdrawn,
    tags: [
      ...strs(context.package.ecosystem),
      ...context.dependencyGroups,
      ...(isWithdrawn ? ['withdrawn'] : []),
      ...(analysis.called === false ? ['not-called'] : []),
      ...(analysis.unimportant === true ? ['unimportant'] : []),
    ],
  });
}

function licenseOf(license: string, place: string, context: Context): Observation {
  const component = componentOf(context);
  return observation({
    place,
    tool: 'osv-scanner',
    rule: `license:${license}`,
    title: `License ${license}${component ? ` of ${component}` : ''} is not allowed`,
    severity: 'unknown',
    location: locationOf(context),
    tags: ['license', ...strs(context.package.ecosystem)],
  });
}

/** A vendored or checked-out repository has a commit instead of a name. */
function componentOf({ package: { name, os_package_name } }: Context): string | undefined {
  return str(name) ?? str(os_package_name);
}

function locationOf(context: Context) {
  return {
    component: componentOf(context),
    version: str(context.package.version) ?? str(context.package.commit),
    path: filePath(str(context.source.path)),
  };
}

/** Returns the parts of the record about this package. Prefers those that list its exact version. */
function affectedOf(entry: Obj, { package: installed }: Context): Obj[] {
  const all = arr(entry.affected).map(obj);
  const ecosystem = str(installed.ecosystem)?.split(':')[0];
  const same = all.filter(({ package: named }) => {
    const { name, ecosystem: of } = obj(named);
    return str(name)?.toLowerCase() === str(installed.name)?.toLowerCase() && (ecosystem === undefined || str(of)?.split(':')[0] === ecosystem);
  });
  const exact = same.filter(({ versions }) => strs(versions).includes(str(installed.version) ?? ''));
  return exact.length > 0 ? exact : same;
}

function fixedVersions(affected: readonly Obj[]): string[] {
  const ranges = affected.flatMap((one) => arr(one.ranges).map(obj)).filter(({ type }) => str(type) !== 'GIT');
  return [...new Set(ranges.flatMap(({ events }) => arr(events).flatMap((event) => strs(obj(event).fixed))))];
}

/** Prefers the word of the database, then the scanner's highest score of the group. The service scores vectors. */
function severityOfEntry(entry: Obj, affected: readonly Obj[], group: Obj): { severity: Severity; word: string | undefined } {
  const labels = arr(entry.severity).flatMap((one) => (/^CVSS/i.test(str(obj(one).type) ?? '') ? [] : strs(obj(one).score)));
  const words = [
    str(obj(entry.database_specific).severity),
    ...affected.flatMap((one) => [str(obj(one.ecosystem_specific).severity), str(obj(one.database_specific).severity)]),
    ...labels,
  ];
  const word = words.find((candidate) => severityOf(candidate) !== 'unknown');
  if (word !== undefined) return { severity: severityOf(word), word };
  const score = num(group.max_severity);
  return { severity: severityOfScore(score), word: score === undefined ? undefined : String(score) };
}

function cvssOf(entry: unknown): Cvss[] {
  const { type, score } = obj(entry);
  const vector = str(score);
  return vector !== undefined && /^CVSS_V/i.test(str(type) ?? '') ? [{ vector }] : [];
}
