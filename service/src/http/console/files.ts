import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** The encodings that the build writes next to each file, the smallest first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

export interface ConsoleFile {
  content: Buffer;
  etag: string;
  type: string;
  encoding: string | null;
}

/**
 * The files of a built console. They are few and small, so each stays in memory once it was asked for.
 * A new build replaces the folder: its index page has another time of modification, and everything is read again.
 */
export function openFiles(folder: string) {
  let known: { builtAt: number; names: ReadonlySet<string>; read: Map<string, Promise<Buffer>> } | null = null;

  const current = async () => {
    const builtAt = await stat(join(folder, 'index.html')).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    if (builtAt === null) known = null;
    else if (known?.builtAt !== builtAt) known = { builtAt, names: await namesIn(folder), read: new Map() };
    return known;
  };

  return {
    /** Returns `null` if the build has no such file. `name` is the path in the folder, with "/" as separator. */
    async find(name: string, acceptEncoding: string): Promise<ConsoleFile | null> {
      const build = await current();
      if (!build?.names.has(name)) return null;
      const [encoding, suffix] = encodings.find(([token, ending]) => accepts(acceptEncoding, token) && build.names.has(`${name}${ending}`)) ?? [null, ''];
      const path = `${name}${suffix}`;
      const reading = build.read.get(path) ?? readFile(join(folder, path));
      build.read.set(path, reading);
      const content = await reading.catch(() => null);
      if (content === null) return null;
      return {
        content,
        encoding,
        etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
        type: mediaTypes[extname(name)] ?? 'application/octet-stream',
      };
    },
  };
}

async function namesIn(folder: string): Promise<ReadonlySet<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return new Set(entries.flatMap((entry) => (entry.isFile() ? relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/') : [])));
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [token, quality] = part.split(';').map((piece) => piece.trim().toLowerCase());
    return token === encoding && !/^q=0(?:\.0*)?$/.test(quality ?? '');
  });
}
