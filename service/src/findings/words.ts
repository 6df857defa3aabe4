import type { Observation } from '@rrs/scan-reports';
import { remembered } from '@rrs/scan-reports/remembered.ts';
import { normalPath } from './identity/paths.ts';

type Described = Pick<Observation, 'vulnerability_ids' | 'cwes' | 'tags' | 'title' | 'rule' | 'tool' | 'location'>;

/**
 * The words by which the index findings_by_facet finds a finding, except those of its sources. Every word is stored with each finding, so what a query can
 * be translated into (ids, CWEs, package URLs, beginnings of words) is not stored a second time.
 */
export function wordsOf({ vulnerability_ids, cwes, tags, title, rule, tool, location }: Described, assetName: string): string[] {
  const words = new Set<string>();
  for (const id of vulnerability_ids) {
    words.add(`v:${id.toLowerCase()}`);
    const [, number] = CVE_NUMBER.exec(id) ?? [];
    if (number) words.add(`w:${number}`);
  }
  for (const cwe of cwes) words.add(`k:${cwe}`);
  for (const tag of tags) words.add(`t:${tag.toLowerCase()}`);
  const add = (word: string): void => void words.add(`w:${word}`);
  // The rule of a finding that a person created is an id.
  if (rule !== null && tool !== 'manual') for (const word of ruleWords(rule)) words.add(word);
  if (location.path !== undefined) for (const word of pathWords(location.path)) words.add(word);
  if (location.version !== undefined) versionWords(location.version).forEach(add);
  if (location.source_package !== undefined) compoundsOf(location.source_package).filter(isKept).forEach(add);
  for (const text of [location.component ?? '', assetName, title]) for (const word of wordsIn(text)) words.add(word);
  return [...words];
}

/** The words of a name or title, as they are stored. */
const wordsIn = remembered((text: string): readonly string[] => splitWords(text).map((word) => `w:${word}`));

/** The words of an asset's name, among those of `wordsOf`. */
export function wordsOfName(name: string): string[] {
  return [...wordsIn(name)];
}

const CVE_NUMBER = /^CVE-\d+-(\d+)$/i;
const MAX_WORDS = 60;
/** Most folders of a path and parts of a rule that are words of their own. Each word of a finding takes about 10 bytes and some time of its import. */
export const MAX_PARTS = 5;
const MAX_LENGTH = 100;

/** The words of a text and the parts of compound words: "log4j-core" is also "log4j" and "core". */
export function splitWords(text: string): string[] {
  const compounds = compoundsOf(text);
  const words = new Set<string>();
  for (const compound of compounds) if (isKept(compound)) words.add(compound);
  for (const compound of compounds) {
    if (!JOINT.test(compound)) continue;
    for (const section of compound.split(SECTIONS)) {
      const parts = section.split(JOINTS);
      // A section with a part that is too short to be a word, such as "1.4", can be found only as a whole.
      if (parts.some(isShort) && isKept(section)) words.add(section);
      for (const part of parts) if (!isShort(part)) words.add(cut(part));
    }
  }
  return words.size > MAX_WORDS ? [...words].slice(0, MAX_WORDS) : [...words];
}

/** A path as a whole, the name of the file, and those of the folders that are nearest to it. */
const pathWords = remembered((path: string): readonly string[] => {
  const plain = normalPath(path);
  const names = plain.split('/').flatMap(wholeWords);
  return stored([...wholeWords(plain), ...names.slice(-1), ...nearest(names.slice(0, -1))]);
});

/** A rule as a whole, and its parts: `audit` and `eval-detected` of `lang.security.audit.eval-detected`. */
const ruleWords = remembered((rule: string): readonly string[] => {
  const compounds = wholeWords(rule);
  const parts = compounds.flatMap((compound) => compound.split(RULE_PARTS));
  return stored([...compounds, ...parts.slice(-1).filter(isName), ...nearest(parts.slice(0, -1))]);
});

const nearest = (parts: readonly string[]): string[] => parts.filter(isName).slice(-MAX_PARTS);
const stored = (words: readonly string[]): string[] => [...new Set(words)].map((word) => `w:${word}`);

/** A version without the epoch of distributions. */
function versionWords(version: string): string[] {
  return wholeWords(version.replace(/^\d+:/, ''));
}

/** The words of a path, rule or version, without the parts of compounds. */
export function wholeWords(text: string): string[] {
  return compoundsOf(text).filter(isKept);
}

export function compoundsOf(text: string): string[] {
  const lower = text.toLowerCase();
  return (lower.match(ASCII.test(lower) ? ASCII_WORD : WORD) ?? []).map(cut);
}

const cut = (word: string): string => (word.length > MAX_LENGTH ? word.slice(0, MAX_LENGTH) : word);
const isName = (part: string): boolean => part.length > 1;
const isShort = (part: string): boolean => part.length < 2;
/** Single letters are not words. Single digits are often versions. */
const isKept = (word: string): boolean => word.length > 1 || DIGIT.test(word);

const DIGIT = /^\d$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const ASCII = /^[\x00-\x7f]*$/;
/** Finds the same words as WORD in ASCII text, much faster. */
const ASCII_WORD = /[a-z0-9]+(?:[._@/:-]+[a-z0-9]+)*/g;
const WORD = /[\p{L}\p{N}]+(?:[._@/:-]+[\p{L}\p{N}]+)*/gu;
/** Pattern that a query must contain to have at least one word. */
export const SOME_WORD = '[\\p{L}\\p{N}][._@/:-]*[\\p{L}\\p{N}]';
export const JOINT = /[._@/:-]/;
export const JOINTS = /[._@/:-]+/;
/** Between the sections of a compound: host and path, name and version. */
export const SECTIONS = /[@/:]+/;
const RULE_PARTS = /[./:]+/;
