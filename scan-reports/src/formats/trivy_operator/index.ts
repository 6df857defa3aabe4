import type { Observation, ReportEntry, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { notThisFormat } from '../../shared/input.ts';
import { record } from '../../shared/normalize.ts';
import { arr, type Obj, obj } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { complianceCheck, complianceControl } from './compliance.ts';
import { checkOf, secretOf, vulnerabilityOf } from './findings.ts';
import { artifactAsset, type Resource, resourceOf, workloadAsset } from './resource.ts';
import { startListed } from './summary.ts';

const API_GROUP = /"apiVersion"\s*:\s*"aquasecurity\.github\.io\//;

/** One resource, a kubectl list, an array, or a map of arrays or lists by kind. */
const PREFIXES = ['', 'items.*.', '*.', '*.*.', '*.items.*.'];
const HEADER = [
  'kind',
  'metadata',
  'report.artifact',
  'report.registry',
  'report.scanner',
  'report.summary',
  'report.updateTimestamp',
  'status.updateTimestamp',
  'status.detailReport.id',
];

type Reader = (entry: Obj, place: string, resource: Resource) => Observation | null;

const LISTS: Readonly<Record<string, Reader>> = {
  'report.vulnerabilities': vulnerabilityOf,
  'report.checks': checkOf,
  'report.secrets': secretOf,
  'status.summaryReport.controlCheck': complianceControl,
  'status.controlCheck': complianceControl,
};

export const trivyOperator: ReportFormat = {
  id: 'trivy_operator',
  name: 'Trivy Operator',
  description:
    'Reports of the Trivy Operator in a Kubernetes cluster: the output of `kubectl get vulnerabilityreports,configauditreports,exposedsecretreports,rbacassessmentreports,clustercompliancereports -A -o json`',
  documentation: 'https://aquasecurity.github.io/trivy-operator/latest/docs/crds/',
  expects: 'JSON with one or several Kubernetes resources of the apiVersion aquasecurity.github.io/…',
  assetType: 'container_image',
  detect: (head) => head.jsonShape !== null && API_GROUP.test(head.text),
  async *read(input) {
    if (!isReport(await headOf(input))) throw notThisFormat(trivyOperator.expects);
    const resources = await readResources(input);
    for (const resource of resources.all()) yield* readRun(resource);
    const lists = [...Object.keys(LISTS), 'status.detailReport.results'];
    const patterns = PREFIXES.flatMap((prefix) => lists.map((list) => `${prefix}${list}.*`));
    const listed = startListed();
    for await (const found of jsonValues(input, patterns)) {
      if (found.path.at(-3) === 'report') listed.add(resources.of(found), obj(found.value));
      yield* readEntry(found, resources);
    }
    const all = [...resources.all()];
    yield* runEntry({ left_out: listed.leftOut(all) });
    for (const resource of all.filter(listed.lacksChecks)) yield* runEntry({ asset: workloadAsset(resource), unfinished: true });
  },
};

function isReport(head: ReportHead): boolean {
  const isEmpty = /^\s*\[\s*\]\s*$/.test(head.text) || (hasKeys(head, 'items') && /"items"\s*:\s*\[\s*\]/.test(head.text));
  return API_GROUP.test(head.text) || isEmpty;
}

/** Reports about all findings of one kind. A report about secrets does not say that an image was scanned for vulnerabilities. */
const COVERING = /^(?:Cluster)?(?:Vulnerability|ConfigAudit|RbacAssessment|InfraAssessment)Report$/;

function* readRun(resource: Resource): Generator<ReportEntry> {
  if (!COVERING.test(resource.kind ?? '')) return;
  const asset = artifactAsset(resource);
  if (asset) yield* runEntry({ asset, tool_version: resource.version, finished_at: resource.updated ?? null });
}

interface Resources {
  of(found: JsonValue): Resource;
  all(): Iterable<Resource>;
}

/** Keys of a JSON object may be in any order, so resources are read in a first pass, before their entries. */
async function readResources(input: ReportInput): Promise<Resources> {
  const known = new Map<string, Resource>();
  const patterns = PREFIXES.flatMap((prefix) => HEADER.map((field) => `${prefix}${field}`));
  for await (const { document, path, value } of jsonValues(input, patterns)) {
    const start = rootOf(path);
    const key = `${document} ${path.slice(0, start).join('.')}`;
    known.set(key, resourceOf(known.get(key), path.slice(start).join('.'), value));
  }
  return { of: ({ document, path }) => known.get(`${document} ${path.slice(0, rootOf(path)).join('.')}`) ?? {}, all: () => known.values() };
}

/** Returns the number of leading path segments that address the resource. */
function rootOf(path: readonly (string | number)[]): number {
  return Math.max(
    0,
    path.findIndex((part) => part === 'kind' || part === 'metadata' || part === 'report' || part === 'status'),
  );
}

function* readEntry(found: JsonValue, resources: Resources): Generator<ReportItem> {
  const place = placeOf(found);
  if (found.error) {
    yield { rejection: { place, reason: found.error } };
    return;
  }
  const entry = obj(found.value);
  const resource = resources.of(found);
  const list = found.path.slice(rootOf(found.path), -1).join('.');
  const reader = LISTS[list];
  if (reader) yield* record(place, () => reader(entry, place, resource));
  else
    for (const [index, check] of arr(entry.checks).entries()) {
      const inside = `${place}.checks[${index}]`;
      yield* record(inside, () => complianceCheck(obj(check), inside, entry, resource));
    }
}
