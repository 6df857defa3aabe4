import type { Asset, AssetIdentifier, ListedComponent, ReportItem } from '../../contract.ts';
import { oneTag } from '../../names/one-tag.ts';
import { repositoryAsset } from '../../shared/normalize.ts';
import { platformOf } from '../../shared/platform.ts';
import { type Obj, obj, str, strs } from '../../shared/read.ts';
import type { Target } from './findings.ts';

/** The parts of a report that findings refer to. */
export interface Contexts {
  name: string | undefined;
  type: string | undefined;
  metadata: Obj;
  created: Date | null;
  /** Version of Trivy. */
  version: string | undefined;
  cluster: string | undefined;
  /** The specification of a compliance report. Such a report has the results of its checks only. */
  specification: string | undefined;
  /** Fields of each result and of each cluster resource, by path. */
  headers: Map<string, Readonly<Record<string, string | undefined>>>;
  /** How many misconfigurations each result has, by path. */
  summaries: Map<string, Obj>;
  /** Targets computed from `headers`, by path. */
  targets: Map<string, Target>;
  /** The package that is being read. */
  package: {
    owner?: string;
    Name?: string | undefined;
    SrcName?: string | undefined;
    Version?: string | undefined;
    Release?: string | undefined;
    Epoch?: string | undefined;
  };
  /** The packages that the report lists. */
  packages: ListedComponent[];
  /** Source packages by name of the system package, for reports with a list of packages. */
  sources: Map<string, string>;
  /** Rejections for cluster resources that Trivy could not scan. */
  failures: ReportItem[];
}

export function emptyContexts(): Contexts {
  return {
    name: undefined,
    type: undefined,
    metadata: {},
    created: null,
    version: undefined,
    cluster: undefined,
    specification: undefined,
    headers: new Map(),
    summaries: new Map(),
    targets: new Map(),
    package: {},
    packages: [],
    sources: new Map(),
    failures: [],
  };
}

/** Yields the assets that the report is about, even if it has no findings. */
export function* assetsOf(contexts: Contexts): Generator<Asset> {
  const { headers, cluster } = contexts;
  if (cluster === undefined) {
    const asset = artifactAsset(contexts);
    if (asset) yield asset;
    return;
  }
  for (const [path, { Kind, Error: failure }] of headers) if (Kind !== undefined && failure === undefined) yield clusterAsset(contexts, path.split('.'));
}

export function clusterAsset({ headers, cluster }: Contexts, result: readonly (string | number)[]): Asset {
  const { Namespace, Kind, Name } = headers.get(result.slice(0, 2).join('.')) ?? {};
  return { type: 'cloud_resource', name: [cluster, Namespace, Kind, Name].filter(Boolean).join('/') || 'unspecified' };
}

/** Artifact types that are code: a directory, or a repository (remote or local). */
export const CODE_TYPES: ReadonlySet<unknown> = new Set(['filesystem', 'repository']);

/** Returns null if the report only has a path on the scanning machine or of an SBOM. */
export function artifactAsset({ name, type, metadata, headers }: Contexts): Asset | null {
  const isImage = type === 'container_image' || metadata.ImageID !== undefined || metadata.RepoTags !== undefined;
  if (isImage) return imageAsset(name, metadata);
  if (CODE_TYPES.has(type)) return withCommit(repositoryAsset(str(metadata.RepoURL) ?? (name && isLocalPath(name) ? undefined : name)), metadata);
  if (str(metadata.RepoURL)) return withCommit(repositoryAsset(str(metadata.RepoURL)), metadata);
  if (type === 'vm') return name ? { type: 'host', name } : null;
  if (type === 'aws_account') return name ? { type: 'cloud_resource', name } : null;
  if (type !== undefined) return null;
  // The older report is a list of results. One of them names the image: "alpine:3.10 (alpine 3.10.2)".
  const [image] = [...headers.values()].flatMap(({ Target }) => /^(.+) \([^()]+\)$/.exec(Target ?? '')?.[1] ?? []);
  return image ? { type: 'container_image', name: image } : null;
}

function imageAsset(name: string | undefined, metadata: Obj): Asset | null {
  const digests = strs(metadata.RepoDigests).map((value): AssetIdentifier => ({ kind: 'digest', value: value.split('@').at(-1) ?? value }));
  const id = str(metadata.ImageID);
  const image = name ?? oneTag(strs(metadata.RepoTags)) ?? id;
  if (image === undefined) return null;
  const { os, architecture } = obj(metadata.ImageConfig);
  const platform = platformOf(os, architecture);
  return {
    type: 'container_image',
    name: image,
    ...(platform === undefined ? {} : { platform }),
    identifiers: [...digests, ...(id ? [{ kind: 'image_id' as const, value: id }] : [])],
  };
}

function withCommit(asset: Asset | null, { Branch, Tags, Commit }: Obj): Asset | null {
  const ref = str(Branch) ?? oneTag(strs(Tags));
  const commit = str(Commit);
  return asset && { ...asset, ...(ref === undefined ? {} : { ref }), ...(commit === undefined ? {} : { commit }) };
}

/** True for ".", "/src" and "C:\\build". Any project may be at such a path, so it cannot name an asset. */
function isLocalPath(name: string): boolean {
  return /^(?:\.{1,2}(?:[\\/]|$)|[\\/]|[a-z]:[\\/])/i.test(name);
}
