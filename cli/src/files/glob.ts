import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The files that a pattern with `*`, `**`, `?`, `[…]` or `{…}` means, sorted. Node 20 has no function for this. As in a shell, `*` skips hidden files. */
export async function glob(pattern: string, folder: string): Promise<string[]> {
  const found = await Promise.all(alternatives(pattern).map((one) => walk(one.startsWith('/') ? '/' : '', one.split('/').filter(Boolean), folder)));
  return [...new Set(found.flat())].sort();
}

/** "a.{json,xml}" means "a.json" and "a.xml". */
function alternatives(pattern: string): string[] {
  const [whole = '', list] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  return list === undefined ? [pattern] : list.split(',').flatMap((one) => alternatives(pattern.replace(whole, () => one)));
}

async function walk(path: string, [segment, ...rest]: readonly string[], folder: string): Promise<string[]> {
  if (segment === undefined) return [path];
  const place = path.startsWith('/') ? path : join(folder, path);
  if (!/[*?[]/.test(segment)) {
    const exists = await stat(join(place, segment)).catch(() => null);
    return exists === null ? [] : walk(join(path, segment), rest, folder);
  }
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  const isAnyDepth = segment === '**';
  const matches = isAnyDepth ? (name: string) => !name.startsWith('.') : matcherOf(segment);
  const deeper = entries
    .filter((entry) => matches(entry.name) && (rest.length === 0 || entry.isDirectory() || (entry.isSymbolicLink() && !isAnyDepth)))
    .map(({ name }) => walk(join(path, name), isAnyDepth && rest.length > 0 ? [segment, ...rest] : rest, folder));
  const here = isAnyDepth && rest.length > 0 ? await walk(path, rest, folder) : [];
  return [...here, ...(await Promise.all(deeper)).flat()];
}

function matcherOf(segment: string): (name: string) => boolean {
  const source = segment.replaceAll(/\*+|\?|\[[^\]]+\]|[^*?[]+|\[/g, (part) => {
    if (part.startsWith('*')) return '.*';
    if (part === '?') return '.';
    if (part.length > 1 && part.startsWith('['))
      return `[${part
        .slice(1, -1)
        .replace(/^!/, '^')
        .replaceAll(/[\\\]]/g, '\\$&')}]`;
    return part.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  });
  const expression = new RegExp(`^${source}$`, 'su');
  return (name) => expression.test(name) && (segment.startsWith('.') || !name.startsWith('.'));
}
