import type { ReportInput } from '../../contract.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues } from '../../json/values.ts';
import { truncate } from '../../names/clean-text.ts';
import { arr, type Obj, obj, str, strs } from '../../shared/read.ts';

/** How a vulnerable package got into a project. */
export interface Ways {
  /** The shortest ones. */
  paths: readonly string[];
  /** How many paths there are. */
  count: number;
  /** The versions of direct dependencies that have a fix. */
  upgrades: readonly string[];
}

const NO_WAYS: Ways = { paths: [], count: 0, upgrades: [] };
const MAX_WAYS = 20;
const MAX_LENGTH = 300;
/** What is known of them is kept in memory. Records of further vulnerabilities state only their own path. */
const MAX_VULNERABILITIES = 5_000;

/** Snyk writes a record for each dependency path to a package. They are one finding, so each record states the paths of all. */
export async function readWays(input: ReportInput, patterns: readonly string[]) {
  const known = new Map<string, Ways>();
  for await (const { path, value } of jsonValues(input, patterns)) {
    const entry = obj(value);
    const key = keyOf(path, entry);
    if (known.has(key) || known.size < MAX_VULNERABILITIES) known.set(key, withOwn(known.get(key), entry));
  }
  return (path: JsonValue['path'], entry: Obj): Ways => known.get(keyOf(path, entry)) ?? withOwn(NO_WAYS, entry);
}

export function nameOf({ name, packageName, moduleName }: Obj): string | undefined {
  return str(name) ?? str(packageName) ?? str(moduleName);
}

/** Packages of a distribution that were built from one source package ("openssl/libssl1.1") are one finding. So are those of all applications of an image. */
function keyOf([project]: JsonValue['path'], entry: Obj): string {
  return kept([typeof project === 'number' ? project : '', str(entry.id), nameOf(entry)?.replace(/^([^/]+)\/[^/]+$/, '$1')].join('\n'));
}

function withOwn({ paths, count, upgrades }: Ways = NO_WAYS, entry: Obj): Ways {
  const added = pathsOf(entry).filter((path) => !paths.includes(path));
  // The first text in the upgrade path is the new version of the direct dependency.
  const upgrade = strs(arr(entry.upgradePath).find((step) => typeof step === 'string')).map(kept);
  return { paths: shortest([...paths, ...added]), count: count + added.length, upgrades: shortest([...upgrades, ...upgrade]) };
}

/** The order does not depend on that of the records. */
function shortest(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_WAYS);
}

/** With --group-issues, a record has a list of paths. A path begins with the project, whose version changes with each build. */
function pathsOf({ from }: Obj): string[] {
  const paths = arr(from).some(Array.isArray) ? arr(from).map((path) => strs(path)) : [strs(from)];
  return paths.flatMap(([project, ...rest]) => {
    if (project === undefined) return [];
    return kept([rest.length > 0 ? project.replace(/(?<=.)@[^@/]*$/, '') : project, ...rest].join(' > '));
  });
}

/** A copy, because a part of a text keeps all of it in memory. */
function kept(text: string): string {
  return Buffer.from(truncate(text, MAX_LENGTH)).toString();
}

export function pathText({ paths, count }: Ways): string | undefined {
  const [first, ...others] = paths;
  if (others.length === 0) return first && `Introduced through: ${first}`;
  const more = count > paths.length ? [`${count - paths.length} more`] : [];
  return ['Introduced through:', ...[...paths, ...more].map((line) => `- ${line}`)].join('\n');
}

export function upgradeText({ upgrades }: Ways): string {
  return upgrades.map((version) => `Upgrade to ${version}`).join('\n');
}
