interface Purl {
  type: string;
  namespace: string | undefined;
  name: string;
  version: string | undefined;
}

/** `pkg:type/namespace/name@version?qualifiers#subpath`; null when it is none. */
export function parsePurl(text: string | undefined): Purl | null {
  const [, type, rest] = /^pkg:\/*([a-z][a-z0-9.+-]*)\/+([^?#]+)/i.exec(text ?? '') ?? [];
  if (type === undefined || rest === undefined) return null;
  const at = rest.lastIndexOf('@');
  // An "@" at the beginning or after a "/" belongs to the name of a scope that somebody forgot to encode.
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

const PACKAGES_OF_SYSTEMS = ['deb', 'rpm', 'apk', 'alpm'];

/** The name that the package's own manager has for it: `group:name` for Maven, `@scope/name` for npm; a distribution is no part of it. */
export function packageName(group: string | undefined, name: string, type: string | undefined): string {
  if (group === undefined || PACKAGES_OF_SYSTEMS.includes(type ?? '')) return name;
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
