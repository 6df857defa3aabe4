import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';

export const Page = Type.Object({ value: Type.Array(Type.Unknown()), '@odata.nextLink': Type.Optional(Type.Union([Type.String(), Type.Null()])) });

/** Uses only the query of the link, because its host may differ from the configured one. */
export function searchOf(link: string): string {
  const { search } = new URL(link, 'https://api.security.microsoft.com');
  if (search === '') throw new ConnectorError('incomplete', 'Defender reports more records but sends no link to the next page.');
  return search;
}
