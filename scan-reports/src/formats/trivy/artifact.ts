import type { Asset, AssetIdentifier, ReportItem } from '../../contract.ts';
import { repositoryAsset } from '../../shared/normalize.ts';
import { type Obj, str, strs } from '../../shared/read.ts';
import type { Target } from './findings.ts';

/** What a report says beside its findings. */
export interface Contexts {
  name: string | undefined;
  type: string | undefined;
  metadata: Obj;
  created: Date | null;
  cluster: string | undefined;
  /** Fields of each result and of each resource of a cluster, by its path. */
  headers: Map<string, Readonly<Record<string, string | undefined>>>;
  /** What was made of them. */
  targets: Map<string, Target>;
  /** Resources of a cluster that Trivy could not look into. */
  failures: ReportItem[];
}

export function emptyContexts(): Contexts {
  return { name: undefined, type: undefined, metadata: {}, created: null, cluster: undefined, headers: new Map(), targets: new Map(), failures: [] };
}

export function clusterAsset({ headers, cluster }: Contexts, result: readonly (string | number)[]): Asset {
  const { Namespace, Kind, Name } = headers.get(result.slice(0, 2).join('.')) ?? {};
  return { type: 'cloud_resource', name: [cluster, Namespace, Kind, Name].filter(Boolean).join('/') || 'unspecified' };
}

/** Kinds of artifacts that are code: a directory, or a repository (fetched, or its working copy). */
export const CODE: ReadonlySet<unknown> = new Set(['filesystem', 'repository']);

/** Null where the report only knows a path of the machine that scanned, or of an SBOM. */
export function artifactAsset({ name, type, metadata, headers }: Contexts): Asset | null {
  const isImage = type === 'container_image' || metadata.ImageID !== undefined || metadata.RepoTags !== undefined;
  if (isImage) return imageAsset(name, metadata);
  if (CODE.has(type)) return repositoryAsset(str(metadata.RepoURL) ?? (name && isPathOfMachine(name) ? undefined : name));
  if (str(metadata.RepoURL)) return repositoryAsset(str(metadata.RepoURL));
  if (type === 'vm') return name ? { type: 'host', name } : null;
  if (type === 'aws_account') return name ? { type: 'cloud_resource', name } : null;
  if (type !== undefined) return null;
  // The older report is a list of results, of which one names the image: "alpine:3.10 (alpine 3.10.2)".
  const [image] = [...headers.values()].flatMap(({ Target }) => /^(.+) \([^()]+\)$/.exec(Target ?? '')?.[1] ?? []);
  return image ? { type: 'container_image', name: image } : null;
}

function imageAsset(name: string | undefined, metadata: Obj): Asset | null {
  const digests = strs(metadata.RepoDigests).map((value): AssetIdentifier => ({ kind: 'digest', value: value.split('@').at(-1) ?? value }));
  const id = str(metadata.ImageID);
  const image = name ?? strs(metadata.RepoTags)[0] ?? id;
  if (image === undefined) return null;
  return { type: 'container_image', name: image, identifiers: [...digests, ...(id ? [{ kind: 'image_id' as const, value: id }] : [])] };
}

/** ".", "/src", "C:\\build": any project may lie there, and one would be taken for another. */
function isPathOfMachine(name: string): boolean {
  return /^(?:\.{1,2}(?:[\\/]|$)|[\\/]|[a-z]:[\\/])/i.test(name);
}
