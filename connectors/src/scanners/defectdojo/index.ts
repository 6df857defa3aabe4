import type { ReportItem } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { date, num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineScanner, type Http, type HttpRequest, type Json } from '../../core/contract.ts';
import { assertUnmoved } from '../../core/lists.ts';
import { Secret } from '../../core/settings/fields.ts';
import { END, listAll, nextOffset, PAGE_SIZE, Page } from './page.ts';
import { findingsOf } from './record.ts';
import { endpointCoverage, productCoverage, scanTimes } from './scans.ts';

/** The clock of DefectDojo may differ. */
const OVERLAP_MS = 3_600_000;

const Config = Type.Object({
  api_url: Type.String({
    title: 'URL',
    examples: ['https://defectdojo.example.com'],
    description: 'URL of DefectDojo without /api, such as https://defectdojo.example.com.',
    format: 'uri',
  }),
  product_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      title: 'Products',
      examples: [[12, 31]],
      description: 'Ids of the products to read, as in the URLs of their pages (/product/12). Leave empty for all products that the user can see.',
      default: [],
      maxItems: 200,
    }),
  ),
});

export const defectdojo = defineScanner({
  id: 'defectdojo',
  name: 'DefectDojo',
  version: 1,
  description: 'Findings of DefectDojo products from all scanners. Duplicates are left out.',
  documentation: 'https://docs.defectdojo.com/en/api/api-v2-docs/',
  permissions: 'an API v2 key of a user with the role Reader or above on the products',
  config: Config,
  credentials: Type.Object({
    api_key: Secret('API v2 key', 'Shown in the user menu of DefectDojo under API v2 Key.', { link: 'https://docs.defectdojo.com/en/api/api-v2-docs/' }),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Token ${credentials.api_key}` }),
  async check({ http, config }) {
    await http.getJson('api/v2/findings/', Page, { ...findingsQuery(config), limit: 1 });
  },
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const since = typeof cursor === 'string' ? new Date(Date.parse(cursor) - OVERLAP_MS) : null;
    const times = since ? new Map() : await scanTimes(http);
    const orders = since ? CHANGES : ['id' as const];
    let at = positionOf(checkpoint);
    if (checkpoint === null) yield { items: [], ...(since ? {} : productCoverage(await productsOf(http, config), times)), checkpoint: { ...at } };
    for (let order = orders[at.order]; order !== undefined; order = orders[at.order]) {
      const query = { ...findingsQuery(config), related_fields: true, prefetch: 'endpoints', o: order === 'id' ? order : `-${order}`, limit: PAGE_SIZE };
      const page = await http.getJson('api/v2/findings/', Page, { ...query, offset: at.offset });
      const endpoints = obj(obj(page.prefetch).endpoints);
      const known = page.results.findIndex((finding) => isBefore(obj(finding)[order], since));
      const batches = page.results.slice(0, known === -1 ? undefined : known).map((finding, n) => {
        const place = `findings[${at.offset + n}]`;
        const items: ReportItem[] = [...record(place, () => findingsOf(obj(finding), place, endpoints))];
        return { items, ...(since ? {} : endpointCoverage(obj(finding), items, times)) };
      });
      const next = known === -1 ? nextOffset(page, at.offset) : END;
      if (since === null) await assertUnmoved('The findings of DefectDojo', at.last, () => idAt(http, query, at.offset - 1));
      at = next === END ? { order: at.order + 1, offset: 0, last: '' } : { ...at, offset: next, last: idOf(page.results.at(-1)) ?? '' };
      yield {
        items: batches.flatMap(({ items }) => items),
        scans: batches.flatMap(({ scans = [] }) => scans),
        partiallyCovers: batches.flatMap(({ partiallyCovers = [] }) => partiallyCovers),
        checkpoint: { ...at },
      };
    }
    return { coverage: since === null ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

/** An import or a change of status sets the first, an edit of other fields in the web interface the second. */
const CHANGES = ['last_status_update', 'last_reviewed'] as const;

/** The next page. `last` is the id of the last finding read. */
function positionOf(checkpoint: Json): { order: number; offset: number; last: string } {
  const { order, offset, last } = obj(checkpoint);
  return { order: num(order) ?? 0, offset: num(offset) ?? 0, last: str(last) ?? '' };
}

function idOf(finding: unknown): string | undefined {
  return str(obj(finding).id);
}

async function idAt(http: Http, query: HttpRequest['query'], offset: number): Promise<string | undefined> {
  const { results } = await http.getJson('api/v2/findings/', Page, { ...query, limit: 1, offset });
  return idOf(results[0]);
}

/** Leaves out duplicates, which repeat another finding. */
function findingsQuery({ product_ids = [] }: Static<typeof Config>) {
  return { duplicate: false, test__engagement__product: product_ids.length > 0 ? product_ids.join(',') : null };
}

/** Findings without a time come first, so they do not mark the start of the known ones. */
function isBefore(time: unknown, since: Date | null): boolean {
  const changed = date(time);
  return since !== null && changed !== null && changed < since;
}

async function productsOf(http: Http, { product_ids = [] }: Static<typeof Config>): Promise<unknown[]> {
  const products: unknown[] = [];
  const query = { id: product_ids.length > 0 ? product_ids.join(',') : null, o: 'id' };
  for await (const { results } of listAll(http, 'api/v2/products/', query)) products.push(...results);
  const missing = product_ids.filter((id) => !products.some((product) => obj(product).id === id));
  if (missing.length > 0)
    throw new ConnectorError(
      'configuration',
      `DefectDojo has no product ${missing.join(', ')}, or the user cannot see it. Check the ids and the permissions of the user.`,
    );
  return products;
}
