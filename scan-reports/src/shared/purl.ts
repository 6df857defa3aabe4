interface Purl {
  type: string;
  namespace: string | undefined;
  name: string;
  version: string | undefined;
}

/** Parses `pkg:type/namespace/name@version?qualifiers#subpath`. Null if the text is not a package URL. */
export function parsePurl(text: string | undefined): Purl | null {
  const [, type, rest] = /^pkg:\/*([a-z][a-z0-9.+-]*)\/+([^?#]+)/i.exec(text ?? '') ?? [];
  if (type === undefined || rest === undefined) return null;
  const at = rest.lastIndexOf('@');
  // An "@" at the beginning or after a "/" belongs to a scope name that was not percent-encoded.
  const hasVersion = at > 0 && rest[at - 1] !== '/';
  const parts = (hasVersion ? rest.slice(0, at) : rest)
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  const name = parts.pop();
  if (name === undefined) return null;
  return {
    type: type.toLowerCase(),
    namespace: parts.length > 0 ? parts.join('/') : undefined,
    name,
    version: hasVersion && at + 1 < rest.length ? decoded(rest.slice(at + 1)) : undefined,
  };
}

const SYSTEM_PACKAGE_TYPES = ['deb', 'rpm', 'apk', 'alpm'];

/** True for types of packages that a distribution builds. */
export function isSystemPackage(type: string | undefined): boolean {
  return SYSTEM_PACKAGE_TYPES.includes(type ?? '');
}

/** The name that the package manager uses: `group:name` for Maven, `@scope/name` for npm. For system packages, the group is the distribution and is dropped. */
export function packageName(group: string | undefined, name: string, type: string | undefined): string {
  if (group === undefined || isSystemPackage(type)) return name;
  const separator = type === 'maven' || (type === undefined && !group.startsWith('@') && !group.includes('/')) ? ':' : '/';
  return `${group}${separator}${name}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
