export interface RepositoryName {
  /** Name for people and for the key: `github.com/acme/shop`, `acme/shop`, or the text as given. */
  name: string;
  /**
   * Keys that other repositories may share: `repo-path:acme/shop` and `repo-name:shop`. A path recognizes a repository if its server is not known either.
   */
  weakKeys: string[];
}

/**
 * The normal name of a code repository, the same for all addresses that Git and browsers use for it. Case is ignored: servers do not have two
 * repositories that differ only in case. A checkout of a build service (`/builds/acme/shop`, `/home/runner/work/shop/shop`) tells the path or name of
 * the repository, but not its server, so it is recognized only by weak keys.
 */
export function normalRepository(text: string): RepositoryName {
  let normal = readName(text);
  // Removing one part can reveal another ("shop.git/.git"). Names only become shorter, so this ends.
  for (let next = readName(normal.name); next.name !== normal.name; next = readName(normal.name)) normal = next;
  return normal;
}

function readName(text: string): RepositoryName {
  const trimmed = text.trim();
  const address = readAddress(trimmed);
  if (address) return { name: [address.host, ...address.path].join('/'), weakKeys: weakKeys(address.path) };
  if (/^(?:[A-Za-z]:)?[/\\]|^\.{1,2}(?:[/\\]|$)/.test(trimmed)) return { name: trimmed, weakKeys: checkoutKeys(trimmed.replaceAll('\\', '/')) };
  const path = cleanPath(trimmed.toLowerCase());
  const plain = path.length > 0 && path.every((part) => /^[a-z0-9_.~-]+$/.test(part));
  // A single name is as often that of a package or project as that of a repository: another team's "shop" must not meet "acme/shop".
  return plain ? { name: path.join('/'), weakKeys: path.length > 1 ? weakKeys(path) : [] } : { name: trimmed, weakKeys: [] };
}

interface Address {
  host: string;
  path: string[];
}

function readAddress(text: string): Address | null {
  const plain = text.replace(/^(?:scm:)?git(?:\+|:(?!\/\/))(?=[a-z])/i, '');
  const [, scheme, authority, rest] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]+)(?:\/([^?#]*))?/i.exec(plain) ?? [];
  if (scheme !== undefined && authority !== undefined) return isRemote(scheme) ? address(hostOf(authority, scheme), rest ?? '') : null;
  // The form of scp: "git@github.com:acme/shop.git". A number after the colon would be a port, and "com.acme:shop" is the name of a Maven project.
  const [, user, server, path] = /^([\w.-]+@)?([a-z0-9.-]+):(?!\d+(?:\/|$))([^\s:]+)$/i.exec(plain) ?? [];
  const isServer = user !== undefined || (server?.includes('.') && path?.includes('/'));
  if (server !== undefined && path !== undefined && isServer) return address(hostOf(server, 'ssh'), path);
  // Without a scheme, the first of at least three parts is a server if it has a dot: "github.com/acme/shop".
  const [, host, inside] = /^(?:[\w.-]+@)?([a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}(?::\d+)?)\/([^\s?#:][^\s?#:/]*\/[^\s?#:]+)$/i.exec(plain) ?? [];
  return host === undefined || inside === undefined ? null : address(hostOf(host, 'https'), inside);
}

const isRemote = (scheme: string) => /^(?:https?|ssh|git|git\+ssh|git\+https?)$/i.test(scheme);

/** Servers for Git that are reachable by other names, for example where a firewall blocks port 22. */
const ALIASES = new Map(
  Object.entries({
    'www.github.com': 'github.com',
    'ssh.github.com': 'github.com',
    'api.github.com': 'github.com',
    'www.gitlab.com': 'gitlab.com',
    'altssh.gitlab.com': 'gitlab.com',
    'www.bitbucket.org': 'bitbucket.org',
    'altssh.bitbucket.org': 'bitbucket.org',
    'ssh.dev.azure.com': 'dev.azure.com',
  }),
);

/** The port of an SSH server is dropped, because the same repository has another one over HTTPS. */
function hostOf(authority: string, scheme: string): string {
  const [, host = '', port = ''] = /^(?:.*@)?([^@\n\r\u2028\u2029]*?)(:\d*)?$/.exec(authority.toLowerCase()) ?? [];
  const known = ALIASES.get(host) ?? host.replace(/\.$/, '');
  const isDefault = port === '' || port === ':' || port === ':443' || port === ':80' || !/^(?:git\+)?https?$/i.test(scheme) || known !== host;
  return isDefault ? known : `${known}${port}`;
}

function address(host: string, rest: string): Address | null {
  const parts = cleanPath(rest.toLowerCase());
  const path = pathOn(host, parts);
  const [, organization] = /^([^.]+)\.visualstudio\.com$/.exec(host) ?? [];
  if (organization !== undefined) return { host: 'dev.azure.com', path: [organization, ...path] };
  return path.length === 0 || host === '' ? null : { host, path };
}

/** The path without what a browser's address has after the repository, and without what only one protocol has in it. */
function pathOn(host: string, parts: string[]): string[] {
  if (host === 'github.com') return (parts[0] === 'repos' && parts.length > 2 ? parts.slice(1) : parts).slice(0, 2).map(withoutGit);
  if (host === 'bitbucket.org') return parts.slice(0, 2).map(withoutGit);
  if (host === 'dev.azure.com' || host.endsWith('.visualstudio.com')) {
    return parts.filter((part, at) => part !== '_git' && part !== 'defaultcollection' && !(at === 0 && part === 'v3'));
  }
  const page = parts.indexOf('-');
  const inside = page > 0 ? parts.slice(0, page) : parts;
  // Bitbucket Data Center has "scm" in its HTTPS addresses only.
  return inside[0] === 'scm' && inside.length > 2 ? inside.slice(1) : inside;
}

function cleanPath(path: string): string[] {
  const parts = path.replace(/\.git@[^/]*$/, '.git').split('/');
  const clean = parts.filter((part) => part !== '' && part !== '.');
  return clean.map((part, at) => (at === clean.length - 1 ? withoutGit(part) : part));
}

const withoutGit = (part: string) => (part.length > 4 ? part.replace(/(?:\.git)+$/, '') : part);

function weakKeys(path: readonly string[]): string[] {
  const keys = path.length > 1 ? [`repo-path:${path.join('/')}`] : [];
  return [...keys, ...path.slice(-1).map((name) => `repo-name:${name}`)];
}

/** GitLab's runner keeps the whole path of the project, other build services only its name. Of any other folder, the last part may be the name. */
function checkoutKeys(folder: string): string[] {
  const [, project] = /^\/builds\/(?:[\w-]{8,}\/\d+\/)?([^/]+\/.+)$/.exec(folder) ?? [];
  const path = cleanPath((project ?? folder).toLowerCase());
  const name = path.at(-1);
  if (project !== undefined) return weakKeys(path);
  return name === undefined || name === '..' || GENERIC_FOLDERS.has(name) || /^[a-z]:$/.test(name) ? [] : [`repo-name:${name}`];
}

/** Folders into which any repository is mounted. */
const GENERIC_FOLDERS = new Set(['app', 'build', 'code', 'data', 'project', 'repo', 's', 'scan', 'source', 'src', 'tmp', 'work', 'workspace', 'zap']);
