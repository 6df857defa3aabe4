import type { InputOf } from '@rrs/client';
import { term } from '../parts/words.ts';
import type { Query } from './query.ts';

/** A filter of a list of the API: its name, and what values it takes. */
export interface Filter {
  name: string;
  label: string;
  /** Fixed values. Without them, any text. */
  options?: readonly string[];
  /** Whether several values can be given, separated by commas. */
  isList?: boolean;
  /** The values that exist are asked for while somebody types. */
  known?: KnownField;
}

/** What people call a value of a filter. */
export type NameOf = (filter: Filter, value: string) => string;
const asInApi: NameOf = (_filter, value) => value;

/** The filters whose values the API can complete. */
export type KnownField = InputOf<'suggestFilterValues'>['query']['field'];

export interface Token {
  name: string;
  value: string;
}

/** `severity:critical,high kev:true log4j`: filters by name, and words to search for. A value with spaces is in quotes. */
export function parseFilters(text: string, filters: readonly Filter[]): { tokens: Token[]; unknown: string[] } {
  const tokens: Token[] = [];
  const words: string[] = [];
  const unknown: string[] = [];
  for (const [part] of text.matchAll(/(?:[^\s"]|"[^"]*")+/g)) {
    const colon = part.indexOf(':');
    const name = colon > 0 ? part.slice(0, colon).toLowerCase() : '';
    const value = part.slice(colon + 1).replaceAll('"', '');
    if (filters.some((filter) => filter.name === name)) {
      if (value !== '') tokens.push({ name, value });
    } else if (colon > 0 && /^[a-z_]+$/.test(name) && !/^\/\//.test(value)) unknown.push(name);
    else words.push(part.replaceAll('"', ''));
  }
  if (words.length > 0) tokens.push({ name: 'q', value: words.join(' ') });
  return { tokens, unknown };
}

/** The query with these filters. Values of a list are added to those that are there. */
export function addFilters(query: Query, tokens: readonly Token[], filters: readonly Filter[]): Record<string, string> {
  const result: Record<string, string> = { ...query };
  for (const { name, value } of tokens) {
    const before = result[name];
    const isList = filters.find((filter) => filter.name === name)?.isList ?? false;
    result[name] = isList && before ? [...new Set([...before.split(','), ...value.split(',')])].join(',') : value;
  }
  return result;
}

export interface Suggestion {
  /** What the field contains after it was chosen. A filter that is complete is applied. */
  text: string;
  label: string;
  hint: string;
  isComplete: boolean;
}

const MOST_SUGGESTIONS = 12;

/** The value that is being typed, of a filter whose values the API knows. */
export function typedValue(text: string, filters: readonly Filter[]): { filter: Filter; field: KnownField; prefix: string } | null {
  const word = text.slice(startOfLastWord(text));
  const colon = word.indexOf(':');
  const filter = colon < 0 ? undefined : filters.find(({ name }) => name === word.slice(0, colon).toLowerCase());
  if (filter?.known === undefined) return null;
  const prefix = word.slice(colon + 1).replaceAll('"', '');
  return { filter, field: filter.known, prefix: prefix.slice(prefix.lastIndexOf(',') + 1) };
}

/** What the last word could become. `known` are the values that the API has for what is being typed. */
export function suggest(text: string, filters: readonly Filter[], known: readonly string[] = [], nameOf = asInApi): Suggestion[] {
  const start = startOfLastWord(text);
  const before = text.slice(0, start);
  const word = text.slice(start);
  const colon = word.indexOf(':');
  if (colon < 0) {
    return filters
      .filter(({ name, label }) => (word === '' ? name !== 'q' : `${name} ${label}`.toLowerCase().includes(word.toLowerCase())))
      .slice(0, MOST_SUGGESTIONS)
      .map(({ name, label, options }) => ({
        text: `${before}${name}:`,
        label,
        hint: options ? options.slice(0, 3).map(term).join(', ') : `${name}:…`,
        isComplete: false,
      }));
  }
  const filter = filters.find(({ name }) => name === word.slice(0, colon).toLowerCase());
  if (filter === undefined) return [];
  const written = word.slice(colon + 1).replaceAll('"', '');
  const values = filter.isList ? written.split(',') : [written];
  const last = values.pop()?.toLowerCase() ?? '';
  return (filter.options ?? known)
    .filter((option) => option.toLowerCase().includes(last) && !values.includes(option))
    .slice(0, MOST_SUGGESTIONS)
    .map((option) => ({
      text: `${before}${filter.name}:${quoted([...values, option].join(','))}`,
      label: filter.options ? term(option) : nameOf(filter, option),
      hint: filter.label,
      isComplete: true,
    }));
}

/** A value with spaces is in quotes. */
export const quoted = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

/** A space inside quotes does not end a word. */
function startOfLastWord(text: string): number {
  let start = 0;
  let isQuoted = false;
  for (const [index, character] of [...text].entries()) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /\s/.test(character)) start = index + 1;
  }
  return start;
}

/** How a filter reads on its chip: "Severity: critical or high". */
export function chipText(filter: Filter, value: string, nameOf = asInApi): string {
  const { label, options } = filter;
  const values = value.split(',');
  const words = values.map((one) => (options ? term(one).toLowerCase() : nameOf(filter, one)));
  if (options?.length === 2 && options[0] === 'true') return value === 'true' ? label : `Not ${label.charAt(0).toLowerCase()}${label.slice(1)}`;
  return `${label}: ${words.length > 2 ? `${words.slice(0, 2).join(', ')} or ${words.length - 2} more` : words.join(' or ')}`;
}
