import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** The query of an address: names of the API, and values as text. A list is one value with commas, as the API accepts it. */
export type Query = Readonly<Record<string, string>>;

export function parseQuery(text: string): Query {
  const found: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) if (value !== '') found[name] = found[name] === undefined ? value : `${found[name]},${value}`;
  return found;
}

export function writeQuery(query: Record<string, unknown>): string {
  const set = Object.entries(query).flatMap(([name, value]) => (value === undefined || value === null || value === '' ? [] : [[name, String(value)]]));
  const text = new URLSearchParams(set).toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%2F', '/');
  return text === '' ? '' : `?${text}`;
}

/** Changes of a query: `null` removes a name. */
export type Changes = Readonly<Record<string, string | null>>;

export function change(query: Query, changes: Changes): Query {
  return Object.fromEntries(Object.entries({ ...query, ...changes }).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The query of this page, and how to change it. Choosing adds a step to the history; typing replaces the current one. */
export function useQueryString(): [Query, (changes: Changes, how?: { replace?: boolean }) => void] {
  const query = useSearch({ strict: false }) as Query;
  const navigate = useNavigate();
  const set = useCallback(
    (changes: Changes, { replace = false } = {}) => {
      void navigate({ to: '.', search: (before: Query) => change(before, changes), replace });
    },
    [navigate],
  );
  return [query, set];
}
