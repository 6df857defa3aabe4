import type { Asset, Location } from '../../contract.ts';
import { filePath, RecordError, urlPlace, webAsset } from '../../shared/normalize.ts';
import { count, isObj, type Obj, obj, str } from '../../shared/read.ts';

type Loose<T> = { [Key in keyof T]?: T[Key] | undefined };

interface AssetLocation {
  asset: Asset | null;
  location: Loose<Location>;
  /** Details of the location for the description. */
  text?: string | undefined;
}

/** The fields of a location depend on the kind of scan. GitLab reports never name the repository. */
export function locate(entry: Obj): AssetLocation {
  const old = str(entry.file);
  if (!isObj(entry.location) && old === undefined) throw new RecordError('location is missing');
  const location = obj(entry.location);
  const host = str(location.hostname) ?? str(location.host);
  if (host !== undefined) return webLocation(location, host);
  if (location.crash_state !== undefined || location.crash_type !== undefined) return crashLocation(location);
  return {
    asset: imageOf(location),
    location: {
      ...dependencyOf(location),
      path: filePath(str(location.file) ?? old),
      line: count(location.start_line) ?? count(entry.line),
      end_line: count(location.end_line),
      resource: workloadOf(location) ?? [str(location.class), str(location.method)].filter(Boolean).join('.'),
    },
    text: commitText(location),
  };
}

function webLocation(location: Obj, host: string): AssetLocation {
  const path = str(location.path) ?? '';
  return {
    asset: webAsset(host),
    location: {
      url: urlPlace(`${host.replace(/(?<!\/)\/+$/, '')}${path.startsWith('/') || path === '' ? '' : '/'}${path}`),
      method: str(location.method),
      parameter: str(location.param),
    },
  };
}

/** The crash type and state identify a crash, because its address changes. */
function crashLocation(location: Obj): AssetLocation {
  const state = str(location.crash_state);
  return {
    asset: null,
    location: { resource: state?.split('\n')[0], fingerprint: [str(location.crash_type), state].filter(Boolean).join(' ') },
    text: str(location.stacktrace_snippet),
  };
}

export function dependencyOf(location: Obj): Pick<Loose<Location>, 'component' | 'version'> {
  const dependency = obj(location.dependency);
  const component = str(obj(dependency.package).name);
  return { component, version: component === undefined ? undefined : (str(dependency.version) ?? str(location.version)) };
}

function imageOf(location: Obj): Asset | null {
  const image = str(location.image);
  if (image === undefined) return null;
  const [, digest] = /@(sha256:[0-9a-f]{64})$/i.exec(image) ?? [];
  const { namespace, kind, name } = obj(location.kubernetes_resource);
  const workload = namesOf(namespace, kind, name);
  return {
    type: 'container_image',
    name: image,
    ...(digest ? { identifiers: [{ kind: 'digest', value: digest }] } : {}),
    ...(workload === undefined ? {} : { workload }),
  };
}

function workloadOf(location: Obj): string | undefined {
  const { namespace, kind, name, container_name } = obj(location.kubernetes_resource);
  return namesOf(namespace, kind, name, container_name);
}

function namesOf(...parts: unknown[]): string | undefined {
  return parts.flatMap((part) => str(part) ?? []).join('/') || undefined;
}

function commitText(location: Obj): string | undefined {
  const sha = str(obj(location.commit).sha);
  return sha && !/^0+$/.test(sha) ? `Commit ${sha}` : undefined;
}
