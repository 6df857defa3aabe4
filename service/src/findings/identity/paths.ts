/** What `normalPath` replaces before it leaves out the folder of a build service. */
export const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\\/g, '/'],
  [/^file:\/\/(?=\/)/, ''],
  [/^\/?(?:[A-Za-z]:\/)+/, '/'],
  [/\.(jar|war|ear|zip):/g, '.$1/'],
  // Jenkins checks out again under `shop@2` while the folder `shop` is in use.
  [/^(\/(?:[^/]+\/)*workspace\/[^/@]+)(?:@\d+)+\//, '$1/'],
];

/** Folders in which build services check out a repository. What follows is the path inside the repository. */
export const WORKSPACES: readonly RegExp[] = [
  /^\/github\/workspace\//,
  /^\/(?:home\/runner\/work|Users\/runner\/work|a)\/([^/]+)\/\1\//,
  /^\/(?:home\/vsts\/work|azp\/(?:agent\/)?_work|a)\/\d+\/s\//,
  /^\/opt\/atlassian\/pipelines\/agent\/build\//,
];

/**
 * The path with "/" as separator, without "./", drive letter, leading slash or the folder of a well-known build service, so that tools that print
 * absolute paths meet those that print relative ones. Files inside of archives follow the archive after a "/".
 */
export function normalPath(path: string): string {
  // Most paths are in normal form, and every record of a report comes through here.
  if (/^[\w@-][\w@.-]*(?:\/[\w@-][\w@.-]*)*$/.test(path)) return path;
  const plain = SPELLINGS.reduce((text, [pattern, by]) => text.replace(pattern, by), path);
  const workspace = WORKSPACES.find((root) => root.test(plain));
  const inside = workspace ? plain.replace(workspace, '') : plain;
  const parts = inside.split('/').filter((part) => part !== '' && part !== '.');
  const start = parts.findIndex((part) => !/^[A-Za-z]:$/.test(part));
  return start === -1 ? path : parts.slice(start).join('/');
}

/** A path that a person states: "./services//pay/" is "services/pay". */
export function folderPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.trim().split(/[\\/]/)) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/**
 * Whether two paths may name the same file although their tools started in different folders: one ends with the other, by at least two segments.
 * Only for paths of different sources, and of components after `withoutVersion`. Two paths of one source are compared exactly, because `node_modules/a/package.json` and
 * `admin/node_modules/a/package.json` of one tool are two copies.
 */
export function isSamePath(a: string, b: string): boolean {
  const [one, other] = [normalPath(a), normalPath(b)];
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.includes('/') && long.endsWith(`/${short}`);
}

/** The path with `*` for the component's version, which is often part of a file's name: `lib/log4j-core-*.jar`. */
export function withoutVersion(path: string, version: string | undefined): string {
  // A short version also occurs by chance.
  return version !== undefined && version.length > 2 && version.includes('.') ? path.replaceAll(version, '*') : path;
}
