import type { Asset, ReportEntry, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { record, required } from '../../shared/normalize.ts';
import { type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startComponents } from '../../shared/run.ts';
import { readV4 } from './v4.ts';
import { clairObservation, metadataCvss } from './vulnerability.ts';

type Shape = 'scanner' | 'klar' | 'layer' | 'v4';

export const clair: ReportFormat = {
  id: 'clair',
  name: 'Clair',
  description: 'Output of `clairctl report --out json` (Clair 4), layers from the older API, or JSON of clair-scanner or klar',
  documentation: 'https://quay.github.io/clair/reference/api.html',
  expects:
    'a JSON object with image, unapproved and vulnerabilities (clair-scanner), LayerCount and Vulnerabilities (klar), Layer (Clair 2), or manifest_hash and package_vulnerabilities (Clair 4)',
  assetType: 'container_image',
  detect: (head) => shapeOf(head) !== null,
  async *read(input) {
    const shape = shapeOf(await headOf(input));
    if (shape === null) throw notThisFormat(clair.expects);
    yield* READERS[shape](input);
  },
};

function shapeOf(head: ReportHead): Shape | null {
  if (head.jsonShape === null || head.jsonShape === 'array') return null;
  if (hasKeys(head, 'manifest_hash')) return /"(?:packages|vulnerabilities|package_vulnerabilities)"\s*:/.test(head.text) ? 'v4' : null;
  if (hasKeys(head, 'LayerCount', 'Vulnerabilities')) return 'klar';
  if (hasKeys(head, 'Layer') && /"(?:Features|ParentName|IndexedByVersion)"\s*:/.test(head.text)) return 'layer';
  return hasKeys(head, 'vulnerabilities') && (hasKeys(head, 'image', 'unapproved') || /"featurename"\s*:/.test(head.text)) ? 'scanner' : null;
}

const READERS: Readonly<Record<Shape, (input: ReportInput) => AsyncGenerator<ReportEntry>>> = {
  scanner: readScanner,
  klar: readKlar,
  layer: readLayer,
  v4: readV4,
};

/** clair-scanner. Vulnerabilities not in `unapproved` are exceptions or below the threshold. The report does not state which. */
async function* readScanner(input: ReportInput): AsyncGenerator<ReportEntry> {
  let asset: Asset | null = null;
  let unapproved: ReadonlySet<string> | null = null;
  for await (const { path, value } of jsonValues(input, ['image', 'unapproved'])) {
    const image = path[0] === 'image' ? str(value) : undefined;
    if (image) asset = { type: 'container_image', name: image };
    if (path[0] === 'unapproved' && Array.isArray(value)) unapproved = new Set(strs(value));
  }
  yield* runEntry({ asset });
  for await (const found of jsonValues(input, ['vulnerabilities.*'])) {
    yield* readEntry(found, (entry, place) => {
      const id = required(str(entry.vulnerability), 'vulnerability');
      return clairObservation({
        place,
        name: id,
        description: str(entry.description),
        severity: str(entry.severity),
        links: strs(entry.link),
        cvss: [],
        asset,
        component: required(str(entry.featurename), 'featurename'),
        version: str(entry.featureversion),
        fixed: str(entry.fixedby),
        distribution: str(entry.namespace),
        tags: [...strs(entry.namespace), ...(unapproved !== null && !unapproved.has(id) ? ['approved'] : [])],
      });
    });
  }
}

/** klar groups vulnerabilities by severity and does not name the image. */
async function* readKlar(input: ReportInput): AsyncGenerator<ReportEntry> {
  // Without layers, it has read nothing of the image.
  for await (const { value } of jsonValues(input, ['LayerCount'])) if (value === 0) yield* runEntry({ unfinished: true });
  for await (const found of jsonValues(input, ['Vulnerabilities.*.*']))
    yield* readEntry(found, (entry, place) =>
      featureVulnerability(entry, place, { FeatureName: entry.FeatureName, FeatureVersion: entry.FeatureVersion }, null),
    );
}

/** Clair 1 and 2, `GET /v1/layers/:name?vulnerabilities`. It has found nothing to look at if the layer has no features. */
async function* readLayer(input: ReportInput): AsyncGenerator<ReportEntry> {
  const features = new Map<string, Record<string, unknown>>();
  let asset: Asset | null = null;
  for await (const { path, value } of jsonValues(input, ['Layer.Name', 'Layer.Features.*.Name', 'Layer.Features.*.Version'])) {
    const name = path.length === 2 ? str(value) : undefined;
    if (name) asset = { type: 'container_image', name };
    if (path.length === 2) continue;
    const key = path.slice(0, 3).join('.');
    features.set(key, { ...features.get(key), [`Feature${path[3]}`]: value });
  }
  const components = startComponents();
  for (const { FeatureName, FeatureVersion } of features.values()) components.add({ name: str(FeatureName), version: str(FeatureVersion) }, true);
  yield* runEntry({ asset });
  yield* runEntry({ components: components.list() });
  if (features.size === 0) yield* runEntry({ unfinished: true });
  for await (const found of jsonValues(input, ['Layer.Features.*.Vulnerabilities.*']))
    yield* readEntry(found, (entry, place) => featureVulnerability(entry, place, features.get(found.path.slice(0, 3).join('.')) ?? {}, asset));
}

function featureVulnerability(entry: Obj, place: string, feature: Obj, asset: Asset | null) {
  return clairObservation({
    place,
    name: required(str(entry.Name), 'Name'),
    description: str(entry.Description),
    severity: str(entry.Severity),
    links: strs(entry.Link),
    cvss: metadataCvss(obj(entry.Metadata)),
    asset,
    component: required(str(feature.FeatureName), 'FeatureName'),
    version: str(feature.FeatureVersion),
    fixed: str(entry.FixedBy),
    distribution: str(entry.NamespaceName),
    tags: strs(entry.NamespaceName),
  });
}

function* readEntry(found: JsonValue, make: (entry: Obj, place: string) => ReturnType<typeof clairObservation>): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) yield { rejection: { place, reason: found.error } };
  else yield* record(place, () => make(obj(found.value), place));
}
