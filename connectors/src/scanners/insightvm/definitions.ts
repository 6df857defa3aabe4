import { type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, type Http, type Json } from '../../core/contract.ts';

const Page = Type.Object({
  data: Type.Array(Type.Unknown()),
  metadata: Type.Object({ cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
});

/** Searches change nothing, so that they may be sent again. */
export async function search(http: Http, path: string, query: Record<string, string | number | boolean | null>, filter: Json): Promise<Static<typeof Page>> {
  const { body } = await http.json(Page, { method: 'POST', path, query, json: filter, repeatable: true });
  const { cursor } = body.metadata;
  if (cursor && cursor === query.cursor) throw new ConnectorError('incomplete', `InsightVM sent the same page of ${path} again.`);
  return body;
}

export interface Definitions {
  /** Learns what these vulnerabilities are, and tells it; nothing of those that InsightVM does not know. */
  of(ids: readonly string[]): Promise<(id: string) => Obj>;
}

const AT_ONCE = 200;
const LARGEST_PAGE = 500;

/** Findings name their vulnerability by its id alone. */
export function definitions(http: Http): Definitions {
  const known = new Map<string, Obj>();
  const asked = new Set<string>();

  const learn = async (ids: readonly string[]): Promise<void> => {
    const filter = { vulnerability: `id IN [${ids.map((id) => `'${id}'`).join(',')}]` };
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await search(http, 'vulnerabilities', { size: LARGEST_PAGE, cursor: cursor || null }, filter);
      for (const definition of page.data.map(obj)) known.set(str(definition.id)?.toLowerCase() ?? '', definition);
      cursor = page.metadata.cursor || null;
    }
  };

  return {
    async of(ids) {
      // Nothing that could end the quotes of the filter.
      const unknown = [...new Set(ids)].filter((id) => /^[\w.:+-]+$/.test(id) && !asked.has(id));
      for (let n = 0; n < unknown.length; n += AT_ONCE) await learn(unknown.slice(n, n + AT_ONCE));
      for (const id of unknown) asked.add(id);
      return (id) => known.get(id.toLowerCase()) ?? {};
    },
  };
}
