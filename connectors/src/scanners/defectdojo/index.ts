import type { Asset, ReportItem } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { date, num, obj } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineScanner, type Http, type Json, Secret } from '../../core/contract.ts';
import { findingsOf, productAsset } from './record.ts';

const PAGE = 100;
/** DefectDojo's clock need not agree with ours. */
const OVERLAP_MS = 3_600_000;

const Config = Type.Object({
  api_url: Type.String({ title: 'Address', description: 'Of your DefectDojo, without /api: https://defectdojo.example.com', format: 'uri' }),
  product_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), {
      title: 'Products',
      description: 'Only these, by the numbers in the addresses of their pages (/product/12). Leave empty for all that the user may see',
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
  description: 'Findings of DefectDojo products, whichever scanner they came from. Duplicates are left out.',
  documentation: 'https://docs.defectdojo.com/en/api/api-v2-docs/',
  permissions: 'an API v2 key of a user with the role Reader or above on the products',
  config: Config,
  credentials: Type.Object({ api_key: Secret('API v2 key', 'In DefectDojo in the menu of the user, API v2 Key') }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Token ${credentials.api_key}` }),
  async check({ http, config }) {
    await http.getJson('api/v2/findings/', Page, { ...findingsQuery(config), limit: 1 });
  },
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const since = typeof cursor === 'string' ? new Date(Date.parse(cursor) - OVERLAP_MS) : null;
    const query = { ...findingsQuery(config), related_fields: true, prefetch: 'endpoints', o: since ? '-last_status_update' : 'id', limit: PAGE };
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
      // What is gone moves the others to pages that were already read.
      if (since === null && page.count < at.count) throw incomplete('findings were removed while they were read. The next run tries again');
      at = { offset: known === -1 ? next : END, count: page.count };
      yield { items, checkpoint: { ...at } };
    }
    return { coverage: since === null ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

const END = -1;

function positionOf(checkpoint: Json): { offset: number; count: number } {
  const { offset, count } = obj(checkpoint);
  return { offset: num(offset) ?? 0, count: num(count) ?? 0 };
}

/** Duplicates say again what another finding says. */
function findingsQuery({ product_ids = [] }: Static<typeof Config>) {
  return { duplicate: false, test__engagement__product: product_ids.length > 0 ? product_ids.join(',') : null };
}

/** Those without a time come first, and so are not where the known ones begin. */
function isBefore(finding: unknown, since: Date | null): boolean {
  const changed = date(obj(finding).last_status_update);
  return since !== null && changed !== null && changed < since;
}

function nextOffset({ next, results }: Static<typeof Page>, asked: number): number {
  if (!next) return END;
  const offset = URL.canParse(next) ? Number(new URL(next).searchParams.get('offset')) : Number.NaN;
  if (!(offset > asked) || results.length === 0) throw incomplete('it says that there is more, and sends the same page or an empty one');
  return offset;
}

async function productsOf(http: Http, { product_ids = [] }: Static<typeof Config>): Promise<Asset[]> {
  const products: unknown[] = [];
  for (let offset = 0; offset !== END; ) {
    const page: Static<typeof Page> = await http.getJson('api/v2/products/', Page, {
      id: product_ids.length > 0 ? product_ids.join(',') : null,
      o: 'id',
      limit: PAGE,
      offset,
    });
    products.push(...page.results);
    offset = nextOffset(page, offset);
  }
  const missing = product_ids.filter((id) => !products.some((product) => obj(product).id === id));
  if (missing.length > 0)
    throw new ConnectorError(
      'configuration',
      `DefectDojo shows no product ${missing.join(', ')}. Check the numbers, and that the user may see these products.`,
    );
  return products.flatMap((product) => productAsset(product) ?? []);
}

function incomplete(what: string): ConnectorError {
  return new ConnectorError('incomplete', `Not everything could be read from DefectDojo: ${what}.`);
}
