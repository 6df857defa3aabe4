import { Type } from 'typebox';
import { ConnectorError } from '../../core/contract.ts';

export const Page = Type.Object({ value: Type.Array(Type.Unknown()), '@odata.nextLink': Type.Optional(Type.Union([Type.String(), Type.Null()])) });

/** The link may name another host than the one that was asked. What counts is where to go on. */
export function searchOf(link: string): string {
  const { search } = new URL(link, 'https://api.security.microsoft.com');
  if (search === '') throw new ConnectorError('incomplete', 'Defender says that there is more, but not where.');
  return search;
}
