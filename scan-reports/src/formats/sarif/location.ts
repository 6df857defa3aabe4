import { posix } from 'node:path';
import type { Asset, Location } from '../../contract.ts';
import { filePath, urlPlace, webAsset } from '../../shared/normalize.ts';
import { parsePurl } from '../../shared/purl.ts';
import { arr, count, num, type Obj, obj, str } from '../../shared/read.ts';
import { type Address, addressOf, isAbsolute, type Run } from './run.ts';

export type PartialLocation = { [Key in keyof Location]?: Location[Key] | undefined };

export function locationOf(location: Obj, run: Run): PartialLocation {
  const physical = obj(location.physicalLocation);
  const region = obj(physical.region);
  const resource = logicalOf(location, run);
  return {
    ...artifactLocation(obj(physical.artifactLocation), run),
    line: count(region.startLine),
    end_line: count(region.endLine),
    snippet: str(obj(region.snippet).text),
    // Dependency-Check writes the package URL as a logical location.
    ...(parsePurl(resource) ? { purl: resource } : { resource }),
  };
}

export function artifactLocation(artifact: Obj, run: Run): PartialLocation {
  const own = addressOf(artifact);
  const address = own.uri === undefined ? (run.artifacts[num(artifact.index) ?? -1] ?? own) : own;
  const uri = resolved(address, run);
  if (uri && /^https?:\/\//i.test(uri)) return { url: urlPlace(uri) };
  return { path: filePath(decoded(uri)) };
}

/** Returns the web application if the location is a URL. */
export function assetOfLocation({ url }: PartialLocation): Asset | null {
  return webAsset(url);
}

function logicalOf(location: Obj, { logicalLocations }: Run): string | undefined {
  // Version 2.0 has a single logical location.
  const [logical] = [...arr(location.logicalLocations), ...arr(location.logicalLocation)].map(obj);
  if (logical === undefined) return undefined;
  return str(logical.fullyQualifiedName) ?? logicalLocations[num(logical.index) ?? -1] ?? str(logical.name);
}

/** Resolves the path relative to the outermost base of its chain (section 3.14.14). */
function resolved({ uri, base }: Address, { bases, roots }: Run): string | undefined {
  if (uri === undefined) return undefined;
  if (isAbsolute(uri)) {
    const root = roots.find((candidate) => uri.startsWith(candidate) && uri.length > candidate.length);
    return root ? uri.slice(root.length) : uri;
  }
  let path = uri;
  const seen = new Set<string>();
  for (let id = base; id !== undefined && !seen.has(id); ) {
    seen.add(id);
    const next = bases.get(id);
    if (next?.uri === undefined || isAbsolute(next.uri)) break;
    path = `${next.uri}${next.uri.endsWith('/') ? '' : '/'}${path}`;
    id = next.base;
  }
  return path.includes('../') ? posix.normalize(path) : path;
}

function decoded(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : decodeURIComponent(path);
  } catch {
    return path;
  }
}
