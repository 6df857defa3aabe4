import { purlType } from './purl-types.ts';

/** A package URL (ECMA-427), with every part decoded and in the canonical form of its type. */
export interface Purl {
  type: string;
  namespace: string | undefined;
  name: string;
  version: string | undefined;
  /** Keys are in lower case. Never has empty values. */
  qualifiers: Readonly<Record<string, string>>;
  subpath: string | undefined;
}

/**
 * Parses `pkg:type/namespace/name@version?qualifiers#subpath`. Null if the text has no type or name. Accepts what scanners write although the
 * specification forbids it: `pkg:golang/stdlib` without a namespace, a scope with a plain `@`, broken percent-encoding.
 */
export function parsePurl(text: string | undefined): Purl | null {
  return read(text ?? '').purl;
}

/** Whether the text is a package URL of any type. Unlike `parsePurl`, refuses broken percent-encoding and qualifiers that are not `key=value`. */
export function isPurl(text: string): boolean {
  const { purl, wellFormed } = read(text);
  return purl !== null && wellFormed;
}

/** The canonical text of a package URL. Null if the text violates the specification or the definition of its type. */
export function canonicalPurl(text: string): string | null {
  const { purl, wellFormed } = read(text);
  return purl && wellFormed && followsType(purl) ? purlText(purl) : null;
}

/** Writes a package URL. Expects parts as `parsePurl` returns them. */
export function purlText({ type, namespace, name, version, qualifiers, subpath }: Purl): string {
  const query = Object.keys(qualifiers)
    .sort()
    .map((key) => `${key}=${encoded(qualifiers[key] ?? '')}`);
  return [
    `pkg:${type}/`,
    namespace === undefined ? '' : `${segments(namespace)}/`,
    type === 'git' ? segments(name) : encoded(name),
    version === undefined ? '' : `@${encoded(version)}`,
    query.length === 0 ? '' : `?${query.join('&')}`,
    subpath === undefined ? '' : `#${segments(subpath)}`,
  ].join('');
}

const SYSTEM_PACKAGE_TYPES = new Set(['deb', 'rpm', 'apk', 'alpm']);

/** True for types of packages that a distribution builds. The namespace is the distribution, and several packages are built from one source. */
export function isSystemPackage(type: string | null | undefined): boolean {
  return SYSTEM_PACKAGE_TYPES.has(type ?? '');
}

/** The name that the package manager uses: `group:name` for Maven, `@scope/name` for npm. For system packages, the group is the distribution and is dropped. */
export function packageName(group: string | undefined, name: string, type: string | undefined): string {
  if (group === undefined || isSystemPackage(type)) return name;
  const separator = type === 'maven' || (type === undefined && !group.startsWith('@') && !group.includes('/')) ? ':' : '/';
  return `${group}${separator}${name}`;
}

interface Reading {
  purl: Purl | null;
  /** False if something was repaired or left out that the specification calls an error. */
  wellFormed: boolean;
}

const NOTHING: Reading = { purl: null, wellFormed: false };

function read(text: string): Reading {
  const [, given, path = '', query, fragment] = /^pkg:\/*([a-z][a-z0-9.+-]*)\/+([^?#/][^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(text) ?? [];
  if (given === undefined) return NOTHING;
  const type = given.toLowerCase();
  const at = versionStart(path);
  const parts = (at === -1 ? path : path.slice(0, at)).split('/');
  // A version that follows a slash has no name in front of it.
  if (at > 0 && parts.at(-1) === '') return NOTHING;
  let wellFormed = true;
  const decode = (part: string) => {
    if (!part.includes('%')) return part;
    try {
      return decodeURIComponent(part);
    } catch {
      wellFormed = false;
      return part;
    }
  };
  const names = parts.filter((part) => part !== '').map(decode);
  // In a repository's address, the namespace is the host and the name is the whole path.
  const nameAt = type === 'git' ? 1 : names.length - 1;
  const name = names.slice(nameAt).join('/');
  if (name === '') return NOTHING;
  const { qualifiers, allowed } = readQualifiers(query, decode);
  const subpath = fragment?.split('/').map(decode) ?? [];
  const purl = folded({
    type,
    namespace: names.slice(0, nameAt).join('/') || undefined,
    name,
    version: (at === -1 ? '' : decode(path.slice(at + 1))) || undefined,
    qualifiers,
    subpath: subpath.filter((part) => !['', '.', '..'].includes(part)).join('/') || undefined,
  });
  return { purl, wellFormed: wellFormed && allowed };
}

/** Leaves out qualifiers that have no value, and those whose key is not allowed or was there before, which the specification forbids. */
function readQualifiers(query: string | undefined, decode: (part: string) => string): { qualifiers: Record<string, string>; allowed: boolean } {
  const qualifiers: Record<string, string> = {};
  let allowed = true;
  for (const pair of query?.split('&') ?? []) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = pair.slice(0, equals).toLowerCase();
    if (equals === -1 || !/^[a-z][a-z0-9._-]*$/.test(key) || Object.hasOwn(qualifiers, key)) allowed = false;
    else if (equals + 1 < pair.length) qualifiers[key] = decode(pair.slice(equals + 1));
  }
  return { qualifiers, allowed };
}

/** Where the "@" of the version is, or -1. An "@" at the beginning of a segment that others follow belongs to a scope that was not percent-encoded. */
function versionStart(path: string): number {
  const at = path.lastIndexOf('@');
  const beginsSegment = at === 0 || path[at - 1] === '/';
  return beginsSegment && path.includes('/', at) ? -1 : at;
}

/** Applies the rules of the type about case and characters. */
function folded(purl: Purl): Purl {
  const lowerCase = purlType(purl.type).lowerCase;
  if (lowerCase === undefined && purl.type !== 'mlflow') return purl;
  const result = { ...purl };
  for (const part of lowerCase ?? []) {
    const text = result[part];
    if (text !== undefined) result[part] = text.toLowerCase();
  }
  if (purl.type === 'pypi') result.name = result.name.replaceAll('_', '-');
  if (purl.type === 'pub') result.name = result.name.replace(/[^a-z0-9_]/g, '_');
  // Azure Databricks ignores the case of models, other MLflow registries do not.
  if (purl.type === 'mlflow' && purl.qualifiers.repository_url?.includes('databricks')) result.name = result.name.toLowerCase();
  return result;
}

function followsType({ type, namespace, name, version, qualifiers }: Purl): boolean {
  const rules = purlType(type);
  if (rules.namespace === 'required' && namespace === undefined) return false;
  if (rules.namespace === 'prohibited' && namespace !== undefined) return false;
  if (rules.name?.test(name) === false) return false;
  if (version !== undefined && rules.version?.test(version) === false) return false;
  return (rules.qualifiers ?? []).every((key) => qualifiers[key] !== undefined);
}

const segments = (text: string) => text.split('/').map(encoded).join('/');

/** Percent-encodes all but letters, digits and `.-_~:`. `encodeURIComponent` leaves more than that. A lone surrogate has no encoding and is replaced. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%3A', ':');
}
