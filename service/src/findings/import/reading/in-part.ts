import type { About, Location, ReportEntry, ReportFormat, RunFacts } from '@rrs/scan-reports';
import { folderPath, normalPath } from '../../identity/paths.ts';

/**
 * The format for reports on a part of a repository (`scan_scope.path`), with paths as they are in the repository. Files with the same path in two parts are
 * different files.
 */
export function inPart(format: ReportFormat, part: string | undefined): ReportFormat {
  const scanned = folderPath(part ?? '');
  if (scanned === '') return format;
  const { about } = format;
  const join = joinedWith(IS_FILE.test(scanned) ? scanned.split('/').slice(0, -1).join('/') : scanned);
  return {
    ...format,
    ...(about && { about: async (input) => aboutPart(await about(input), join) }),
    async *read(input) {
      for await (const entry of format.read(input)) yield entryOfPart(entry, scanned, join);
    },
  };
}

/** A scope can name a folder or a file, such as a lock file. Folders can have dots in their names, too. */
const IS_FILE =
  /(?:\.(?:json|ya?ml|xml|toml|txt|lock|lockb|lockfile|mod|sum|gradle|kts|resolved|gemspec|sbt|cfg|tf|\w+proj)|\/?(?:Dockerfile|Gemfile|Pipfile|Podfile))$/i;

type Join = (path: string) => string;

/** Tools that were started in the root of the repository, and those that print absolute paths, name the folder themselves. */
function joinedWith(folder: string): Join {
  return (path) => {
    const plain = normalPath(path);
    const isAbsolute = /^(?:[\\/]|[a-z]:|file:)/i.test(path);
    const names = folder === '' || plain === folder || plain.startsWith(`${folder}/`) || (isAbsolute && plain.includes(`/${folder}/`));
    return names || path === '.' ? path : folderPath(`${folder}/${plain}`);
  };
}

function entryOfPart(entry: ReportEntry, scanned: string, join: Join): ReportEntry {
  if ('run' in entry) return { run: factsOfPart(entry.run, join) };
  if (!('observation' in entry)) return entry;
  const { observation } = entry;
  return { observation: { ...observation, location: locationInPart(observation.location, scanned, join) } };
}

/** What is only known to be in a component is in the part as a whole. */
function locationInPart(location: Location, scanned: string, join: Join): Location {
  const { path, url, port, component, purl } = location;
  if (path !== undefined) return { ...location, path: join(path) };
  const isOnlyComponent = url === undefined && port === undefined && (component !== undefined || purl !== undefined);
  return isOnlyComponent ? { ...location, path: scanned } : location;
}

function factsOfPart(facts: RunFacts, join: Join): RunFacts {
  const { files, hidden_in } = facts;
  return { ...facts, ...(files && { files: files.map(join) }), ...(hidden_in && { hidden_in: hidden_in.map(join) }) };
}

function aboutPart(about: About, join: Join): About {
  const { unread, skipped } = about;
  const inFile = (path: string | null): string | null => (path === null || path.includes('://') ? path : join(path));
  return { ...about, unread: unread.map(join), ...(skipped && { skipped: skipped.map(({ rule, path }) => ({ rule, path: inFile(path) })) }) };
}
