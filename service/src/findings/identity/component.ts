import type { Location } from '@rrs/scan-reports';
import { isSystemPackage, type Purl, parsePurl } from '@rrs/scan-reports/purl.ts';

/**
 * The component that a finding is in, without its version.
 *
 * Observations whose `key` is equal are in the same component. Not every tool names the ecosystem or the whole name, so components with different
 * keys can still be the same. To join them, compare the components of one weakness on one asset with `sameComponent`. The candidates are those that
 * share `short`, and those whose `binary` is the other's `name` or `binary`. Join an incomplete key with a complete one only if exactly one complete
 * key matches: `sameComponent` is not transitive, and `core` matches both `@babel/core` and `@angular/core`.
 */
export interface Component {
  /** Type of package URL. Null if unknown. */
  ecosystem: string | null;
  /** The whole name in the spelling that all names of the ecosystem's package share, with "/" after the group. The source package if it is known. */
  name: string;
  /** The last part of the name, with "-" for "_" and ".": `log4j-core`. */
  short: string;
  /** The package that is installed, if it belongs to a distribution. */
  binary: string | null;
  /** `ecosystem/name`, or `/name` without an ecosystem. */
  key: string;
}

/** Null if the location names no component. */
export function componentOf(location: Location): Component | null {
  const purl = parsePurl(location.purl);
  const given = purl ? nameIn(purl) : location.component?.trim();
  if (given === undefined || given === '') return null;
  const ecosystem = (purl ? ecosystemOf(purl.type) : null) ?? ecosystemOf(location.ecosystem);
  if (isSystemPackage(ecosystem)) return ofDistribution(ecosystem, given, location.source_package ?? purl?.qualifiers.upstream);
  const name = foldedName(ecosystem, given);
  return { ecosystem, name, short: shortName(name), binary: null, key: `${ecosystem ?? ''}/${name}` };
}

/** Types of package URLs that say nothing about the ecosystem. `generic` is software outside of ecosystems. */
const NO_ECOSYSTEM = new Set(['', 'generic', 'unknown']);

function ecosystemOf(type: string | undefined): string | null {
  const ecosystem = type?.trim().toLowerCase() ?? '';
  // Workflows name an action by its repository, and some tools by a type of its own.
  if (ecosystem === 'githubactions') return 'github';
  return NO_ECOSYSTEM.has(ecosystem) ? null : ecosystem;
}

/** Whether two components may be the same. See `Component` for what to do if one matches several others. */
export function sameComponent(a: Component, b: Component): boolean {
  if (a.key === b.key) return true;
  if (a.ecosystem !== null && b.ecosystem !== null && a.ecosystem !== b.ecosystem) return false;
  // Of two packages with one name, one source knew what it was built from.
  const [one, other] = [a.binary ?? a.name, b.binary ?? b.name];
  if (one === other || a.name === other || b.name === one) return true;
  // Within an ecosystem, only Maven has tools that leave out the group. An npm package without a scope is another package.
  const maySkipGroup = a.ecosystem === null || b.ecosystem === null || a.ecosystem === 'maven';
  if (!maySkipGroup || a.short !== b.short) return false;
  return loose(a.name) === loose(b.name) || !a.name.includes('/') || !b.name.includes('/');
}

/** Packages that were built from one source share its weaknesses, so they meet on the source package. */
function ofDistribution(ecosystem: string | null, given: string, stated: string | undefined): Component {
  // Snyk writes `source/binary`. The namespace of a package URL is not part of the name.
  const [first = given, second] = given.toLowerCase().split('/');
  const binary = second ?? first;
  const name = stated === undefined || stated.trim() === '' ? first : sourceName(stated);
  return { ecosystem, name, short: shortName(name), binary, key: `${ecosystem}/${name}` };
}

/** The name in `openssl`, `openssl@1.1.1`, `openssl (1.1.1)` and `openssl-1.1.1k-7.el8.src.rpm`. */
function sourceName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .split(/[@ (]/, 1)
    .join('')
    .replace(/-[^-]+-[^-]+\.src\.rpm$/, '');
}

function nameIn({ type, namespace, name }: Purl): string {
  return namespace === undefined || isSystemPackage(type) ? name : `${namespace}/${name}`;
}

/**
 * No registry has two packages whose names differ only in case and that share a vulnerability, and most ignore case, so case is ignored everywhere.
 * PyPI and crates.io also ignore the separator.
 */
function foldedName(ecosystem: string | null, given: string): string {
  const name = given.toLowerCase();
  if (ecosystem === 'pypi')
    return name
      .split('[', 1)
      .join('')
      .replace(/[-_.]+/g, '-');
  if (ecosystem === 'cargo') return name.replaceAll('_', '-');
  if (ecosystem === 'swift') return name.replace(/^https?:\/\//, '').replace(/\.git$/, '');
  if (ecosystem === 'maven') return name.replace(':', '/');
  return ecosystem === null ? name.replaceAll(':', '/') : name;
}

const loose = (name: string) => name.replace(/[-_.]+/g, '-');

function shortName(name: string): string {
  const parts = name.split('/').filter((part) => part !== '');
  // The last part of a Go module path can be a major version: github.com/acme/tool/v2.
  const last = parts.length > 1 && /^v\d+$/.test(parts.at(-1) ?? '') ? parts.at(-2) : parts.at(-1);
  return loose(last ?? name);
}

/** The component that was stored under its key. `installed` is the package as the source names it. */
export function componentOfKey(key: string, installed: string | null): Component {
  const [type = '', ...rest] = key.split('/');
  const ecosystem = type === '' ? null : type;
  const name = rest.join('/');
  const binary = isSystemPackage(ecosystem) ? (installed?.toLowerCase().split('/').at(-1) ?? name) : null;
  return { ecosystem, name, short: shortName(name), binary, key };
}

/** How much the name says: 2 if it is all, 1 without the group of a Maven artifact or the source of a distribution's package, 0 without the ecosystem. */
export function completeness({ ecosystem, name, binary }: Component): 0 | 1 | 2 {
  if (ecosystem === null) return 0;
  const isWhole = ecosystem === 'maven' ? name.includes('/') : !isSystemPackage(ecosystem) || (binary !== null && binary !== name);
  return isWhole ? 2 : 1;
}
