import type { Cvss, Observation, ReportFormat, ReportHead, ReportInput, ReportItem, Severity } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { severityOfRatings } from '../../shared/cvss.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, filePath, observation, RecordError, record, required, severityOf, severityOfScore } from '../../shared/normalize.ts';
import { isSystemPackage, parsePurl } from '../../shared/purl.ts';
import { ratingOf, uniqueRatings } from '../../shared/ratings.ts';
import { arr, isObj, num, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startComponents } from '../../shared/run.ts';

const EXPECTS = 'a JSON object with results, each with source and packages';

/** The source and package of a vulnerability, and the groups of records that describe the same vulnerability. */
interface Context {
  source: Obj;
  package: Obj;
  groups: Obj[];
  /** Whether the report has anything against the package. */
  isClean: boolean;
  dependencyGroups: string[];
  /** Layer of the image that contains the package. */
  layer: string | undefined;
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
    // Without any package to scan, the scanner writes an empty file. It has looked at nothing, so nothing is gone.
    if (head.text.trim() === '') {
      yield { run: { unfinished: true } };
      return;
    }
    if (!isOsvScanner(head)) throw notThisFormat(EXPECTS);
    const contexts = await readContexts(input);
    // Packages without findings are listed with `--all-packages`.
    const components = startComponents();
    for (const context of contexts.values()) components.add(nameOf(context), context.isClean);
    const lock_files = [...contexts.values()].flatMap(({ source }) => filePath(str(source.path)) ?? []);
    // Only findings of withdrawn advisories are suppressed, and no option leaves those out.
    yield* runEntry({ lock_files, components: components.list(), looked_for: ['suppressed'], left_out: (await comparesLicenses(input)) ? [] : ['licenses'] });
    for await (const found of jsonValues(input, ['results.*.packages.*.vulnerabilities.*', 'results.*.packages.*.license_violations.*']))
      yield* readEntry(found, contexts.get(found.path.slice(0, 4).join('.')) ?? NO_CONTEXT);
  },
};

const NO_CONTEXT: Context = { source: {}, package: {}, groups: [], isClean: false, dependencyGroups: [], layer: undefined };
const KEYS = ['results', 'experimental_config', 'experimental_generic_findings', 'image_metadata', 'license_summary'];

