import type { Asset, AssetIdentifier, ReportInput } from '../../contract.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues } from '../../json/values.ts';
import { cwesOf, repositoryAsset } from '../../shared/normalize.ts';
import { arr, date, num, type Obj, obj, str, strs } from '../../shared/read.ts';

/** The parts of a run that results refer to. They may come after the results, so they are read in a first pass, value by value. */
export interface Run {
  driver: Component;
  extensions: Component[];
  byId: Map<string, Found>;
  taxonomies: { name?: string | undefined; guid?: string | undefined; ids: (string | undefined)[] }[];
  /** Names of supported taxonomies by GUID. */
  supported: Map<string, string>;
  artifacts: Address[];
  logicalLocations: (string | undefined)[];
  bases: Map<string, Address>;
  /** Absolute base URIs. They are removed from paths, because they depend on the scanning machine. */
  roots: string[];
  asset: Asset | null;
  invocations: { started: Date | null; ended: Date | null; overrides: Override[] }[];
  hasExternalResults: boolean;
  /** Whether the run names an earlier one that it was compared with. */
  isCompared: boolean;
}

interface Override {
  descriptor: Obj;
  level: string | undefined;
  isEnabled: boolean;
}

interface Component {
  name: string | undefined;
  version: string | undefined;
  guid: string | undefined;
  rules: Rule[];
  messages: Obj;
}

export interface Rule {
  id: string | undefined;
  guid: string | undefined;
  name: string | undefined;
  short: string | undefined;
  full: string | undefined;
  help: string | undefined;
  helpUri: string | undefined;
  level: string | undefined;
  isEnabled: boolean;
  deprecatedIds: string[];
  messages: Obj;
  /** References to the taxa that the rule belongs to. */
  targets: Obj[];
  properties: Obj;
}

export interface Found {
  rule: Rule;
  component: Component;
}

export interface Address {
  uri?: string | undefined;
  base?: string | undefined;
}

export function emptyRun(): Run {
  return {
    driver: emptyComponent(),
    extensions: [],
    byId: new Map(),
    taxonomies: [],
    supported: new Map(),
    artifacts: [],
    logicalLocations: [],
    bases: new Map(),
    roots: [],
    asset: null,
    invocations: [],
    hasExternalResults: false,
    isCompared: false,
  };
}

function emptyComponent(): Component {
  return { name: undefined, version: undefined, guid: undefined, rules: [], messages: {} };
}

export function runKey({ document, path }: Pick<JsonValue, 'document' | 'path'>): string {
  return `${document}.${path[1]}`;
}

const COMPONENT = ['name', 'version', 'semanticVersion', 'guid', 'rules.*', 'globalMessageStrings', 'supportedTaxonomies'];
const PARTS = [
  ...COMPONENT.map((part) => `tool.driver.${part}`),
  ...COMPONENT.map((part) => `tool.extensions.*.${part}`),
  ...['name', 'guid', 'taxa.*.id'].map((part) => `taxonomies.*.${part}`),
  ...['startTimeUtc', 'endTimeUtc', 'workingDirectory', 'ruleConfigurationOverrides'].map((part) => `invocations.*.${part}`),
  'artifacts.*.location',
  'logicalLocations.*',
  'originalUriBaseIds',
  'versionControlProvenance',
  'properties',
  'externalPropertyFileReferences',
  'baselineGuid',
];

export async function readRuns(input: ReportInput): Promise<Map<string, Run>> {
  const runs = new Map<string, Run>();
  const patterns = PARTS.map((part) => `runs.*.${part}`);
  for await (const found of jsonValues(input, patterns)) {
    const key = runKey(found);
    const run = runs.get(key) ?? emptyRun();
    runs.set(key, run);
    addPart(run, found.path.slice(2), found.value);
  }
  for (const run of runs.values()) complete(run);
  return runs;
}

