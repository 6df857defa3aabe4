import { type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, Json } from '../../core/contract.ts';
import { eachPageOnce } from '../../core/lists.ts';

const Page = Type.Object({
  data: Type.Array(Type.Unknown()),
  metadata: Type.Object({ cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
});

/** Searches change nothing, so they can be retried. */
export async function search(http: Http, path: string, query: Record<string, string | number | boolean | null>, filter: Json): Promise<Static<typeof Page>> {
  const { body } = await http.json(Page, { method: 'POST', path, query, json: filter, repeatable: true });
  const { cursor } = body.metadata;
  if (cursor && cursor === query.cursor) throw new ConnectorError('incomplete', `InsightVM sent the same page of ${path} again.`);
  return body;
}

export interface Definitions {
  /** Loads the definitions of these vulnerabilities and returns a lookup. The definition is empty if InsightVM does not know the id. */
  of(ids: readonly string[]): Promise<(id: string) => Obj>;
}

const BATCH_SIZE = 200;
const MAX_PAGE_SIZE = 500;

/** Findings contain only the id of their vulnerability. */
export function definitions(http: Http): Definitions {
  const known = new Map<string, Obj>();
  const requested = new Set<string>();

  const load = async (ids: readonly string[]): Promise<void> => {
    const filter = { vulnerability: `id IN [${ids.map((id) => `'${id}'`).join(',')}]` };
    const visit = eachPageOnce('the vulnerabilities of InsightVM');
    for (let cursor: string | null = ''; cursor !== null; ) {
      visit(cursor);
      const page = await search(http, 'vulnerabilities', { size: MAX_PAGE_SIZE, cursor: cursor || null }, filter);
      for (const definition of page.data.map(obj)) known.set(str(definition.id)?.toLowerCase() ?? '', definition);
      cursor = page.metadata.cursor || null;
    }
  };

  return {
    async of(ids) {
      // Excludes characters that could end the quoted string of the filter.
      const unknown = [...new Set(ids)].filter((id) => /^[\w.:+-]+$/.test(id) && !requested.has(id));
      for (let n = 0; n < unknown.length; n += BATCH_SIZE) await load(unknown.slice(n, n + BATCH_SIZE));
      for (const id of unknown) requested.add(id);
      return (id) => known.get(id.toLowerCase()) ?? {};
    },
  };
}
