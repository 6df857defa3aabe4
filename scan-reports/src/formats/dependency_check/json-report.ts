import type { ReportEntry, ReportInput } from '../../contract.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { arr, isObj, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startComponents } from '../../shared/run.ts';
import { type Dependency, listedOf, observationsOf, type Project, readRun, type Scan, type Vulnerability } from './report.ts';

const PARTS = ['fileName', 'filePath', 'packages', 'evidenceCollected', 'relatedDependencies'];

/** Reads dependencies in a first pass and keeps them in memory. Unlike vulnerabilities, they do not come in thousands. */
export async function* readJson(input: ReportInput): AsyncGenerator<ReportEntry> {
  let project: Project = projectOf({});
  let scan: Scan = scanOf({});
  const parts = new Map<unknown, Obj>();
  for await (const { path, value } of jsonValues(input, ['projectInfo', 'scanInfo', ...PARTS.map((part) => `dependencies.*.${part}`)])) {
    if (path[0] === 'projectInfo') project = projectOf(obj(value));
    else if (path[0] === 'scanInfo') scan = scanOf(obj(value));
    else parts.set(path[1], { ...parts.get(path[1]), [String(path[2])]: value });
  }
  yield* readRun({ ...scan, hasDependencies: parts.size > 0 }, project);
  const withFindings = new Set<unknown>();
  for await (const found of jsonValues(input, ['dependencies.*.vulnerabilities.*', 'dependencies.*.suppressedVulnerabilities.*'])) {
    const place = placeOf(found);
    withFindings.add(found.path[1]);
    yield* record(place, () => {
      if (found.error || !isObj(found.value)) throw new RecordError(found.error ?? 'the record is not an object');
      return observationsOf(vulnerabilityOf(found.value), dependencyOf(parts.get(found.path[1]) ?? {}), { place, project, suppressed: found.pattern === 1 });
    });
  }
  const components = startComponents();
  for (const [index, part] of parts) components.add(listedOf(dependencyOf(part)), !withFindings.has(index));
  yield* runEntry({ components: components.list() });
}

function projectOf({ name, groupID, artifactID, version, applicationVersion, reportDate, credits }: Obj): Project {
  return {
    name: str(name),
    group: str(groupID),
    artifact: str(artifactID),
    version: str(version) ?? str(applicationVersion),
    date: str(reportDate),
    credits: str(credits),
  };
}

function scanOf({ engineVersion, dataSource }: Obj): Scan {
  const sources = arr(dataSource).map((source) => ({ name: str(obj(source).name), timestamp: str(obj(source).timestamp) }));
  return { engine: str(engineVersion), hasDependencies: false, sources };
}

function dependencyOf({ fileName, filePath, packages, evidenceCollected, relatedDependencies }: Obj): Dependency {
  const evidence = Object.values(obj(evidenceCollected)).flatMap((list) => arr(list).map(obj));
  return {
    fileName: str(fileName),
    filePath: str(filePath),
    packages: arr(packages).flatMap((one) => strs(obj(one).id).map((id) => ({ id, type: undefined }))),
    evidence: evidence.map((one) => ({ type: str(one.type) ?? '', confidence: str(one.confidence) ?? '', value: str(one.value) ?? '' })),
    related: arr(relatedDependencies).map((one) => ({ fileName: str(obj(one).fileName), filePath: str(obj(one).filePath) })),
  };
}

function fieldsOf(value: unknown): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(obj(value)).map(([key, field]) => [key, str(field)]));
}

function vulnerabilityOf(entry: Obj): Vulnerability {
  const software = arr(entry.vulnerableSoftware).map((one) => obj(obj(one).software));
  const matched = software.find(({ vulnerabilityIdMatched }) => str(vulnerabilityIdMatched) === 'true');
  return {
    name: str(entry.name),
    source: str(entry.source),
    severity: str(entry.severity),
    description: str(entry.description),
    notes: str(entry.notes),
    cwes: strs(entry.cwes),
    references: arr(entry.references).flatMap((reference) => strs(obj(reference).url)),
    cvss2: fieldsOf(entry.cvssv2),
    cvss3: fieldsOf(entry.cvssv3),
    cvss4: fieldsOf(entry.cvssv4),
    fixed: str(matched?.versionEndExcluding),
    exploited: isObj(entry.knownExploitedVulnerability),
  };
}