function isOsvScanner(head: ReportHead): boolean {
  if (head.jsonShape !== 'object' || !hasKeys(head, 'results')) return false;
  if (hasKeys(head, 'experimental_config') || /"results"\s*:\s*\[\s*\{\s*"(?:source|packages|experimental_pes)"/.test(head.text)) return true;
  return head.jsonKeys.every((key) => KEYS.includes(key)) && /"results"\s*:\s*(?:null|\[\s*\])/.test(head.text);
}

async function readContexts(input: ReportInput): Promise<Map<string, Context>> {
  const sources = new Map<unknown, Obj>();
  const packages = new Map<string, Obj>();
  const layers: (string | undefined)[] = [];
  const withFindings = new Set<string>();
  const fields = ['package', 'groups', 'dependency_groups', 'vulnerabilities.*.id', 'license_violations.*'];
  const tops = ['results.*.source', 'image_metadata.layer_metadata.*'];
  for await (const { path, value } of jsonValues(input, [...tops, ...fields.map((field) => `results.*.packages.*.${field}`)])) {
    if (path[0] === 'image_metadata') layers[Number(path[2])] = str(obj(value).diff_id);
    else if (path.length === 3) sources.set(path[1], obj(value));
    else {
      const owner = path.slice(0, 4).join('.');
      if (path.length > 5) withFindings.add(owner);
      else packages.set(owner, { ...packages.get(owner), [String(path[4])]: value });
    }
  }
  return new Map(
    [...packages].map(([owner, parts]): [string, Context] => [
      owner,
      {
        source: sources.get(Number(owner.split('.')[1])) ?? {},
        package: obj(parts.package),
        groups: arr(parts.groups).map(obj),
        isClean: !withFindings.has(owner),
        dependencyGroups: strs(parts.dependency_groups),
        layer: layers[num(obj(obj(parts.package).image_origin_details).index) ?? -1],
      },
    ]),
  );
}

/** Licenses are compared only with a list of those that are allowed (`--licenses=MIT,…`). */
async function comparesLicenses(input: ReportInput): Promise<boolean> {
  for await (const _ of jsonValues(input, ['experimental_config.licenses.allowlist.*', 'results.*.packages.*.license_violations.*'])) return true;
  return false;
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
  const ids = [id, ...strs(entry.aliases), ...strs(group.ids), ...strs(group.aliases)];
  const vectors = [...arr(entry.severity), ...affected.flatMap((one) => arr(one.severity))].flatMap(cvssOf);
  const cvss = uniqueRatings([...vectors, ...ratingOf(undefined, vectors.length === 0 ? group.max_severity : undefined)]);
  const malicious = ids.some((one) => one.startsWith('MAL-'));
  const { severity, word } = severityOfEntry(entry, affected, group, cvss);
  const analysis = obj(obj(group.experimental_analysis)[id] ?? obj(group.experimentalAnalysis)[id]);
  const isWithdrawn = str(entry.withdrawn) !== undefined;
  return observation({
    place,
    tool: 'osv-scanner',
    rule: id,
    title: str(entry.summary) ?? `${id}${component ? ` in ${component}` : ''}`,
    description: str(entry.details),
    severity: malicious ? 'critical' : severity,
    tool_severity: word,
    vulnerability_ids: ids,
    cwes: cwesOf(
      strs(obj(entry.database_specific).cwe_ids),
      affected.flatMap((one) => arr(obj(one.database_specific).cwes).map((cwe) => (isObj(cwe) ? cwe.cweId : cwe))),
    ),
    cvss,
    references: arr(entry.references).flatMap((reference) => strs(obj(reference).url)),
    location: { ...locationOf(context, affected), fixed_version: fixedVersions(affected).join(', ') },
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

/**
 * For packages of a distribution, `name` is the source package and `os_package_name` the installed one. A vendored or checked-out
 * repository has a commit instead of a name.
 */
function componentOf({ package: { name, os_package_name } }: Context): string | undefined {
  return str(os_package_name) ?? str(name);
}

function nameOf(context: Context): { name: string | undefined; version: string | undefined } {
  return { name: componentOf(context), version: str(context.package.version) ?? str(context.package.commit) };
}

function locationOf(context: Context, affected: readonly Obj[] = []) {
  const { name, os_package_name, version, ecosystem } = context.package;
  const purl = purlOf(affected, str(version));
  const { name: component, version: its } = nameOf(context);
  return {
    component,
    version: its,
    purl,
    ecosystem: purl === undefined ? ecosystemOf(str(ecosystem)) : undefined,
    source_package: str(os_package_name) === undefined ? undefined : str(name),
    layer: context.layer,
    path: filePath(str(context.source.path)),
  };
}

/** The record has package URLs without a version. For distributions, they name the source package and not the installed one. */
function purlOf(affected: readonly Obj[], version: string | undefined): string | undefined {
  const purl = affected.map((one) => str(obj(one.package).purl)).find((text) => text !== undefined);
  const parsed = parsePurl(purl);
  if (purl === undefined || parsed === null || isSystemPackage(parsed.type)) return undefined;
  return version === undefined || parsed.version !== undefined ? purl : purl.replace(/^[^?#]+/, (base) => `${base}@${encodeURIComponent(version)}`);
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

/** Prefers the word of the database, then the scanner's highest score of the group, then the record's own CVSS vectors. */
function severityOfEntry(entry: Obj, affected: readonly Obj[], group: Obj, cvss: readonly Cvss[]): { severity: Severity; word: string | undefined } {
  const labels = arr(entry.severity).flatMap((one) => (/^CVSS/i.test(str(obj(one).type) ?? '') ? [] : strs(obj(one).score)));
  const words = [
    str(obj(entry.database_specific).severity),
    ...affected.flatMap((one) => [str(obj(one.ecosystem_specific).severity), str(obj(one.database_specific).severity)]),
    ...labels,
  ];
  const word = words.find((candidate) => severityOf(candidate) !== 'unknown');
  if (word !== undefined) return { severity: severityOf(word), word };
  const score = num(group.max_severity);
  return score === undefined ? { severity: severityOfRatings(cvss), word: undefined } : { severity: severityOfScore(score), word: String(score) };
}

function cvssOf(entry: unknown): Cvss[] {
  const { type, score } = obj(entry);
  const vector = str(score);
  return vector !== undefined && /^CVSS_V/i.test(str(type) ?? '') ? [{ vector }] : [];
}
