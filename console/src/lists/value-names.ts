import { useProviderNames } from '../api/source-names.ts';
import type { Filter, NameOf } from './filters.ts';

/** How the values of these filters are called, if not as in the API. */
export function useValueNames(filters: readonly (Filter | undefined)[]): NameOf {
  const providerName = useProviderNames(filters.some((filter) => filter?.known === 'source'));
  return ({ known }, value) => (known === 'source' && providerName(value)) || value;
}
