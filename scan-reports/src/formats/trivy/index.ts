import type { LookedFor, ReportEntry, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, RecordError, record } from '../../shared/normalize.ts';
import { count, date, obj, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { folderRestriction } from '../../shared/target-folder.ts';
import { artifactAsset, assetsOf, CODE_TYPES, type Contexts, clusterAsset, emptyContexts } from './artifact.ts';
import { type FindingKind, isFinding, readers, type Target, withStatus } from './findings.ts';

/** The lists of a result and the kind of their entries. Null if each entry states its kind. */
const LISTS: Readonly<Record<string, FindingKind | null>> = {
  Vulnerabilities: 'vulnerability',
  Misconfigurations: 'misconfiguration',
  Secrets: 'secret',
  Licenses: 'license',
  ExperimentalModifiedFindings: null,
  ModifiedFindings: null,
};
/** Keys of the resources in a cluster report, depending on version and kind of report. */
const CLUSTER_LISTS = ['Resources', 'Findings', 'Vulnerabilities', 'Misconfigurations'];
/** Paths of results in a report, in the old list of results, in a compliance report and in a cluster report. */
const RESULTS = ['Results.*', '*', 'Results.*.Results.*', ...CLUSTER_LISTS.map((list) => `${list}.*.Results.*`)];

export const trivy: ReportFormat = {
  id: 'trivy',
  name: 'Trivy',
  description: 'Output of `trivy image|fs|repo|vm|config|sbom|k8s --format json`',
  documentation: 'https://trivy.dev/latest/docs/configuration/reporting/#json',
  expects: 'a JSON object with SchemaVersion and Results (or ClusterName and Resources), or the older array of results with Target',
  assetType: 'container_image',
  detect: (head) =>
    (hasKeys(head, 'SchemaVersion') && ['Results', 'ArtifactName', 'ArtifactType'].some((key) => head.jsonKeys.includes(key))) ||
    (hasKeys(head, 'ClusterName') && CLUSTER_LISTS.some((key) => head.jsonKeys.includes(key))) ||
    hasKeys(head, 'ID', 'Title', 'RelatedResources', 'Results') ||
    (head.jsonShape === 'array' && hasKeys(head, 'Target')),
  async about(input) {
    const about = startAbout().about();
    if (!trivy.detect(await headOf(input))) return about;
    for await (const { value } of jsonValues(input, ['ArtifactType'])) return CODE_TYPES.has(value) ? { ...about, assetType: 'repository' } : about;
    return about;
  },
  async *read(input) {
    if (!mayBeTrivy(await headOf(input))) throw notThisFormat(trivy.expects);
    const contexts = await readContexts(input);
    for (const context of contexts) if (context) yield* readRun(context);
    for (const context of contexts) yield* context?.failures ?? [];
    let hasVulnerability = false;
    let showsModified = false;
    let showsUnaffected = false;
    const shown = new Map<string, number>();
    const withFindings = new Set<string>();
    for await (const found of jsonValues(
      input,
      RESULTS.flatMap((result) => Object.keys(LISTS).map((list) => `${result}.${list}.*`)),
    )) {
      const list = found.path.at(-2);
      hasVulnerability ||= list === 'Vulnerabilities';
      withFindings.add(found.path.slice(0, -2).join('.'));
      const isModified = LISTS[String(list)] === null;
      showsModified ||= isModified;
      showsUnaffected ||= !isModified && obj(found.value).Status === 'not_affected';
      if (list === 'Misconfigurations' || isModified) countShown(shown, found);
      yield* readEntry(found, contexts[found.document] ?? emptyContexts());
    }
    yield* readHidden(contexts, shown);
    // What a supplier calls unaffected does not show that the tool lists what it was told to ignore.
    const unshown: LookedFor[] = showsUnaffected && !showsModified ? ['suppressed'] : [];
    const left_out = [...contexts.flatMap((one) => (one ? leftOut(one) : [])), ...unshown];
    const [context] = contexts;
    if (!context || contexts.length > 1) {
      yield* runEntry({ left_out });
      return;
    }
    if (hasVulnerability) yield* runEntry({ looked_for: lookedFor(context) });
    const { packages, specification } = context;
    const restrictions = [
      ...(specification === undefined ? [] : [`--compliance ${specification}`]),
      ...(CODE_TYPES.has(context.type) ? folderRestriction(context.name) : []),
    ];
    const lock_files = lockFiles(context);
    const clean_lock_files = lockFiles(context, withFindings).length || undefined;
    yield* runEntry({ components: packages, left_out, restrictions, lock_files, clean_lock_files, dependencies: dependenciesOf(context, lock_files) });
  },
};

/** Trivy writes the report after the scan. It does not state the date of its vulnerability database. */
function* readRun(contexts: Contexts): Generator<ReportEntry> {
  yield* runEntry({ tool_version: contexts.version, finished_at: contexts.created });
  const names = new Set<string>();
  for (const asset of assetsOf(contexts)) {
    if (!names.has(asset.name)) yield* runEntry({ asset });
    names.add(asset.name);
  }
}

/**
 * Trivy writes a result for the packages of each class that it searched for vulnerabilities, even if there are none. A report of packages alone has such
 * results, too, so it must have a vulnerability. It does not state limits such as `--severity`.
 */
function lookedFor({ headers, cluster }: Contexts): LookedFor[] {
  if (cluster !== undefined) return [];
  const classes = new Set([...headers.values()].map(({ Class }) => Class));
  return [...(classes.has('os-pkgs') ? ['system_packages' as const] : []), ...(classes.has('lang-pkgs') ? ['libraries' as const] : [])];
}

/** The classes of results that show that a scanner was on. Trivy writes none of secrets if it finds none: then nothing shows that it looked for them. */
const SHOWN_BY: readonly (readonly [LookedFor, ...string[]])[] = [
  ['secrets', 'secret'],
  ['misconfigurations', 'config'],
  ['licenses', 'license', 'license-file'],
];

/**
 * A report with results of secrets or misconfigurations and none of packages is of a run that did not search packages (`--scanners secret`). Of an image whose
 * operating system it does not recognize, Trivy does not see the system packages. Of one that it recognizes it always writes their result, even if it is
 * empty, unless it did not search them. Versions before 0.20 do not state the class of a result.
 */
function leftOut({ headers, cluster, type, metadata }: Contexts): LookedFor[] {
  if (cluster !== undefined) return [];
  const results = [...headers.values()];
  const classes = new Set(results.flatMap(({ Class }) => Class ?? []));
  const unshown = SHOWN_BY.filter(([, ...shown]) => !shown.some((name) => classes.has(name))).map(([kind]) => kind);
  // Trivy states the layers of every image that it has read.
  const isUnrecognized = type === 'container_image' && metadata.DiffIDs !== undefined && metadata.OS === undefined;
  const isUnsearched = metadata.OS !== undefined && results.every(({ Class }) => Class !== undefined);
  const isWithoutSystem = !classes.has('os-pkgs') && (isUnrecognized || isUnsearched);
  const isWithoutPackages = !classes.has('os-pkgs') && !classes.has('lang-pkgs') && (classes.size > 0 || isUnsearched);
  if (isWithoutPackages) return ['system_packages', 'libraries', ...unshown];
  return isWithoutSystem ? ['system_packages', ...unshown] : unshown;
}

/** The lock files of code, except for those of some results. Some versions of Trivy name only those with vulnerabilities. */
function lockFiles({ headers, type }: Contexts, except: ReadonlySet<string> = new Set()): string[] {
  if (!CODE_TYPES.has(type)) return [];
  return [...headers].flatMap(([result, { Class, Target }]) => (Class === 'lang-pkgs' && Target !== undefined && !except.has(result) ? [Target] : []));
}

/**
 * Lock files are named relative to the folder in which the tool was started, and `trivy fs .` does not name that. Two folders can each have a
 * `package-lock.json`. The number of packages, if they are listed, tells one from the other.
 */
function dependenciesOf({ packages }: Contexts, lock_files: readonly string[]): number | undefined {
  return lock_files.length === 1 && packages.length > 0 ? packages.length : undefined;
}

/** Failed checks that a result lists, and exceptions that it lists only with `--show-suppressed`. */
function countShown(shown: Map<string, number>, { document, path, value }: JsonValue): void {
  const { Status, Type } = obj(value);
  const kind = path.at(-2) === 'Misconfigurations' ? (Status === 'PASS' ? null : 'Failures') : Type === 'misconfiguration' ? 'Exceptions' : null;
  const key = `${document} ${path.slice(0, -2).join('.')} ${kind}`;
  if (kind) shown.set(key, (shown.get(key) ?? 0) + 1);
}

/** Results count failed checks and exceptions. Those that they do not list are ignored by a comment, a file or a policy. */
function* readHidden(contexts: readonly (Contexts | undefined)[], shown: ReadonlyMap<string, number>): Generator<ReportEntry> {
  const files: string[] = [];
  for (const [document, context] of contexts.entries())
    for (const [result, summary] of context?.summaries ?? []) {
      const isHidden = ['Failures', 'Exceptions'].some((kind) => (count(summary[kind]) ?? 0) > (shown.get(`${document} ${result} ${kind}`) ?? 0));
      if (!context || !isHidden) continue;
      if (context.cluster === undefined) files.push(filePath(context.headers.get(result)?.Target) ?? '.');
      else yield* runEntry({ asset: clusterAsset(context, result.split('.')), unfinished: true });
    }
  yield* runEntry({ hidden_in: files });
}

/** Older versions write "null" or "[]" if there are no results, and otherwise a list of them. Other tools also have a Target at the top. */
function mayBeTrivy(head: ReportHead): boolean {
  const isList = head.jsonShape === 'array' && hasKeys(head, 'Target');
  return isList || ['SchemaVersion', 'ClusterName', 'Results'].some((key) => hasKeys(head, key)) || /^\s*(?:null|\[\s*\])\s*$/.test(head.text);
}

const PACKAGE_FIELDS = ['Name', 'SrcName', 'Version', 'Release', 'Epoch'].map((field) => `Results.*.Packages.*.${field}`);
const MAX_PACKAGES = 100_000;

function addPackageField(context: Contexts, path: readonly (string | number)[], value: unknown): void {
  const owner = path.slice(0, -1).join('.');
  if (context.package.owner !== owner) {
    endPackage(context);
    context.package = { owner };
  }
  context.package = { ...context.package, [String(path.at(-1))]: value === 0 ? undefined : str(value) };
}

/** Only system packages have a source package, a release and an epoch. Findings have the version in one piece. */
function endPackage({ package: { Name, SrcName, Version, Release, Epoch }, packages, sources }: Contexts): void {
  if (Name === undefined || packages.length >= MAX_PACKAGES) return;
  if (SrcName !== undefined) sources.set(Name, SrcName);
  if (Version !== undefined) packages.push({ name: Name, version: `${Epoch === undefined ? '' : `${Epoch}:`}${Version}${Release ? `-${Release}` : ''}` });
}

/** Artifact and result fields may come after the lists they belong to, so they are read in a first pass. */
async function readContexts(input: ReportInput): Promise<Contexts[]> {
  const contexts: Contexts[] = [];
  const top = ['ArtifactName', 'ArtifactType', 'Metadata', 'CreatedAt', 'ClusterName', 'Trivy', 'ID'];
  const nested = [
    ...RESULTS.flatMap((result) => ['Target', 'Type', 'Class'].map((field) => `${result}.${field}`)),
    ...RESULTS.map((result) => `${result}.MisconfSummary`),
    ...PACKAGE_FIELDS,
    ...CLUSTER_LISTS.flatMap((list) => ['Kind', 'Name', 'Namespace', 'Error'].map((field) => `${list}.*.${field}`)),
  ];
  for await (const { document, path, value } of jsonValues(input, [...top, ...nested])) {
    contexts[document] ??= emptyContexts();
    const context = contexts[document];
    const [key] = path;
    if (key === 'Results' && path[2] === 'Packages') addPackageField(context, path, value);
    else if (path.at(-1) === 'MisconfSummary') context.summaries.set(path.slice(0, -1).join('.'), obj(value));
    else if (path.length > 1) {
      const owner = path.slice(0, -1).join('.');
      context.headers.set(owner, { ...context.headers.get(owner), [String(path.at(-1))]: str(value) });
      if (path[2] !== 'Error' || str(value) === undefined) continue;
      const place = placeOf({ document, path: path.slice(0, 2) });
      context.failures.push({ rejection: { place, reason: `the resource could not be scanned: ${str(value)}` } });
    } else if (key === 'ArtifactName') context.name = str(value);
    else if (key === 'ArtifactType') context.type = str(value);
    else if (key === 'Metadata') context.metadata = obj(value);
    else if (key === 'CreatedAt') context.created = date(value);
    else if (key === 'Trivy') context.version = str(obj(value).Version);
    else if (key === 'ClusterName') context.cluster = str(value);
    else if (key === 'ID') context.specification = str(value);
  }
  for (const context of contexts) if (context) endPackage(context);
  return contexts;
}

function* readEntry(found: JsonValue, contexts: Contexts): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) {
    yield { rejection: { place, reason: found.error } };
    return;
  }
  yield* record(place, () => {
    const kind = LISTS[String(found.path.at(-2))];
    const target = targetOf(found.path.slice(0, -2), contexts);
    if (kind) return readers[kind](obj(found.value), place, target);
    const { Type, Finding } = obj(found.value);
    const type = str(Type);
    if (!isFinding(type)) throw new RecordError(`unknown Type ${JSON.stringify(Type)}`);
    return withStatus(readers[type](obj(Finding), place, target), obj(found.value));
  });
}

function targetOf(result: readonly (string | number)[], contexts: Contexts): Target {
  const key = result.join('.');
  const known = contexts.targets.get(key);
  if (known) return known;
  const { Target, Type, Class } = contexts.headers.get(key) ?? {};
  const inCluster = contexts.cluster !== undefined && CLUSTER_LISTS.some((list) => list === result[0]);
  const target = {
    asset: inCluster ? clusterAsset(contexts, result) : artifactAsset(contexts),
    inCluster,
    target: Target,
    type: Type,
    class: Class,
    created: contexts.created,
    sources: contexts.sources,
  };
  contexts.targets.set(key, target);
  return target;
}
