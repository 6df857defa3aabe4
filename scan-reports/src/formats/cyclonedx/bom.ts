import type { Asset, ListedComponent } from '../../contract.ts';
import { packageName, parsePurl } from '../../shared/purl.ts';
import { arr, date, type Obj, obj, str } from '../../shared/read.ts';

/** The parts of a bill of materials that vulnerabilities refer to. */
export interface Bom {
  asset: Asset | null;
  tool: string;
  toolVersion: string | undefined;
  time: Date | null;
  /** By bom-ref. */
  components: Map<string, Component>;
}

export interface Component {
  name: string | undefined;
  version: string | undefined;
  purl: string | undefined;
  sourcePackage: string | undefined;
  layer: string | undefined;
  /** Files that contain the component. */
  paths: readonly string[];
}

export function emptyBom(): Bom {
  return { asset: null, tool: 'cyclonedx', toolVersion: undefined, time: null, components: new Map() };
}

export function addMetadata(bom: Bom, metadata: Obj): void {
  const [tool] = toolsIn(metadata.tools);
  bom.tool = tool?.name.toLowerCase() ?? bom.tool;
  bom.toolVersion = tool?.version ?? bom.toolVersion;
  bom.time = date(metadata.timestamp);
  const subject = obj(metadata.component);
  bom.asset = assetOf(subject);
  addComponent(bom, subject);
}

export function toolName(tools: unknown): string | undefined {
  return toolsIn(tools)[0]?.name.toLowerCase();
}

/** Tools are a list up to version 1.4, and components and services from version 1.5. */
function toolsIn(tools: unknown): { name: string; version: string | undefined }[] {
  const { components, services } = obj(tools);
  return [...arr(components), ...arr(services), ...(Array.isArray(tools) ? tools : [])].flatMap((tool) => {
    const name = str(obj(tool).name);
    return name === undefined ? [] : [{ name, version: str(obj(tool).version) }];
  });
}

export function addComponent(bom: Bom, component: Obj): void {
  const reference = str(component['bom-ref']);
  if (reference !== undefined) bom.components.set(reference, componentOf(component));
  for (const nested of arr(component.components)) addComponent(bom, obj(nested));
}

export function listedComponents({ components }: Bom): ListedComponent[] {
  return [...components.values()].flatMap(({ name, version }) => (name === undefined || version === undefined ? [] : [{ name, version }]));
}

export function componentOf(component: Obj): Component {
  const purl = str(component.purl);
  const name = str(component.name);
  return {
    name: name === undefined ? undefined : packageName(str(component.group), name, parsePurl(purl)?.type),
    version: str(component.version),
    purl,
    sourcePackage: propertyOf(component, /^(?:aquasecurity:trivy:SrcName|syft:metadata:source)$/),
    layer: propertyOf(component, /^(?:aquasecurity:trivy:LayerDiffID|syft:location:0:layerID)$/),
    paths: pathsOf(component),
  };
}

function pathsOf(component: Obj): string[] {
  const occurrences = arr(obj(component.evidence).occurrences).flatMap((occurrence) => str(obj(occurrence).location) ?? []);
  if (occurrences.length > 0) return [...new Set(occurrences)];
  return [propertyOf(component, /^(?:aquasecurity:trivy:FilePath|syft:location:0:path)$/) ?? []].flat();
}

/** `urn:cdx:<serial>/<version>#<bom-ref>` refers to a component of another BOM. An unknown reference may still be a package URL. */
export function componentBy(bom: Bom, reference: string): Component {
  const local = /^urn:cdx:[^#]*#(.+)$/i.exec(reference)?.[1];
  const candidates = [reference, local, local === undefined ? undefined : unescaped(local)].filter((candidate) => candidate !== undefined);
  const known = candidates.map((candidate) => bom.components.get(candidate)).find((component) => component !== undefined);
  if (known) return known;
  const name = candidates.at(-1) ?? reference;
  const purl = parsePurl(name);
  const unknown = { sourcePackage: undefined, layer: undefined, paths: [] };
  if (!purl) return { name, version: undefined, purl: undefined, ...unknown };
  return { name: packageName(purl.namespace, purl.name, purl.type), version: purl.version, purl: name, ...unknown };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The subject of the BOM. A file or directory is a path on the scanning machine, so it does not name an asset. */
function assetOf(subject: Obj): Asset | null {
  const type = str(subject.type);
  const name = str(subject.name);
  if (name === undefined || type === 'file') return null;
  if (type === 'container') return imageOf(subject, name);
  const purl = str(subject.purl);
  const repository = arr(subject.externalReferences)
    .map(obj)
    .find((reference) => str(reference.type) === 'vcs');
  const url = str(repository?.url);
  const version = str(subject.version);
  const build = { identifiers: purl ? [{ kind: 'purl' as const, value: purl }] : [], ...(version === undefined ? {} : { version }) };
  if (url && /^(?:https?|ssh|git):\/\/|^git@/.test(url)) return { type: 'repository', name: url.replace(/\.git$/, ''), ...build };
  const full = packageName(str(subject.group), name, parsePurl(purl)?.type);
  return { type: purl ? 'package' : 'other', name: full, ...build };
}

function imageOf(subject: Obj, name: string): Asset {
  const version = str(subject.version);
  const isDigest = version !== undefined && /^sha256:[0-9a-f]{64}$/i.test(version);
  const hasTag = /[:@]./s.test(name.slice(name.lastIndexOf('/') + 1));
  const digests = [
    isDigest ? version : undefined,
    parsePurl(str(subject.purl))?.version,
    propertyOf(subject, /^aquasecurity:trivy:RepoDigest$/)
      ?.split('@')
      .at(-1),
  ].filter((digest) => digest?.startsWith('sha256:'));
  const imageId = propertyOf(subject, /^aquasecurity:trivy:ImageID$/);
  return {
    type: 'container_image',
    name: version === undefined || isDigest || hasTag ? name : `${name}:${version}`,
    identifiers: [
      ...[...new Set(digests)].map((value) => ({ kind: 'digest' as const, value: value as string })),
      ...(imageId ? [{ kind: 'image_id' as const, value: imageId }] : []),
    ],
  };
}

export function propertyOf(component: Obj, name: RegExp): string | undefined {
  const property = arr(component.properties)
    .map(obj)
    .find((candidate) => name.test(str(candidate.name) ?? ''));
  return str(property?.value);
}
