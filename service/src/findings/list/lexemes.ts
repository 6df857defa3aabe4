import type { Match } from './search.ts';

/** Text of a tsquery. */
type Query = string;

export function anyOf(queries: readonly Query[]): Query {
  return queries.length === 1 ? (queries[0] ?? NOTHING) : queries.length === 0 ? NOTHING : `(${queries.join(' | ')})`;
}

export function allOf(queries: readonly Query[]): Query {
  return queries.length === 1 ? (queries[0] ?? NOTHING) : queries.length === 0 ? NOTHING : `(${queries.join(' & ')})`;
}

export function lexeme(word: string, isPrefix = false): Query {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'${isPrefix ? ':*' : ''}`;
}

/** No finding has the empty word. */
const NOTHING = lexeme('w:');

/** An id of a vulnerability, for all findings or for those with one of the words of sources. */
export interface Alias {
  id: string;
  sources: readonly string[] | null;
}

/** The ids of a vulnerability, from the given one. */
export type AliasesOf = (id: string) => readonly Alias[];

export function vulnerabilityQuery(id: string, aliasesOf: AliasesOf): Query {
  const ids = aliasesOf(id).map(({ id: alias, sources }) => {
    const named = lexeme(`v:${alias.toLowerCase()}`);
    return sources === null ? named : allOf([named, anyOf(sources.map((word) => lexeme(word)))]);
  });
  return anyOf(ids);
}

export function matchQuery(match: Match, aliasesOf: AliasesOf): Query {
  if ('id' in match) return vulnerabilityQuery(match.id, aliasesOf);
  if ('any' in match) return anyOf(match.any.map((one) => matchQuery(one, aliasesOf)));
  if ('all' in match) return allOf(match.all.map((one) => matchQuery(one, aliasesOf)));
  return lexeme(match.word, match.prefix);
}
