import type { ImportChange } from '@rrs/client';
import { term } from '../../parts/words.ts';

/** What an import changed about a finding. A change that has neither a status nor a field is in the details, or another tool reports it as well. */
export function whatChanged({ kind, fields, from_status, to_status }: Pick<ImportChange, 'kind' | 'fields' | 'from_status' | 'to_status'>): string {
  const changes = [
    ...(from_status && to_status && from_status !== to_status ? [`${term(from_status)} → ${term(to_status)}`] : []),
    ...fields.map(({ field, from, to }) => `${term(field)}: ${from ?? '–'} → ${to ?? '–'}`),
  ];
  return kind === 'updated' && changes.length === 0 ? 'Details or sources' : changes.join(', ');
}
