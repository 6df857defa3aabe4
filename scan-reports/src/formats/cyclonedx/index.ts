import type { LookedFor, ReportEntry, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { hasKeys, headOf, keysInList } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { exportedObservations } from '../../shared/exported.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record, required } from '../../shared/normalize.ts';
import { isSystemPackage, parsePurl } from '../../shared/purl.ts';
import { arr, isObj, type Obj, obj, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { childText, xmlElements } from '../../xml/elements.ts';
import { addComponent, addMetadata, type Bom, componentBy, componentOf, emptyBom, listedComponents } from './bom.ts';
import { exportedVulnerability } from './exported.ts';
import { observationsOf } from './vulnerability.ts';
import { componentShape, metadataOf, nestedVulnerabilities, vulnerabilityShape } from './xml-shape.ts';

const EXPECTS = 'JSON with bomFormat "CycloneDX", or XML with the root element bom in a cyclonedx.org namespace';

export const cyclonedx: ReportFormat = {
  id: 'cyclonedx',
  name: 'CycloneDX',
  description: 'CycloneDX BOM with vulnerabilities or VEX, JSON or XML, all versions, from tools such as Trivy, Grype, Dependency-Track, Snyk and cdxgen',
  documentation: 'https://cyclonedx.org/docs/latest/json/#vulnerabilities',
  expects: EXPECTS,
  assetType: 'other',
  detect: (head) => isXml(head) || isJson(head),
  async about(input) {
    const bom = emptyBom();
    const head = await headOf(input);
    const aggregates: (string | undefined)[] = [];
    if (isXml(head))
      for await (const { element, pattern } of xmlElements(input, ['bom/metadata', 'bom/compositions/composition'])) {
        if (pattern === 0) addMetadata(bom, metadataOf(element));
        else aggregates.push(childText(element, 'aggregate'));
      }
    else if (isJson(head))
      for await (const { pattern, value } of jsonValues(input, ['metadata', 'compositions.*.aggregate'])) {
        if (pattern === 0) addMetadata(bom, obj(value));
        else aggregates.push(str(value));
      }
    return { tools: [bom.tool], finished: !aggregates.some((aggregate) => aggregate?.startsWith('incomplete')), unread: [] };
  },
  async *read(input) {
    const head = await headOf(input);
    if (isXml(head)) yield* readXml(input);
    else if (isJson(head)) yield* readJson(input);
    else throw notThisFormat(EXPECTS);
  },
};

function isXml({ xmlRoot }: ReportHead): boolean {
  return xmlRoot?.name === 'bom' && /^https?:\/\/cyclonedx\.org\/schema\/bom\//i.test(xmlRoot.namespace);
}

function isJson(head: ReportHead): boolean {
  if (head.jsonShape !== 'object') return false;
  if (hasKeys(head, 'bomFormat')) return /"bomFormat"\s*:\s*"CycloneDX"/i.test(head.text);
  if (hasKeys(head, '$schema')) return /"\$schema"\s*:\s*"[^"]*cyclonedx\.org\/schema\/bom-/i.test(head.text);
  return hasBomKeys(head);
}

/** Keys that only a BOM has, for files whose `bomFormat` comes after the head. */
function hasBomKeys(head: ReportHead): boolean {
  const lists = ['components', 'vulnerabilities'].map((list) => keysInList(head, list) ?? []);
  return hasKeys(head, 'specVersion') || lists.some((keys) => keys.includes('bom-ref'));
}

/** Components may come after the vulnerabilities that refer to them, so they are read in a first pass. */
async function* readJson(input: ReportInput): AsyncGenerator<ReportEntry> {
  const bom = emptyBom();
  for await (const { pattern, value } of jsonValues(input, ['metadata', 'components.*', 'services.*'])) {
    if (pattern === 0) addMetadata(bom, obj(value));
    else addComponent(bom, obj(value));
  }
  yield* readRun(bom);
  let isInventory = true;
  for await (const found of jsonValues(input, ['vulnerabilities.*'])) {
    isInventory = false;
    const place = placeOf(found);
    if (found.error || !isObj(found.value)) yield { rejection: { place, reason: found.error ?? 'the record is not an object' } };
    else yield* readVulnerability(found.value, bom, place, (index) => `${place}.affects[${index}]`);
  }
  // An empty list says that there are no vulnerabilities. Without a list, nobody looked for them.
  if (!isInventory) yield* runEntry({ looked_for: lookedFor(bom) });
  else for await (const _ of jsonValues(input, ['vulnerabilities'])) isInventory = false;
  yield* runEntry(isInventory ? { inventory_only: true } : { components: listedComponents(bom) });
}

/** The kinds of components that the list has. A tool with findings that lists them has looked for theirs as well, but may have left out lower severities. */
function lookedFor({ components }: Bom): LookedFor[] {
  const types = [...components.values()].flatMap(({ purl }) => parsePurl(purl)?.type ?? []);
  return [...new Set(types.map((type): LookedFor => (isSystemPackage(type) ? 'system_packages' : 'libraries')))];
}

/** The tool writes the time when it is done. */
function* readRun({ asset, toolVersion, time }: Bom): Generator<ReportEntry> {
  yield* runEntry({ tool_version: toolVersion, finished_at: time });
  yield* runEntry({ asset });
}

async function* readXml(input: ReportInput): AsyncGenerator<ReportEntry> {
  const bom = emptyBom();
  let isExtended = false;
  for await (const { element, pattern, place } of xmlElements(input, ['bom/metadata', 'bom/components/component', 'bom/services/service'])) {
    if (pattern === 0) addMetadata(bom, metadataOf(element));
    else addComponent(bom, componentShape(element));
    isExtended ||= nestedVulnerabilities(element, place).next().done !== true;
  }
  yield* readRun(bom);
  let isInventory = !isExtended;
  let hasVulnerability = false;
  for await (const { element, pattern, place } of xmlElements(input, [
    'bom/vulnerabilities/vulnerability',
    'bom/vulnerabilities/@',
    ...(isExtended ? ['bom/components/component'] : []),
  ])) {
    if (pattern === 1) isInventory = false;
    else if (pattern === 0) yield* readVulnerability(vulnerabilityShape(element), bom, place, (index) => `${place}/affects[1]/target[${index + 1}]`);
    else
      for (const nested of nestedVulnerabilities(element, place))
        yield* record(nested.place, () =>
          observationsOf(vulnerabilityShape(nested.vulnerability), nested.place, bom, { component: componentOf(nested.component) }),
        );
    hasVulnerability ||= pattern !== 1;
  }
  if (hasVulnerability) yield* runEntry({ looked_for: lookedFor(bom) });
  yield* runEntry(isInventory ? { inventory_only: true } : { components: listedComponents(bom) });
}

/** Yields the observations of each affected component. */
function* readVulnerability(vulnerability: Obj, bom: Bom, place: string, targetPlace: (index: number) => string): Generator<ReportItem> {
  const exported = exportedVulnerability(vulnerability);
  if (exported !== null) {
    yield* record(place, () => exportedObservations(exported, place));
    return;
  }
  const affects = arr(vulnerability.affects);
  if (affects.length === 0) yield* record(place, () => observationsOf(vulnerability, place, bom, { component: null }));
  for (const [index, entry] of affects.entries()) {
    const here = affects.length === 1 ? place : targetPlace(index);
    yield* record(here, () => {
      if (!isObj(entry)) throw new RecordError('affects has an entry that is not an object');
      const component = componentBy(bom, required(str(entry.ref), 'affects.ref'));
      return observationsOf(vulnerability, here, bom, { component, affected: entry });
    });
  }
}
