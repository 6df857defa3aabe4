import {
  type Asset,
  type Cvss,
  type ExploitMaturity,
  type LookedFor,
  type Observation,
  type ReportEntry,
  ReportError,
  type ReportInput,
  type Severity,
} from '../../contract.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { cwesOf, filePath, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { isSystemPackage } from '../../shared/purl.ts';
import { epssOf, maturityOf, ratingOf, uniqueRatings } from '../../shared/ratings.ts';
import { arr, count, isObj, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { startListed } from './listed.ts';
import { nameOf, pathText, readWays, upgradeText, type Ways } from './paths.ts';

/** A project, or an application inside an image. */
interface Project {
  asset: Asset | null;
  path: string | undefined;
  manager: string | undefined;
}

const FIELDS = [
  'projectName',
  'displayTargetFile',
  'targetFile',
  'path',
  'packageManager',
  'platform',
  'error',
  'severityThreshold',
  'dependencyCount',
  'uniqueCount',
  'summary',
];
const LISTS = ['vulnerabilities', 'infrastructureAsCodeIssues', 'filtered.ignore', 'filtered.patch'] as const;
const NO_PROJECT: Project = { asset: null, path: undefined, manager: undefined };

/** The fields of a project come after its vulnerabilities, so they are read in a first pass. */
export async function* readCli(input: ReportInput, isArray: boolean): AsyncGenerator<ReportEntry> {
  const prefixes = isArray ? ['*.', '*.applications.*.'] : ['', 'applications.*.'];
  const headers = await readHeaders(input, prefixes);
  for (const [owner, { error }] of headers) {
    const reason = str(error) ?? str(obj(error).message);
    if (reason === undefined) continue;
    if (!isArray) throw new ReportError(`The project could not be tested: ${reason.slice(0, 500)}`);
    yield { rejection: { place: `[${owner.split('.')[0]}]`, reason: `the project could not be tested: ${reason.slice(0, 500)}` } };
  }
  yield* runEntry({
    restrictions: [...headers.values()].flatMap(({ severityThreshold }) => strs(severityThreshold).map((level) => `severity-threshold=${level}`)),
  });
  yield* runEntry({ lock_files: lockFiles(headers), left_out: leftOut(headers) });
  yield* coveredAssets(headers);
  const projects = new Map([...headers].map(([owner, header]) => [owner, projectOf(owner, header, headers)]));
  const listed = startListed(headers);
  const patterns = prefixes.flatMap((prefix) => LISTS.map((list) => `${prefix}${list}.*`));
  const waysOf = await readWays(input, patterns);
  for await (const found of jsonValues(input, patterns)) {
    const place = placeOf(found);
    const list = LISTS[found.pattern % LISTS.length] ?? 'vulnerabilities';
    const owner = found.path.slice(0, -1 - list.split('.').length).join('.');
    listed.add(owner, obj(found.value).id);
    yield* record(place, () => {
      if (found.error || !isObj(found.value)) throw new RecordError(found.error ?? 'the record is not an object');
      const project = projects.get(owner) ?? NO_PROJECT;
      if (list === 'infrastructureAsCodeIssues') return misconfigurationOf(found.value, place, project);
      return vulnerabilityOf(found.value, place, project, { list, ways: waysOf(found.path, found.value) });
    });
  }
  for (const owner of listed.cut()) yield* runEntry({ asset: projects.get(owner)?.asset, unfinished: true });
}

async function readHeaders(input: ReportInput, prefixes: readonly string[]): Promise<Map<string, Obj>> {
  const headers = new Map<string, Obj>();
  for await (const { path, value } of jsonValues(
    input,
    prefixes.flatMap((prefix) => FIELDS.map((field) => `${prefix}${field}`)),
  )) {
    const owner = path.slice(0, -1).join('.');
    headers.set(owner, { ...headers.get(owner), [String(path.at(-1))]: value });
  }
  return headers;
}

/** `snyk iac test` finds no vulnerable packages, and `snyk test` no misconfigurations. Projects without dependencies prove nothing. */
function leftOut(headers: ReadonlyMap<string, Obj>): LookedFor[] {
  const isEmpty = headers.size > 0 && [...headers.values()].every(({ dependencyCount }) => dependencyCount === 0);
  return isEmpty ? ['system_packages', 'libraries', 'licenses', 'misconfigurations'] : leftOutOf(headers);
}

function leftOutOf(headers: ReadonlyMap<string, Obj>): LookedFor[] {
  const managers = [...headers.values()].flatMap(({ packageManager }) => strs(packageManager));
  if (managers.length === 0) return [];
  const isCode = managers.map((manager) => /config$/i.test(manager));
  return isCode.every(Boolean) ? ['system_packages', 'libraries', 'licenses'] : isCode.some(Boolean) ? [] : ['misconfigurations'];
}

/** Several projects of a repository can have a lock file of the same name, each in the folder in which it was tested. */
function lockFiles(headers: ReadonlyMap<string, Obj>): string[] {
  return [...headers].flatMap(([owner, header]) => {
    const asset = /applications\.\d+$/.test(owner) ? null : assetOf(header);
    const file = str(header.displayTargetFile) ?? str(header.targetFile);
    return asset?.type === 'repository' && file !== undefined ? [`${asset.name}/${file}`] : [];
  });
}

/** Projects that were tested are covered even if they have no vulnerabilities. */
function* coveredAssets(headers: ReadonlyMap<string, Obj>): Generator<ReportEntry> {
  const names = new Set<string>();
  for (const [owner, header] of headers) {
    const asset = /applications\.\d+$/.test(owner) || header.error !== undefined ? null : assetOf(header);
    if (asset && !names.has(asset.name)) yield* runEntry({ asset });
    if (asset) names.add(asset.name);
  }
}

function projectOf(owner: string, header: Obj, headers: ReadonlyMap<string, Obj>): Project {
  const image = headers.get(owner.replace(/\.?applications\.\d+$/, '')) ?? header;
  return {
    asset: assetOf(image),
    path: filePath(str(header.displayTargetFile) ?? str(header.targetFile)),
    manager: str(header.packageManager),
  };
}

function assetOf({ projectName, path, platform, packageManager }: Obj): Asset | null {
  const name = str(projectName);
  const target = str(path);
  if (name?.startsWith('docker-image|') || str(platform) || ['deb', 'rpm', 'apk', 'linux'].includes(str(packageManager) ?? '')) {
    const image = imageName(name?.replace(/^docker-image\|/, '').replace(/:\/.*$/, ''), target);
    return image ? { type: 'container_image', name: image } : null;
  }
  return name ? { type: 'repository', name } : null;
}

/** The project name is the image without its tag. The path is the image as requested, sometimes followed by the project. */
function imageName(name: string | undefined, path: string | undefined): string | undefined {
  if (name === undefined) return path;
  const [tag = ''] = (path?.startsWith(name) ? /^(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?/.exec(path.slice(name.length)) : null) ?? [];
  return `${name}${tag}`;
}

interface Among {
  list: (typeof LISTS)[number];
  /** What all records of the vulnerability say. */
  ways: Ways;
}

function vulnerabilityOf(entry: Obj, place: string, project: Project, { list, ways }: Among): Observation {
  const id = required(str(entry.id), 'id');
  const manager = str(entry.packageManager) ?? project.manager;
  const { component, source } = packageOf(required(nameOf(entry), 'the package name'), manager);
  const identifiers = obj(entry.identifiers);
  const isLicense = str(entry.type) === 'license' || id.startsWith('snyk:lic:');
  const { severity, word } = severityOfEntry(entry);
  return observation({
    place,
    tool: 'snyk',
    rule: id,
    title: str(entry.title) ?? `${id} in ${component}`,
    description: [pathText(ways), str(entry.description)].filter(Boolean).join('\n\n'),
    solution: upgradeText(ways) || licenseText(entry),
    severity,
    tool_severity: word,
    vulnerability_ids: isLicense ? [] : [...strs(identifiers.CVE), ...strs(identifiers.GHSA), id],
    cwes: cwesOf(strs(identifiers.CWE)),
    cvss: cvssOf(entry),
    references: arr(entry.references).flatMap((reference) => strs(isObj(reference) ? reference.url : reference)),
    asset: project.asset,
    location: {
      component,
      version: str(entry.version),
      fixed_version: str(entry.nearestFixedInVersion) ?? strs(entry.fixedIn).join(', '),
      ecosystem: ecosystemOf(manager),
      source_package: source,
      path: project.path,
      line: count(entry.lineNumber),
    },
    present: list !== 'filtered.patch',
    suppressed: list === 'filtered.ignore',
    tags: [...strs(entry.packageManager ?? project.manager), ...(isLicense ? ['license'] : []), ...(entry.malicious === true ? ['malicious'] : [])],
    epss: epssOf(obj(entry.epssDetails).probability, obj(entry.epssDetails).percentile),
    exploit_maturity: exploitOf(entry),
    known_exploited: strs(obj(entry.exploitDetails).sources).some((name) => /^cisa\b/i.test(name)),
    malicious: entry.malicious === true,
    fix_state: Array.isArray(entry.fixedIn) ? (entry.fixedIn.length > 0 ? 'available' : 'not_available') : undefined,
  });
}

/** Snyk calls packages of a distribution by source and installed package: "openssl/libssl1.1". */
function packageOf(name: string, manager: string | undefined): { component: string; source: string | undefined } {
  const [, source, installed] = isSystemPackage(ecosystemOf(manager)) || manager === 'linux' ? (/^([^/]+)\/([^/]+)$/.exec(name) ?? []) : [];
  return { component: installed ?? name, source };
}

/** Newer versions state the maturity once for each version of CVSS. */
function exploitOf(entry: Obj): ExploitMaturity | undefined {
  const levels = arr(obj(entry.exploitDetails).maturityLevels).map((level) => str(obj(level).level));
  return [...levels, str(entry.exploit)].map(maturityOf).find((maturity) => maturity !== undefined);
}

/** Older versions report critical as high and have the precise value in `severityWithCritical`. */
function severityOfEntry(entry: Obj): { severity: Severity; word: string | undefined } {
  const word = str(entry.severity);
  const precise = str(entry.severityWithCritical);
  const isCritical = precise === 'critical' && word === 'high' && entry.originalSeverity === undefined;
  const chosen = isCritical ? precise : (word ?? precise);
  return { severity: severityOf(chosen), word: chosen };
}

function licenseText(entry: Obj): string {
  return arr(entry.legalInstructionsArray)
    .flatMap((instruction) => strs(obj(instruction).legalContent))
    .join('\n');
}

function cvssOf(entry: Obj): Cvss[] {
  return uniqueRatings([
    ...ratingOf(entry.CVSSv3, entry.cvssScore, '3.1'),
    ...arr(entry.cvssSources).flatMap((source) => ratingOf(obj(source).vector, obj(source).baseScore, str(obj(source).cvssVersion))),
    ...arr(entry.cvssDetails).flatMap((detail) => ratingOf(obj(detail).cvssV3Vector, obj(detail).cvssV3BaseScore, '3.1')),
  ]);
}

function misconfigurationOf(issue: Obj, place: string, project: Project): Observation {
  const { issue: what, impact, resolve } = { ...obj(issue.iacDescription), ...issue };
  const rule = required(str(issue.publicId) ?? str(issue.id), 'publicId');
  return observation({
    place,
    tool: 'snyk',
    rule,
    title: str(issue.title) ?? rule,
    description: [str(what), str(impact), str(issue.description)].filter(Boolean).join('\n\n'),
    solution: [str(resolve), ...Object.values(obj(issue.remediation)).map(str)].filter(Boolean).join('\n\n'),
    severity: severityOf(str(issue.severity)),
    tool_severity: str(issue.severity),
    references: [...strs(issue.documentation), ...strs(issue.references)],
    asset: project.asset,
    location: { path: project.path, line: count(issue.lineNumber), resource: strs(issue.path).join('.') || str(issue.msg) },
    suppressed: issue.isIgnored === true,
    tags: [...strs(issue.subType), ...strs(issue.type ?? project.manager)],
  });
}
