import {
  type LookedFor,
  type Observation,
  type ReportEntry,
  ReportError,
  type ReportFormat,
  type ReportHead,
  type ReportInput,
  type ReportItem,
  type Severity,
} from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { type JsonRecord, jsonDocuments } from '../../json/documents.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { filePath, observation, RecordError, record, severityOf } from '../../shared/normalize.ts';
import { arr, count, isObj, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { advisoryOf, describePaths, foundIn } from './advisory.ts';

const EXPECTS = 'JSON of npm audit (with auditReportVersion and vulnerabilities, or advisories and metadata), pnpm audit, yarn audit or bun audit';

type Shape = 'npm6' | 'npm7' | 'yarn1' | 'yarn4' | 'bulk';

export const npmAudit: ReportFormat = {
  id: 'npm_audit',
  name: 'npm audit',
  description: 'Output of `npm audit --json` (all versions) or of the same command of pnpm, Yarn or Bun',
  documentation: 'https://docs.npmjs.com/cli/commands/npm-audit',
  expects: EXPECTS,
  assetType: 'repository',
  detect: (head) => shapeOf(head) !== null,
  async *read(input) {
    const head = await headOf(input);
    const shape = shapeOf(head);
    if (shape === 'npm6' || shape === 'npm7') yield* metadataIn(input, shape);
    if (shape === 'yarn1' || shape === 'yarn4') yield* readLines(input);
    else if (shape === 'npm6') yield* readValues(input, 'advisories.*', (value, place) => npm6(value, place));
    else if (shape === 'npm7') yield* readValues(input, 'vulnerabilities.*', npm7);
    else if (shape === 'bulk') yield* readValues(input, '*.*', (value, place, [name]) => advisoryOf(value, { place, component: String(name) }));
    else if (hasKeys(head, 'error')) await throwFailure(input);
    else throw notThisFormat(EXPECTS);
  },
};

const METADATA = ['metadata.dependencies.total', 'metadata.totalDependencies', 'metadata.vulnerabilities'];

/** The report does not say which lock file was read. */
async function* metadataIn(input: ReportInput, shape: 'npm6' | 'npm7'): AsyncGenerator<ReportEntry> {
  const severities = startSeverities();
  for await (const { path, value } of jsonValues(input, [...METADATA, 'advisories.*.severity', 'vulnerabilities.*.severity'])) {
    if (path.at(-1) === 'severity') severities.show(value);
    else if (path.at(-1) === 'vulnerabilities') severities.count(obj(value));
    else yield* runEntry({ dependencies: count(value) });
  }
  yield* runEntry({ left_out: shape === 'npm7' ? severities.leftOutOfPackages() : severities.leftOut() });
}

const DESCENDING: (Severity & LookedFor)[] = ['critical', 'high', 'medium', 'low', 'info'];

/** Compares the summary with the advisories. `yarn audit --level` and the ignore lists of pnpm leave out advisories that the summary counts. */
function startSeverities() {
  const shown = new Map<Severity, number>();
  let counts: Obj = {};
  const counted = (): [Severity, number][] => Object.entries(counts).map(([word, number]) => [severityOf(word), count(number) ?? 0]);
  return {
    show(word: unknown): void {
      const severity = severityOf(str(word));
      shown.set(severity, (shown.get(severity) ?? 0) + 1);
    },
    count(summary: Obj): void {
      counts = summary;
    },
    /** Before npm 7, the summary counts the places of an advisory and not advisories. */
    leftOut: (): LookedFor[] => counted().flatMap(([severity, number]) => (number === 0 || severity === 'unknown' || shown.has(severity) ? [] : [severity])),
    /** Since npm 7, the summary counts packages by their worst advisory. A package that is not listed may have milder ones, too. */
    leftOutOfPackages(): LookedFor[] {
      const missing = new Set(counted().flatMap(([severity, number]) => (number > (shown.get(severity) ?? 0) ? [severity] : [])));
      const worst = DESCENDING.findIndex((severity) => missing.has(severity));
      return worst === -1 ? [] : DESCENDING.slice(worst);
    },
  };
}

function shapeOf(head: ReportHead): Shape | null {
  const { text } = head;
  if (head.jsonShape !== 'object' && head.jsonShape !== 'lines') return null;
  if (hasKeys(head, 'type', 'data')) return /"type"\s*:\s*"audit(?:Advisory|Summary|Action)"/.test(text) ? 'yarn1' : null;
  if (hasKeys(head, 'value', 'children')) return /"(?:Vulnerable Versions|Tree Versions)"\s*:/.test(text) ? 'yarn4' : null;
  if (hasKeys(head, 'auditReportVersion')) return 'npm7';
  if (hasKeys(head, 'advisories'))
    return ['actions', 'muted', 'metadata'].some((key) => head.jsonKeys.includes(key)) || /"module_name"\s*:/.test(text) ? 'npm6' : null;
  // A long list of actions may come before the advisories.
  if (hasKeys(head, 'actions')) return /"actions"\s*:\s*\[\s*\{/.test(text) && /"resolves"\s*:\s*\[/.test(text) ? 'npm6' : null;
  return /^\s*\{\s*"[^"]+"\s*:\s*\[\s*\{/.test(text) && /"vulnerable_versions"\s*:/.test(text) ? 'bulk' : null;
}

async function throwFailure(input: ReportInput): Promise<never> {
  for await (const { value } of jsonValues(input, ['error'])) {
    const { code, summary, message, detail } = obj(value);
    const reason = [code, summary ?? message, detail].flatMap((part) => str(part) ?? []).join(': ') || str(value);
    if (reason) throw new ReportError(`The audit failed: ${reason.slice(0, 500)}`);
  }
  throw notThisFormat(EXPECTS);
}

type Read = (value: Obj, place: string, path: JsonValue['path']) => Observation | readonly Observation[];

async function* readValues(input: ReportInput, pattern: string, read: Read): AsyncGenerator<ReportItem> {
  for await (const found of jsonValues(input, [pattern])) {
    const place = placeOf(found);
    yield* record(place, () => read(objectOf(found), place, found.path));
  }
}

function objectOf({ value, error }: Pick<JsonRecord, 'value' | 'error'>): Obj {
  if (error || !isObj(value)) throw new RecordError(error ?? 'the record is not an object');
  return value;
}

/** One observation per installed version. */
function npm6(advisory: Obj, place: string): Observation[] {
  const found = [...foundIn(advisory)];
  const versions = [...new Set(found.map(({ version }) => version))];
  return (versions.length === 0 ? [undefined] : versions).map((version) =>
    advisoryOf(advisory, { place, version, description: describePaths(found.filter((one) => one.version === version)) }),
  );
}

/**
 * One observation per advisory and folder of the package. For a package that only depends on vulnerable packages, one observation per
 * folder.
 */
function npm7(entry: Obj, place: string, path: JsonValue['path']): Observation[] {
  const component = str(entry.name) ?? String(path.at(-1));
  const { name, version, isSemVerMajor } = obj(entry.fixAvailable);
  const upgrade = str(name) && str(version) ? `Upgrade ${str(name)} to ${str(version)}${isSemVerMajor === true ? ' (a new major version)' : ''}` : undefined;
  const nodes = strs(entry.nodes).flatMap((node) => filePath(node) ?? []);
  const paths = nodes.length === 0 ? [undefined] : [...new Set(nodes)];
  const common = {
    solution: upgrade ?? (entry.fixAvailable === true ? 'npm audit fix' : undefined),
    tags: entry.isDirect === true ? ['direct'] : [],
  };
  const fixState = entry.fixAvailable === undefined ? undefined : entry.fixAvailable === false ? ('not_available' as const) : ('available' as const);
  const via = arr(entry.via);
  const advisories = via.flatMap((cause, index) => {
    if (!isObj(cause)) return [];
    return paths.map((folder) =>
      advisoryOf({ severity: entry.severity, ...cause }, { ...common, place: `${place}.via[${index}]`, component, path: folder, fixState }),
    );
  });
  if (advisories.length > 0) return advisories;
  return paths.map((folder) =>
    observation({
      ...common,
      place,
      tool: 'npm audit',
      rule: 'metavuln',
      fix_state: fixState,
      title: via.length === 0 ? `${component} is vulnerable` : `Depends on vulnerable versions of ${strs(via).join(', ')}`,
      severity: severityOf(str(entry.severity)),
      tool_severity: str(entry.severity),
      location: { component, fixed_version: str(name) === component ? str(version) : undefined, ecosystem: 'npm', path: folder },
    }),
  );
}

async function* readLines(input: ReportInput): AsyncGenerator<ReportEntry> {
  const severities = startSeverities();
  for await (const found of jsonDocuments(input)) {
    const { place } = found;
    const { type, data } = obj(found.value);
    if (type === 'error') throw new ReportError(`The audit failed: ${(str(data) ?? 'yarn reported an error').slice(0, 500)}`);
    if (type === 'auditSummary') {
      yield* runEntry({ dependencies: count(obj(data).totalDependencies) });
      severities.count(obj(obj(data).vulnerabilities));
    }
    if (type === 'auditAdvisory') severities.show(obj(obj(data).advisory).severity);
    yield* record(place, () => {
      const line = objectOf(found);
      if (type === 'auditAdvisory') return yarn1(obj(data), place);
      return isObj(line.children) ? yarn4(line, line.children, place) : null;
    });
  }
  yield* runEntry({ left_out: severities.leftOut() });
}

function yarn1({ resolution, advisory }: Obj, place: string): Observation {
  const { path, dev } = obj(resolution);
  const found = [...foundIn(obj(advisory), str(path))];
  return advisoryOf(obj(advisory), {
    place,
    tool: 'yarn audit',
    version: found[0]?.version,
    description: describePaths(found.slice(0, 1)),
    tags: dev === true ? ['dev'] : [],
  });
}

/** Yarn 4 writes the rows of its table. One observation per installed version. Entries for deprecated packages have "<name> (deprecation)" as id. */
function yarn4({ value }: Obj, children: Obj, place: string): Observation[] {
  const versions = strs(children['Tree Versions']);
  const dependents = strs(children.Dependents);
  const advisory = {
    id: str(children.ID)?.replace(/^.* \(deprecation\)$/, 'deprecation'),
    title: children.Issue,
    url: children.URL,
    severity: children.Severity,
    vulnerable_versions: children['Vulnerable Versions'],
  };
  const description = dependents.length > 0 ? `Required by: ${dependents.slice(0, 20).join(', ')}` : undefined;
  return (versions.length === 0 ? [undefined] : versions).map((version) =>
    advisoryOf(advisory, { place, tool: 'yarn audit', component: str(value), version, description }),
  );
}