function addPart(run: Run, path: readonly (string | number)[], value: unknown): void {
  const [part, at, field, index] = path;
  if (part === 'tool' && at === 'driver') addComponentPart(run, run.driver, path.slice(2), value);
  else if (part === 'tool') {
    run.extensions[Number(field)] ??= emptyComponent();
    addComponentPart(run, run.extensions[Number(field)] as Component, path.slice(3), value);
  } else if (part === 'taxonomies') {
    run.taxonomies[Number(at)] ??= { ids: [] };
    const taxonomy = run.taxonomies[Number(at)] as Run['taxonomies'][number];
    if (field === 'taxa') taxonomy.ids[Number(index)] = str(value);
    else if (field === 'name' || field === 'guid') taxonomy[field] = str(value);
  } else if (part === 'invocations') {
    run.invocations[Number(at)] ??= { started: null, ended: null, overrides: [] };
    addInvocationPart(run, run.invocations[Number(at)] as Run['invocations'][number], field, value);
  } else if (part === 'artifacts') run.artifacts[Number(at)] = addressOf(value);
  else if (part === 'logicalLocations') run.logicalLocations[Number(at)] = str(obj(value).fullyQualifiedName) ?? str(obj(value).name);
  else if (part === 'originalUriBaseIds') for (const [id, base] of Object.entries(obj(value))) run.bases.set(id, addressOf(base));
  else if (part === 'versionControlProvenance') run.asset = revisionOf(obj(arr(value)[0])) ?? run.asset;
  else if (part === 'properties') run.asset ??= imageOf(obj(value));
  else if (part === 'externalPropertyFileReferences') run.hasExternalResults = arr(obj(value).results).length > 0;
  else if (part === 'baselineGuid') run.isCompared = str(value) !== undefined;
}

function addComponentPart(run: Run, component: Component, [field, index]: readonly (string | number)[], value: unknown): void {
  if (field === 'name' || field === 'guid') component[field] = str(value);
  else if (field === 'semanticVersion') component.version = str(value) ?? component.version;
  else if (field === 'version') component.version ??= str(value);
  else if (field === 'globalMessageStrings') component.messages = obj(value);
  else if (field === 'rules') component.rules[Number(index)] = ruleOf(obj(value));
  else if (field === 'supportedTaxonomies')
    for (const { guid, name } of arr(value).map(obj)) if (str(guid) && str(name)) run.supported.set(String(guid).toLowerCase(), String(name));
}

function addInvocationPart(run: Run, invocation: Run['invocations'][number], field: string | number | undefined, value: unknown): void {
  if (field === 'startTimeUtc') invocation.started = date(value);
  else if (field === 'endTimeUtc') invocation.ended = date(value);
  else if (field === 'workingDirectory') run.roots.push(str(obj(value).uri) ?? '');
  else
    invocation.overrides = arr(value)
      .map(obj)
      .map(({ descriptor, configuration }) => ({ descriptor: obj(descriptor), ...configured(configuration) }));
}

function ruleOf(rule: Obj): Rule {
  const text = (message: unknown): string | undefined => str(obj(message).text) ?? str(obj(message).markdown);
  return {
    id: str(rule.id),
    guid: str(rule.guid),
    name: str(rule.name),
    short: text(rule.shortDescription),
    full: text(rule.fullDescription),
    help: text(rule.help),
    helpUri: str(rule.helpUri),
    ...configured(rule.defaultConfiguration),
    deprecatedIds: strs(rule.deprecatedIds),
    messages: obj(rule.messageStrings),
    targets: arr(rule.relationships).map((relationship) => obj(obj(relationship).target)),
    properties: obj(rule.properties),
  };
}

/** Section 3.50: what is not said to be disabled is enabled. */
function configured(configuration: unknown): Pick<Rule, 'level' | 'isEnabled'> {
  const { level, enabled } = obj(configuration);
  return { level: str(level), isEnabled: enabled !== false };
}

export function addressOf(location: unknown): Address {
  return { uri: str(obj(location).uri), base: str(obj(location).uriBaseId) };
}

