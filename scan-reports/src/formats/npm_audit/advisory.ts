import type { FixState, Observation } from '../../contract.ts';
import { cwesOf, idsIn, observation, required, severityOf } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { arr, type Obj, obj, str, strs } from '../../shared/read.ts';

interface Given {
  place: string;
  tool?: string;
  /** The package, if the advisory does not name it. */
  component?: string | undefined;
  version?: string | undefined;
  /** Folder of the installed package. */
  path?: string | undefined;
  description?: string | undefined;
  solution?: string | undefined;
  tags?: readonly string[];
  fixState?: FixState | undefined;
}

/** Converts a registry advisory about an installed package. Accepts the field names of all npm versions. */
export function advisoryOf(advisory: Obj, given: Given): Observation {
  const component = required(str(advisory.module_name) ?? given.component, 'the package name');
  const url = str(advisory.url);
  const ids = [...strs(advisory.cves), ...strs(advisory.github_advisory_id), ...idsIn(url)];
  const number = str(advisory.id) ?? str(advisory.source);
  // The registry renumbers an advisory whenever it changes, so the number is the last resort.
  const rule = required(ids.find((id) => /^GHSA-/i.test(id)) ?? number ?? ids[0], 'the advisory id');
  return observation({
    place: given.place,
    tool: given.tool ?? 'npm audit',
    rule,
    title: str(advisory.title) ?? `${rule} in ${component}`,
    description: [str(advisory.overview), given.description].filter(Boolean).join('\n\n'),
    solution: str(advisory.recommendation) ?? given.solution,
    severity: severityOf(str(advisory.severity)),
    tool_severity: str(advisory.severity),
    vulnerability_ids: ids,
    cwes: cwesOf(strs(advisory.cwe)),
    cvss: ratingOf(obj(advisory.cvss).vectorString, obj(advisory.cvss).score),
    references: [...(url ? [url] : []), ...strs(advisory.references).flatMap((text) => text.match(/https?:\/\/[^\s<>()[\]"']+/g) ?? [])],
    location: { component, version: given.version, fixed_version: fixedVersions(advisory).join(', '), ecosystem: 'npm', path: given.path },
    tags: [...(given.tags ?? [])],
    fix_state: given.fixState,
  });
}

/** Returns the lowest versions of the patched range. Without one, the first versions above the vulnerable range. */
function fixedVersions(advisory: Obj): string[] {
  const patched = str(advisory.patched_versions);
  const vulnerable = str(advisory.vulnerable_versions) ?? str(advisory.range);
  const found = patched === undefined ? vulnerable?.matchAll(/<(?!=)\s*v?(\d[\w.+-]*)/g) : patched.matchAll(/>=\s*v?(\d[\w.+-]*)/g);
  return [...new Set([...(found ?? [])].map(([, version]) => version as string))];
}

const MAX_PATHS = 20;

/** Yields the installed versions and paths of an advisory (npm 6, pnpm, Yarn 1 to 3). */
export function* foundIn(advisory: Obj, path?: string): Generator<{ version: string | undefined; paths: string[] }> {
  const findings = arr(advisory.findings).map(obj);
  const ofPath = path === undefined ? undefined : findings.find(({ paths }) => strs(paths).includes(path));
  for (const { version, paths } of ofPath ? [ofPath] : findings) yield { version: str(version), paths: path === undefined ? strs(paths) : [path] };
}

export function describePaths(found: readonly { version: string | undefined; paths: string[] }[]): string | undefined {
  const lines = found.flatMap(({ version, paths }) => paths.map((path) => `${path}${version ? ` (${version})` : ''}`));
  if (lines.length === 0) return undefined;
  const more = lines.length - MAX_PATHS;
  return ['Required by:', ...lines.slice(0, MAX_PATHS), ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}
