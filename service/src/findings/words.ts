import type { Observation } from '@rrs/scan-reports';

/** What the list can be searched by as a word, but for the sources: see the index findings_by_facet. */
export function wordsOf(observation: Pick<Observation, 'vulnerability_ids' | 'cwes' | 'tags' | 'title' | 'location'>, assetName: string): string[] {
  const words = new Set<string>();
  for (const id of observation.vulnerability_ids) words.add(`v:${id.toLowerCase()}`);
  for (const cwe of observation.cwes) words.add(`k:${cwe}`);
  for (const tag of observation.tags) words.add(`t:${tag.toLowerCase()}`);
  const text = [observation.title, observation.location.component ?? '', assetName, ...observation.vulnerability_ids].join(' ');
  for (const word of splitWords(text)) words.add(`w:${word}`);
  return [...words];
}

const MOST = 60;
const LONGEST = 100;

/** Words of a text and the parts of compound ones: "log4j-core" is also "log4j" and "core". */
export function splitWords(text: string): string[] {
  const compounds = compoundsOf(text);
  const words = new Set<string>();
  const add = (word: string): void => {
    if (isKept(word)) words.add(word);
  };
  for (const compound of compounds) add(compound);
  for (const compound of compounds) if (JOINT.test(compound)) for (const part of compound.split(JOINTS)) add(part);
  return words.size > MOST ? [...words].slice(0, MOST) : [...words];
}

/** What is sought is there as a whole, or in its parts: "git.example.com" may be in the midst of an address. Where there is no word, nothing is found. */
export function soughtWords(query: string): { whole: string; parts: string[] }[] {
  const sought = compoundsOf(query).filter((compound) => compound.length > 1);
  if (sought.length === 0) return [{ whole: '', parts: [] }];
  return sought.map((whole) => ({ whole, parts: JOINT.test(whole) ? whole.split(JOINTS).filter(isKept) : [] }));
}

function compoundsOf(text: string): string[] {
  const lower = text.toLowerCase();
  return lower.match(ASCII.test(lower) ? ASCII_WORD : WORD) ?? [];
}

const isKept = (word: string): boolean => word.length > 1 && word.length <= LONGEST;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;
/** The same words as WORD finds, at a fraction of the cost. */
const ASCII_WORD = /[a-z0-9]+(?:[._@/:-]+[a-z0-9]+)*/g;
const WORD = /[\p{L}\p{N}]+(?:[._@/:-]+[\p{L}\p{N}]+)*/gu;
/** What a search must have for there to be a word in it. */
export const SOME_WORD = '[\\p{L}\\p{N}][._@/:-]*[\\p{L}\\p{N}]';
const JOINT = /[._@/:-]/;
const JOINTS = /[._@/:-]+/;
