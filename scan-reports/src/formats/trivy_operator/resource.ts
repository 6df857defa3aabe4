import type { Asset } from '../../contract.ts';
import { hostAsset } from '../../shared/normalize.ts';
import { date, type Obj, obj, str } from '../../shared/read.ts';
import { type Counts, countsOf } from './summary.ts';

/** The subject of a report. Kept small, because a file may have thousands. */
export interface Resource {
  kind?: string | undefined;
  /** "default/ReplicaSet/web" */
  workload?: string | undefined;
  container?: string | undefined;
  artifact?: Obj;
  registry?: string | undefined;
  scanner?: string | undefined;
  version?: string | undefined;
  updated?: Date | null;
  /** How many findings the report has, by severity. */
  counts?: Counts;
  /** True if the compliance report lists its checks. The summary would repeat them. */
  isDetailed?: boolean;
}

export function resourceOf(known: Resource = {}, field: string, value: unknown): Resource {
  switch (field) {
    case 'kind':
      return { ...known, kind: str(value) };
    case 'metadata':
      return { ...known, ...namesOf(obj(value)) };
    case 'report.artifact':
      return { ...known, artifact: obj(value) };
    case 'report.registry':
      return { ...known, registry: str(obj(value).server) };
    case 'report.scanner':
      return { ...known, scanner: str(obj(value).name)?.toLowerCase(), version: str(obj(value).version) };
    case 'report.summary':
      return { ...known, counts: countsOf(obj(value)) };
    case 'status.detailReport.id':
      return { ...known, isDetailed: true };
    case 'report.updateTimestamp':
    case 'status.updateTimestamp':
      return { ...known, updated: date(value) };
    default:
      return known;
  }
}

/** Labels are limited to 63 characters. Longer names are in the annotation with the same key. */
function namesOf(metadata: Obj): Pick<Resource, 'workload' | 'container'> {
  const labels = obj(metadata.labels);
  const annotations = obj(metadata.annotations);
  const named = (key: string): string | undefined =>
    ['trivy-operator', 'starboard'].flatMap((prefix) => str(labels[`${prefix}.${key}`]) ?? str(annotations[`${prefix}.${key}`]) ?? [])[0];
  const kind = named('resource.kind');
  const given = named('resource.name') ?? str(metadata.name);
  const name = kind === 'ReplicaSet' && given ? withoutTemplateHash(given) : given;
  const namespace = named('resource.namespace') ?? str(metadata.namespace);
  return { workload: [namespace, kind, name].filter(Boolean).join('/') || undefined, container: named('container.name') };
}

/**
 * For each new version, a Deployment creates a ReplicaSet with its name and a hash of the pod template (in the alphabet of Kubernetes'
 * SafeEncodeString). Without the hash, the name of the workload stays the same.
 */
export function withoutTemplateHash(name: string): string {
  return name.replace(/-[4-9bcdf]{6,10}$/, '');
}

/** Returns the scanned image or node, otherwise the workload. */
export function artifactAsset(resource: Resource): Asset | null {
  const { repository, tag, digest, nodeName } = resource.artifact ?? {};
  const node = str(nodeName);
  if (node) return hostAsset({ given: node });
  const image = str(repository);
  if (image === undefined) return workloadAsset(resource);
  const workload = clusterLocation(resource);
  const version = str(tag) ? `:${str(tag)}` : str(digest) ? `@${str(digest)}` : '';
  return {
    type: 'container_image',
    name: `${resource.registry ? `${resource.registry}/` : ''}${image}${version}`,
    identifiers: str(digest) ? [{ kind: 'digest', value: str(digest) as string }] : [],
    ...(workload === undefined ? {} : { workload }),
  };
}

export function workloadAsset({ workload }: Resource): Asset | null {
  return workload ? { type: 'cloud_resource', name: workload } : null;
}

export function clusterLocation({ workload, container }: Resource): string | undefined {
  return [workload, container].filter(Boolean).join('/') || undefined;
}
