import type { Observation } from '@rrs/scan-reports';

/** The words by which the index findings_by_facet finds a finding, except those of its sources. */
export function wordsOf(observation: Pick<Observation, 'vulnerability_ids' | 'cwes' | 'tags' | 'title' | 'location'>, assetName: string): string[] {
  const words = new Set<string>();
  for (const id of observation.vulnerability_ids) words.add(`v:${id.toLowerCase()}`);
  for (const cwe of observation.cwes) words.add(`k:${cwe}`);
  for (const tag of observation.tags) words.add(`t:${tag.toLowerCase()}`);
  const text = [observation.title, observation.location.component ?? '', assetName, ...observation.vulnerability_ids].join(' ');
  for (const word of splitWords(text)) words.add(`w:${word}`);
  return [...words];
}

const MAX_WORDS = 60;
const MAX_LENGTH = 100;

/** The words of a text and the parts of compound words: "log4j-core" is also "log4j" and "core". */
export function splitWords(text: string): string[] {
  const compounds = compoundsOf(text);
  const words = new Set<string>();
  const add = (word: string): void => {
    if (isKept(word)) words.add(word);
  };
  for (const compound of compounds) add(compound);
  for (const compound of compounds) if (JOINT.test(compound)) for (const part of compound.split(JOINTS)) add(part);
  return words.size > MAX_WORDS ? [...words].slice(0, MAX_WORDS) : [...words];
}

/** The words of a query. Each matches as a whole or by all its parts: "git.example.com" may be part of a URL. A query without words matches nothing. */
export function queryWords(query: string): { whole: string; parts: string[] }[] {
  const compounds = compoundsOf(query).filter((compound) => compound.length > 1);
  if (compounds.length === 0) return [{ whole: '', parts: [] }];
  return compounds.map((whole) => ({ whole, parts: JOINT.test(whole) ? whole.split(JOINTS).filter(isKept) : [] }));
}

function compoundsOf(text: string): string[] {
  const lower = text.toLowerCase();
  return lower.match(ASCII.test(lower) ? ASCII_WORD : WORD) ?? [];
}

const isKept = (word: string): boolean => word.length > 1 && word.length <= MAX_LENGTH;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const ASCII = /^[\x00-\x7f]*$/;
/** Finds the same words as WORD in ASCII text, much faster. */
const ASCII_WORD = /[a-z0-9]+(?:[._@/:-]+[a-z0-9]+)*/g;
const WORD = /[\p{L}\p{N}]+(?:[._@/:-]+[\p{L}\p{N}]+)*/gu;
/** Pattern that a query must contain to have at least one word. */
export const SOME_WORD = '[\\p{L}\\p{N}][._@/:-]*[\\p{L}\\p{N}]';
const JOINT = /[._@/:-]/;
const JOINTS = /[._@/:-]+/;
