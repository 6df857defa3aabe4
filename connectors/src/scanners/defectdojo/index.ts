import type { Asset, ReportItem } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { date, num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineScanner, type Http, type HttpRequest, type Json, Secret } from '../../core/contract.ts';
import { assertUnmoved } from '../../core/shifts.ts';
import { findingsOf, productAsset } from './record.ts';

const PAGE_SIZE = 100;
/** The clock of DefectDojo may differ. */
const OVERLAP_MS = 3_600_000;

const Config = Type.Object({
  api_url: Type.String({ title: 'URL', description: 'URL of DefectDojo without /api, such as https://defectdojo.example.com.', format: 'uri' }),
  product_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      title: 'Products',
      description: 'Ids of the products to read, as in the URLs of their pages (/product/12). Leave empty for all products that the user can see.',
      default: [],
      maxItems: 200,
    }),
  ),
});

const Page = Type.Object({
  count: Type.Integer(),
  next: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  results: Type.Array(Type.Unknown()),
  prefetch: Type.Optional(Type.Unknown()),
});

export const defectdojo = defineScanner({
  id: 'defectdojo',
  name: 'DefectDojo',
  version: 1,
  description: 'Findings of DefectDojo products from all scanners. Duplicates are left out.',
  documentation: 'https://docs.defectdojo.com/en/api/api-v2-docs/',
  permissions: 'an API v2 key of a user with the role Reader or above on the products',
  config: Config,
  credentials: Type.Object({ api_key: Secret('API v2 key', 'Shown in the user menu of DefectDojo under API v2 Key.') }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Token ${credentials.api_key}` }),
  async check({ http, config }) {
    await http.getJson('api/v2/findings/', Page, { ...findingsQuery(config), limit: 1 });
  },
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const since = typeof cursor === 'string' ? new Date(Date.parse(cursor) - OVERLAP_MS) : null;
    const query = { ...findingsQuery(config), related_fields: true, prefetch: 'endpoints', o: since ? '-last_status_update' : 'id', limit: PAGE_SIZE };
    let at = positionOf(checkpoint);
    if (checkpoint === null) yield { items: [], covers: since ? [] : await productsOf(http, config), checkpoint: { ...at } };
    while (at.offset !== END) {
      const page = await http.getJson('api/v2/findings/', Page, { ...query, offset: at.offset });
      const endpoints = obj(obj(page.prefetch).endpoints);
      const known = page.results.findIndex((finding) => isBefore(finding, since));
      const items = page.results.slice(0, known === -1 ? undefined : known).flatMap((finding, n): ReportItem[] => {
        const place = `findings[${at.offset + n}]`;
        return [...record(place, () => findingsOf(obj(finding), place, endpoints))];
      });
      const next = nextOffset(page, at.offset);
      if (since === null) await assertUnmoved('The findings of DefectDojo', at.last, () => idAt(http, query, at.offset - 1));
      at = { offset: known === -1 ? next : END, last: idOf(page.results.at(-1)) ?? '' };
      yield { items, checkpoint: { ...at } };
    }
    return { coverage: since === null ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

const END = -1;

/** `last` is the id of the last finding read. */
function positionOf(checkpoint: Json): { offset: number; last: string } {
  const { offset, last } = obj(checkpoint);
  return { offset: num(offset) ?? 0, last: str(last) ?? '' };
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
function isBefore(finding: unknown, since: Date | null): boolean {
  const changed = date(obj(finding).last_status_update);
  return since !== null && changed !== null && changed < since;
}

function nextOffset({ next, results }: Static<typeof Page>, requested: number): number {
  if (!next) return END;
  const offset = URL.canParse(next) ? Number(new URL(next).searchParams.get('offset')) : Number.NaN;
  if (!(offset > requested) || results.length === 0) throw incomplete('it reports more pages but sends the same or an empty one');
  return offset;
}

async function productsOf(http: Http, { product_ids = [] }: Static<typeof Config>): Promise<Asset[]> {
  const products: unknown[] = [];
  for (let offset = 0; offset !== END; ) {
    const page: Static<typeof Page> = await http.getJson('api/v2/products/', Page, {
      id: product_ids.length > 0 ? product_ids.join(',') : null,
      o: 'id',
      limit: PAGE_SIZE,
      offset,
    });
    products.push(...page.results);
    offset = nextOffset(page, offset);
  }
  const missing = product_ids.filter((id) => !products.some((product) => obj(product).id === id));
  if (missing.length > 0)
    throw new ConnectorError(
      'configuration',
      `DefectDojo has no product ${missing.join(', ')}, or the user cannot see it. Check the ids and the permissions of the user.`,
    );
  return products.flatMap((product) => productAsset(product) ?? []);
}

function incomplete(what: string): ConnectorError {
  return new ConnectorError('incomplete', `The data from DefectDojo is incomplete: ${what}.`);
}
