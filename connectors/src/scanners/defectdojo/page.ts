import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, HttpRequest } from '../../core/contract.ts';

export const PAGE_SIZE = 100;
/** The offset after the last page. */
export const END = -1;

export const Page = Type.Object({
  count: Type.Integer(),
  next: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  results: Type.Array(Type.Unknown()),
  prefetch: Type.Optional(Type.Unknown()),
});

export function nextOffset({ next, results }: Static<typeof Page>, requested: number): number {
  if (!next) return END;
  const offset = URL.canParse(next) ? Number(new URL(next).searchParams.get('offset')) : Number.NaN;
  if (!(offset > requested) || results.length === 0)
    throw new ConnectorError('incomplete', 'The data from DefectDojo is incomplete: it reports more pages but sends the same or an empty one.');
  return offset;
}

export async function* listAll(http: Http, path: string, query: HttpRequest['query']): AsyncGenerator<Static<typeof Page>> {
  for (let offset = 0; offset !== END; ) {
    const page: Static<typeof Page> = await http.getJson(path, Page, { ...query, limit: PAGE_SIZE, offset });
    yield page;
    offset = nextOffset(page, offset);
  }
}
