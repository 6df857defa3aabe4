import type { ReportEntry, ReportInput } from '../../contract.ts';
import { record } from '../../shared/normalize.ts';
import { runEntry, startComponents } from '../../shared/run.ts';
import { child, childText, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { type Dependency, listedOf, observationsOf, type Project, readRun, type Scan, type Vulnerability } from './report.ts';

const DEPENDENCY = 'analysis/dependencies/dependency';
const SCAN_PARTS = ['engineVersion', 'dataSource'];
const PARTS = ['fileName', 'filePath', 'identifiers', 'evidenceCollected', 'relatedDependencies'];

const emptyDependency = (): Dependency => ({ fileName: undefined, filePath: undefined, packages: [], evidence: [], related: [] });

/** By schema, the details of a dependency come before its vulnerabilities, and the project before all dependencies. */
export async function* readXml(input: ReportInput): AsyncGenerator<ReportEntry> {
  let project: Project = { name: undefined, group: undefined, artifact: undefined, version: undefined, date: undefined, credits: undefined };
  const scan: Scan = { engine: undefined, hasDependencies: false, sources: [] };
  let dependency = emptyDependency();
  let current = 0;
  let isClean = true;
  const components = startComponents();
  for await (const { element, parents, place } of xmlElements(input, [
    'analysis/projectInfo',
    ...SCAN_PARTS.map((part) => `analysis/scanInfo/${part}`),
    ...PARTS.map((part) => `${DEPENDENCY}/${part}`),
    `${DEPENDENCY}/vulnerabilities/vulnerability`,
    `${DEPENDENCY}/vulnerabilities/suppressedVulnerability`,
  ])) {
    const index = parents[2]?.index ?? 0;
    if (index !== current) {
      components.add(listedOf(dependency), isClean);
      dependency = emptyDependency();
      isClean = true;
    }
    current = index;
    if (element.name === 'projectInfo') project = projectOf(element);
    else if (element.name === 'engineVersion') scan.engine = element.text;
    else if (element.name === 'dataSource') scan.sources.push({ name: text(element, 'name'), timestamp: text(element, 'timestamp') });
    else if (PARTS.includes(element.name)) addPart(dependency, element);
    else {
      isClean = false;
      const context = { place, project, suppressed: element.name === 'suppressedVulnerability' };
      yield* record(place, () => observationsOf(vulnerabilityOf(element), dependency, context));
    }
  }
  yield* readRun({ ...scan, hasDependencies: current > 0 }, project);
  components.add(listedOf(dependency), isClean);
  yield* runEntry({ components: components.list() });
}

const text = (element: XmlElement | undefined, name: string): string | undefined => (element ? childText(element, name) || undefined : undefined);

function projectOf(element: XmlElement): Project {
  return {
    name: text(element, 'name'),
    group: text(element, 'groupID'),
    artifact: text(element, 'artifactID'),
    version: text(element, 'version') ?? text(element, 'applicationVersion'),
    date: text(element, 'reportDate'),
    credits: text(element, 'credits'),
  };
}

function addPart(dependency: Dependency, element: XmlElement): void {
  if (element.name === 'fileName') dependency.fileName = element.text || undefined;
  else if (element.name === 'filePath') dependency.filePath = element.text || undefined;
  else if (element.name === 'identifiers') dependency.packages = [...packagesOf(element)];
  else if (element.name === 'relatedDependencies')
    dependency.related = element.children.map((other) => ({ fileName: text(other, 'fileName'), filePath: text(other, 'filePath') }));
  else
    dependency.evidence = element.children.map((one) => ({
      type: one.attributes.type ?? '',
      confidence: one.attributes.confidence ?? '',
      value: childText(one, 'value'),
    }));
}

/** `package` since version 2.0, `identifier` with a type before. */
function* packagesOf(element: XmlElement): Generator<Dependency['packages'][number]> {
  for (const one of element.children) {
    if (one.name === 'package' && text(one, 'id')) yield { id: childText(one, 'id'), type: undefined };
    else if (one.name === 'identifier' && text(one, 'name')) yield { id: childText(one, 'name').replace(/^\((.*)\)$/, '$1'), type: one.attributes.type };
    else if (one.name === 'identifiers') yield* packagesOf(one);
  }
}

function fieldsOf(element: XmlElement | undefined): Record<string, string | undefined> {
  return Object.fromEntries((element?.children ?? []).map(({ name, text: value }) => [name, value || undefined]));
}

/** Before version 2.0, the score fields are direct children of the vulnerability: `cvssScore`, `cvssAccessVector`. */
function oldScore(element: XmlElement): Record<string, string | undefined> {
  const fields = element.children.filter(({ name }) => /^cvss[A-Z]/.test(name) && !/^cvssV\d$/.test(name));
  return Object.fromEntries(fields.map(({ name, text: value }) => [`${name.charAt(4).toLowerCase()}${name.slice(5)}`, value || undefined]));
}

function vulnerabilityOf(element: XmlElement): Vulnerability {
  const software = child(element, 'vulnerableSoftware')?.children ?? [];
  const matched = software.find(({ attributes }) => attributes.vulnerabilityIdMatched === 'true' || attributes.matched === 'true');
  return {
    name: text(element, 'name'),
    source: element.attributes.source,
    severity: text(element, 'severity'),
    description: text(element, 'description'),
    notes: text(element, 'notes'),
    cwes: [childText(element, 'cwe'), ...(child(element, 'cwes')?.children.map((cwe) => cwe.text) ?? [])],
    references: (child(element, 'references')?.children ?? []).flatMap((reference) => text(reference, 'url') ?? []),
    cvss2: { ...oldScore(element), ...fieldsOf(child(element, 'cvssV2')) },
    cvss3: fieldsOf(child(element, 'cvssV3')),
    cvss4: fieldsOf(child(element, 'cvssV4')),
    fixed: matched?.attributes.versionEndExcluding,
    exploited: child(element, 'knownExploitedVulnerability') !== undefined,
  };
}
