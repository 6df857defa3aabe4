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
  const expression = new RegExp(`^${sourceOf(segment)}$`, 'su');
  return (name) => expression.test(name) && (segment.startsWith('.') || !name.startsWith('.'));
}

function sourceOf(segment: string): string {
  let source = '';
  for (let at = 0; at < segment.length; at++) {
    const [character = '', end] = [segment[at], segment.indexOf(']', at + 2)];
    if (character === '*') source += source.endsWith('.*') ? '' : '.*';
    else if (character === '?') source += '.';
    else if (character === '[' && end !== -1) {
      const set = segment.slice(at + 1, end);
      source += `[${set.startsWith('!') ? '^' : ''}${set.replace(/^!/, '').replaceAll(/[\\^]/g, '\\$&')}]`;
      at = end;
    } else source += character.replace(/[.+^${}()|[\]\\]/, '\\$&');
  }
  return source;
}