/** Section 3.28: the version of the source code that was analyzed. */
function revisionOf({ repositoryUri, revisionId, branch, revisionTag }: Obj): Asset | null {
  const asset = repositoryAsset(str(repositoryUri));
  const commit = str(revisionId);
  const ref = str(branch) ?? str(revisionTag);
  return asset && { ...asset, ...(commit === undefined ? {} : { commit }), ...(ref === undefined ? {} : { ref }) };
}

/** Trivy writes the name and the digests of the image into the properties of the run. */
function imageOf({ imageName, repoDigests }: Obj): Asset | null {
  const name = str(imageName);
  const identifiers = strs(repoDigests).map((digest): AssetIdentifier => ({ kind: 'digest', value: digest.split('@').at(-1) ?? digest }));
  return name ? { type: 'container_image', name, ...(identifiers.length > 0 ? { identifiers } : {}) } : null;
}

function complete(run: Run): void {
  for (const component of [run.driver, ...run.extensions])
    for (const rule of component?.rules ?? []) if (rule?.id !== undefined && !run.byId.has(rule.id)) run.byId.set(rule.id, { rule, component });
  const bases = [...run.bases.values()].map(({ uri }) => uri ?? '');
  run.roots = [...run.roots, ...bases]
    .filter((root) => isAbsolute(root) && !/^(?:[a-z]+:)?\/*$/i.test(root))
    .map((root) => (root.endsWith('/') ? root : `${root}/`))
    .sort((a, b) => b.length - a.length);
}

/** True for URIs with a scheme ("C:" is not a scheme) and for paths from the root of a file system. */
export function isAbsolute(uri: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]+:|\/)/i.test(uri);
}

/** Returns the rule that a result or an override refers to (sections 3.52.3 and 3.54.2). */
export function findRule(reference: Obj, run: Run): Found | null {
  const component = componentOf(obj(reference.toolComponent), run);
  const index = num(reference.index);
  const guid = str(reference.guid)?.toLowerCase();
  const id = str(reference.id);
  const indexed = index !== undefined && index >= 0 ? component.rules[index] : undefined;
  const rule = indexed ?? (guid ? component.rules.find((one) => one?.guid?.toLowerCase() === guid) : undefined);
  // "CA1000/part" is a part of the rule CA1000 (section 3.52.4).
  const named = id === undefined ? undefined : (run.byId.get(id) ?? run.byId.get(id.slice(0, Math.max(0, id.lastIndexOf('/')))));
  if (rule && (named === undefined || rule.id === undefined || id === rule.id || id?.startsWith(`${rule.id}/`))) return { rule, component };
  return named ?? null;
}

function componentOf(reference: Obj, { driver, extensions }: Run): Component {
  const index = num(reference.index);
  const guid = str(reference.guid)?.toLowerCase();
  const name = str(reference.name);
  const indexed = index === undefined ? undefined : extensions[index];
  return (
    indexed ??
    [driver, ...extensions].find((component) => guid !== undefined && component?.guid?.toLowerCase() === guid) ??
    [driver, ...extensions].find((component) => name !== undefined && component?.name === name) ??
    driver
  );
}

/** Returns the CWE numbers among references to taxa. */
export function cwesOfTaxa(references: readonly Obj[], { taxonomies, supported }: Run): number[] {
  return references.flatMap((reference) => {
    const { name, guid, index } = obj(reference.toolComponent);
    const key = str(guid)?.toLowerCase();
    const taxonomy =
      taxonomies.find((one) => key !== undefined && one?.guid?.toLowerCase() === key) ??
      taxonomies.find((one) => one?.name !== undefined && one.name === str(name)) ??
      (key === undefined && name === undefined ? taxonomies[num(index) ?? -1] : undefined);
    const id = str(reference.id) ?? taxonomy?.ids[num(reference.index) ?? -1];
    const title = str(name) ?? taxonomy?.name ?? supported.get(key ?? '') ?? '';
    return /^cwe/i.test(title) || /^cwe[-_: ]?\d/i.test(id ?? '') ? cwesOf(id) : [];
  });
}
