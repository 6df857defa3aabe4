import { isSystemPackage, parsePurl } from '@rrs/scan-reports/purl.ts';
import { compoundsOf, JOINT, JOINTS, SECTIONS } from '../words.ts';

/** What a search requires of the lexemes of a finding. An `id` stands for the id and its aliases. */
export type Match = { word: string; prefix?: boolean } | { id: string } | { any: Match[] } | { all: Match[] };

/**
 * What a query requires: every word as a whole or as the beginning of a longer one, or all parts of a compound ("git.example.com" may be part of a URL).
 * Ids, CWEs and versions match as a whole, because CVE-2021-4422 is not CVE-2021-44228. Single letters are ignored. A query without words matches nothing.
 */
export function searchFor(query: string): Match {
  const required: Match[] = [];
  const rest = query.replaceAll(PURL, (purl) => {
    const match = purlMatch(purl);
    if (match) required.push(match);
    return match ? ' ' : purl;
  });
  for (const compound of compoundsOf(rest)) if (compound.length > 1 || isVersion(compound)) required.push(compoundMatch(compound));
  return required.length === 0 ? { word: 'w:' } : { all: required };
}

/** The ids that a search may name. Their aliases find the same findings. */
export function idsIn(match: Match): string[] {
  if ('id' in match) return [match.id];
  if ('any' in match) return match.any.flatMap(idsIn);
  return 'all' in match ? match.all.flatMap(idsIn) : [];
}

/** Whether a search also finds longer words. */
export function hasPrefix(match: Match): boolean {
  if ('any' in match) return match.any.some(hasPrefix);
  return 'all' in match ? match.all.some(hasPrefix) : 'prefix' in match && match.prefix === true;
}

/** Whether a search requires the id of a vulnerability. */
export function requiresId(match: Match): boolean {
  return 'id' in match || ('any' in match && match.any.some(requiresId));
}

const PURL = /\bpkg:\/*[a-z0-9.+-]+\/\S+/gi;
const WHOLE_ID = /^(?:cve-\d{4}-\d{4,}|ghsa(?:-[a-z0-9]{4}){3})$/;
const MAYBE_ID = /^[a-z]+-.*\d/;
const CWE = /^cwe-(\d{1,5})$/;
const MIN_PREFIX = 3;
/**
 * The last part of a longer name is searched for as the beginning of a word only if it has more letters than the ends of most hosts, such as "com" and "net":
 * the index reads the entries of all words that begin like it.
 */
const NAME_PARTS = 3;

const isVersion = (word: string): boolean => /^\d[\d.]*$/.test(word);
const whole = (word: string): Match => ({ word: `w:${word}` });
const beginning = (word: string): Match => ({ word: `w:${word}`, prefix: word.length >= MIN_PREFIX });

function compoundMatch(compound: string): Match {
  if (WHOLE_ID.test(compound)) return { any: [{ id: compound }, whole(compound)] };
  const [, cwe] = CWE.exec(compound) ?? [];
  if (cwe) return { any: [{ word: `k:${Number(cwe)}` }, whole(compound)] };
  const any = isVersion(compound) ? versionMatches(compound) : [beginning(compound)];
  if (MAYBE_ID.test(compound)) any.push({ id: compound });
  if (compound.includes('-') && compound.length >= MIN_PREFIX) any.push({ word: `v:${compound}`, prefix: true });
  // The epoch of a distribution's version is not stored.
  if (/^\d+:\d/.test(compound)) any.push(beginning(compound.replace(/^\d+:/, '')));
  const parts = JOINT.test(compound) ? sectionMatches(compound) : null;
  return { any: parts ? [...any, { all: parts }] : any };
}

/** "2.0" also finds 2.0.1 and 2.0-rc1, but not 2.01. */
function versionMatches(version: string): Match[] {
  return [whole(version), { word: `w:${version}.`, prefix: true }, { word: `w:${version}-`, prefix: true }];
}

/** All sections of a compound, each as a whole or by its parts. Null if one of them is too short to be a word. */
function sectionMatches(compound: string): Match[] | null {
  const sections = compound.split(SECTIONS);
  const matches: Match[] = [];
  for (const [at, section] of sections.entries()) {
    const isLast = at === sections.length - 1;
    const parts = section.split(JOINTS);
    const any: Match[] = [];
    if (sections.length > 1 && isVersion(section)) any.push(...versionMatches(section));
    else if (sections.length > 1 && section.length > 1) any.push(isLast ? beginning(section) : whole(section));
    if (parts.length > 1 && parts.every((part) => part.length > 1)) {
      const endsHost = (part: string) => parts.length >= NAME_PARTS && part.length <= MIN_PREFIX;
      any.push({ all: parts.map((part, nth) => (isLast && nth === parts.length - 1 && !endsHost(part) ? beginning(part) : whole(part))) });
    }
    if (any.length === 0) return null;
    matches.push({ any });
  }
  return matches;
}

/** The component and the version that a package URL names. Tools that leave out the group of Maven write only the name. */
function purlMatch(text: string): Match | null {
  const purl = parsePurl(text);
  if (!purl) return null;
  const { type, namespace, name, version } = purl;
  const words = (value: string): Match[] =>
    compoundsOf(value).map((compound) => ({ any: [whole(compound), { all: sectionMatches(compound) ?? [] }].filter(isUsable) }));
  const all = [...(namespace === undefined || isSystemPackage(type) ? [] : words(namespace)), ...words(name)];
  const component: Match[] = type === 'maven' ? [{ any: [{ all }, whole(name.toLowerCase())] }] : all;
  return { all: [...component, ...(version === undefined ? [] : compoundsOf(version.replace(/^\d+:/, '')).map(whole))] };
}

const isUsable = (match: Match): boolean => !('all' in match) || match.all.length > 0;
