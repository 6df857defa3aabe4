import type { Analysis, Asset, Cvss, LookedFor, Observation, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { oneTag } from '../../names/one-tag.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { notThisFormat } from '../../shared/input.ts';
import { cwesOf, filePath, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { platformOf } from '../../shared/platform.ts';
import { epssOf, fixStateOf, ratingOf } from '../../shared/ratings.ts';
import { arr, date, dayOf, isObj, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { folderRestriction } from '../../shared/target-folder.ts';

const EXPECTS = 'a JSON object with matches and a descriptor named grype';

interface Scan {
  asset: Asset | null;
  time: Date | null;
  version: string | undefined;
  /** The vulnerability database. */
  database: Obj;
  configuration: Obj;
  distro: string | undefined;
  /** Whether it found no distribution. */
  isUnrecognized: boolean;
  folder: string | undefined;
}

export const grype: ReportFormat = {
  id: 'grype',
  name: 'Grype',
  description: 'Output of `grype <image, directory or SBOM> -o json`',
  documentation: 'https://github.com/anchore/grype#output-formats',
  expects: EXPECTS,
  assetType: 'container_image',
  detect: isGrype,
  async *read(input) {
    if (!isGrype(await headOf(input))) throw notThisFormat(EXPECTS);
    const scan = await readScan(input);
    const { asset, version, database } = scan;
    // Since database schema 6, the fields are in "status".
    const { built, schemaVersion } = { ...database, ...obj(database.status) };
    // Its JSON always has the matches that it was told to ignore.
    const looked_for: LookedFor[] = [...lookedFor(scan), 'suppressed'];
    yield* runEntry({ tool_version: version, finished_at: scan.time, knowledge: str(schemaVersion), knowledge_at: date(built), looked_for });
    yield* runEntry({ left_out: leftOut(scan), restrictions: [...restrictionsIn(scan.configuration), ...folderRestriction(scan.folder)] });
    yield* runEntry({ asset });
    for await (const found of jsonValues(input, ['matches.*', 'ignoredMatches.*'])) yield* readMatch(found, scan);
  },
};

/** The descriptor is at the end of the file, so the first match must be sufficient too. */
function isGrype({ jsonShape, jsonKeys, text }: ReportHead): boolean {
  if (jsonShape !== 'object' || !['matches', 'ignoredMatches', 'descriptor'].some((key) => jsonKeys.includes(key))) return false;
  if (jsonKeys.includes('descriptor') && /"name"\s*:\s*"grype"/.test(text)) return true;
  return (
    /"(?:m|ignoredM)atches"\s*:\s*\[\s*\{/.test(text) &&
    /"vulnerability"\s*:\s*\{/.test(text) &&
    /"(?:relatedVulnerabilities|matchDetails|artifact)"\s*:/.test(text)
  );
}

async function readScan(input: ReportInput): Promise<Scan> {
  const scan: Scan = {
    asset: null,
    time: null,
    version: undefined,
    database: {},
    configuration: {},
    distro: undefined,
    isUnrecognized: false,
    folder: undefined,
  };
  const paths = ['source', 'descriptor.timestamp', 'descriptor.version', 'descriptor.db', 'descriptor.configuration', 'distro.name'];
  for await (const { pattern, value } of jsonValues(input, paths)) {
    if (pattern === 0) Object.assign(scan, { asset: assetOf(obj(value)), folder: folderIn(obj(value)) });
    else if (pattern === 1) scan.time = date(value);
    else if (pattern === 2) scan.version = str(value);
    else if (pattern === 3) scan.database = obj(value);
    else if (pattern === 4) scan.configuration = obj(value);
    else Object.assign(scan, { distro: str(value), isUnrecognized: value === '' });
  }
  return scan;
}

/** Grype states its options. It has none that limits the severity, and it searches the packages of every distribution that it recognizes. */
function lookedFor({ configuration, distro }: Scan): LookedFor[] {
  const isPartial = arr(configuration.exclude).length > 0 || configuration['only-notfixed'] === true;
  if (configuration['only-fixed'] === undefined || isPartial) return [];
  return ['up_to_medium', ...(configuration['only-fixed'] === false ? ['without_fix' as const] : []), ...(distro ? ['system_packages' as const] : [])];
}

/** Of an image whose distribution it does not recognize, Grype does not see the system packages. */
function leftOut({ configuration, isUnrecognized, asset }: Scan): LookedFor[] {
  const isBare = asset?.type === 'container_image' && isUnrecognized;
  return [...(configuration['only-fixed'] === true ? ['without_fix' as const] : []), ...(isBare ? ['system_packages' as const] : [])];
}

function folderIn({ type, target }: Obj): string | undefined {
  return type === 'directory' || type === 'file' ? str(target) : undefined;
}

function restrictionsIn(configuration: Obj): string[] {
  const scope = str(obj(configuration.search).scope);
  return [
    ...(configuration['only-notfixed'] === true ? ['only-notfixed'] : []),
    ...strs(configuration.exclude).map((pattern) => `exclude=${pattern}`),
    ...(scope === undefined || scope === 'all-layers' ? [] : [`scope=${scope}`]),
  ];
}

function assetOf({ type, target }: Obj): Asset | null {
  const text = str(target);
  switch (str(type)) {
    case 'image':
    case 'oci-model':
      return imageOf(obj(target));
    case 'directory':
    case 'file':
      return text && text !== '.' ? { type: 'repository', name: text } : null;
    case 'purl':
      return text ? { type: 'package', name: text, identifiers: [{ kind: 'purl', value: text }] } : null;
    case 'snap':
      return text ? { type: 'package', name: text } : null;
    default:
      return null;
  }
}

function imageOf(target: Obj): Asset | null {
  const given = str(target.userInput)?.replace(/^(?:docker|podman|registry|containerd|singularity):(?!\/\/)/, '');
  const isArchive = given !== undefined && /^(?:docker-archive|oci-archive|oci-dir):|\.(?:tar|tgz|sif)\b/.test(given);
  const name = (isArchive ? oneTag(strs(target.tags)) : undefined) ?? given ?? oneTag(strs(target.tags));
  if (name === undefined) return null;
  const digests = [...strs(target.repoDigests).map((digest) => digest.split('@').at(-1) ?? digest), ...strs(target.manifestDigest)];
  const platform = platformOf(target.os, target.architecture);
  return {
    type: 'container_image',
    name,
    ...(platform === undefined ? {} : { platform }),
    identifiers: [
      ...[...new Set(digests)].map((value) => ({ kind: 'digest' as const, value })),
      ...strs(target.imageID).map((value) => ({ kind: 'image_id' as const, value })),
    ],
  };
}

function* readMatch(found: JsonValue, scan: Scan): Generator<ReportItem> {
  const place = placeOf(found);
  yield* record(place, () => {
    if (found.error) throw new RecordError(found.error);
    return observationOf(obj(found.value), place, scan, found.pattern === 1);
  });
}

function observationOf(match: Obj, place: string, scan: Scan, ignored: boolean): Observation {
  const vulnerability = obj(match.vulnerability);
  const artifact = obj(match.artifact);
  const related = arr(match.relatedVulnerabilities).map(obj);
  const fix = obj(vulnerability.fix);
  const id = required(str(vulnerability.id), 'vulnerability.id');
  const component = required(str(artifact.name), 'artifact.name');
  const own = cvssOf(vulnerability);
  const first = arr(artifact.locations)[0];
  const purl = str(artifact.purl);
  const [epss] = arr(vulnerability.epss).map(obj);
  return observation({
    place,
    tool: 'grype',
    rule: id,
    title: `${id} in ${component}`,
    description: str(vulnerability.description) ?? related.map(({ description }) => str(description)).find((text) => text !== undefined),
    severity: severityOf(str(vulnerability.severity)),
    tool_severity: str(vulnerability.severity),
    vulnerability_ids: [id, ...related.flatMap((other) => str(other.id) ?? [])],
    cwes: cwesOf([vulnerability, ...related].flatMap(({ cwes }) => arr(cwes).map((entry) => (isObj(entry) ? entry.cwe : entry)))),
    cvss: own.length > 0 ? own : related.flatMap(cvssOf),
    references: [
      ...[vulnerability, ...related].flatMap(({ dataSource, urls }) => [...strs(dataSource), ...strs(urls)]),
      ...arr(vulnerability.advisories).flatMap((advisory) => strs(obj(advisory).link)),
    ],
    asset: scan.asset,
    location: {
      component,
      version: str(artifact.version),
      fixed_version: strs(fix.versions).join(', '),
      purl,
      ecosystem: purl === undefined ? ecosystemOf(str(artifact.type)) : undefined,
      source_package: str(obj(arr(artifact.upstreams)[0]).name),
      layer: str(obj(first).layerID),
      path: filePath(isObj(first) ? (str(first.path) ?? str(first.realPath) ?? str(first.accessPath)) : str(first)),
    },
    present: !(ignored && isFixed(match)),
    suppressed: ignored,
    last_seen: scan.time,
    tags: [...strs(artifact.type), ...(str(fix.state) === 'wont-fix' ? ['wont-fix'] : [])],
    severity_source: raterOf(str(vulnerability.namespace)),
    epss: epssOf(epss?.epss, epss?.percentile, epss?.date),
    known_exploited: arr(vulnerability.knownExploited).length > 0,
    fix_state: fixStateOf(str(fix.state)),
    fix_published_date: publishedOn(fix),
    analysis: analysisOf(match),
  });
}

/** The day on which the first of the fixed versions was available. */
function publishedOn({ versions, available }: Obj): string | undefined {
  const fixed = new Set(strs(versions));
  const days = arr(available)
    .map(obj)
    .flatMap((entry) => (fixed.has(str(entry.version) ?? '') ? (dayOf(date(entry.date)) ?? []) : []));
  return days.sort()[0];
}

/** True if the match is ignored because a VEX statement or the distribution says that the package is fixed. */
function isFixed(match: Obj): boolean {
  return arr(match.appliedIgnoreRules).some((entry) => {
    const rule = obj(entry);
    return str(rule['vex-status']) === 'fixed' || /^DistroPackageFixed$/i.test(str(rule.reason) ?? '');
  });
}

/** The rules of Grype, a VEX statement or the distribution say why a match does not count. */
function analysisOf(match: Obj): Analysis | undefined {
  const rules = arr(match.appliedIgnoreRules).map(obj);
  const status = rules.map((rule) => str(rule['vex-status'])).find((word) => word !== undefined);
  const justification = rules.map((rule) => str(rule['vex-justification'])).find((word) => word !== undefined);
  const detail = rules.map((rule) => str(rule.reason)).find((word) => word !== undefined);
  if (status === undefined && justification === undefined && detail === undefined) return undefined;
  return {
    ...(status === undefined ? {} : { state: status === 'fixed' ? 'resolved' : status }),
    ...(justification === undefined ? {} : { justification }),
    ...(detail === undefined ? {} : { detail }),
  };
}

function cvssOf({ cvss }: Obj): Cvss[] {
  return arr(cvss).flatMap((entry) => {
    const { vector, metrics, version } = obj(entry);
    return ratingOf(vector, obj(metrics).baseScore, str(version));
  });
}

/** The namespace starts with the database that rated the vulnerability: "nvd:cpe", "debian:distro:debian:12", "github:language:python". */
function raterOf(namespace: string | undefined): string | undefined {
  const [rater] = namespace?.split(':') ?? [];
  return rater === 'github' ? 'ghsa' : rater;
}
