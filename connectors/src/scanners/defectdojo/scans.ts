import type { ReportItem } from '@rrs/scan-reports';
import { date, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import type { FindingBatch, Http } from '../../core/contract.ts';
import { listAll } from './page.ts';
import { productAsset } from './record.ts';

type Coverage = Pick<FindingBatch, 'covers' | 'partiallyCovers' | 'scans'>;

/** When each product was scanned, by its id. */
export type ScanTimes = ReadonlyMap<string, Date>;

/**
 * A product is scanned by several tools, each with its own tests, whose end is the time of the last imported scan. What the tool with the earliest
 * last scan did not see yet can still be there, so that time counts for the product.
 */
export async function scanTimes(http: Http): Promise<ScanTimes> {
  const latest = new Map<string, Map<string, Date>>();
  for await (const { results, prefetch } of listAll(http, 'api/v2/tests/', { prefetch: 'engagement' })) {
    const engagements = obj(obj(prefetch).engagement);
    for (const test of results.map(obj)) {
      const [ended, product] = [date(test.target_end), str(obj(engagements[str(test.engagement) ?? '']).product)];
      if (!ended || product === undefined) continue;
      const byTool = latest.get(product) ?? new Map<string, Date>();
      const tool = str(test.test_type) ?? '';
      const known = byTool.get(tool);
      if (!known || known < ended) byTool.set(tool, ended);
      latest.set(product, byTool);
    }
  }
  return new Map([...latest].map(([product, byTool]) => [product, new Date(Math.min(...[...byTool.values()].map((time) => time.getTime())))]));
}

/** A product without a test was never scanned. */
export function productCoverage(products: readonly unknown[], times: ScanTimes): Coverage {
  const found = products.flatMap((product) => {
    const asset = productAsset(product);
    return asset ? [{ asset, finished_at: times.get(str(obj(product).id) ?? '') }] : [];
  });
  return {
    covers: found.flatMap(({ asset, finished_at }) => (finished_at ? [asset] : [])),
    partiallyCovers: found.flatMap(({ asset, finished_at }) => (finished_at ? [] : [asset])),
    scans: found.flatMap(({ asset, finished_at }) => (finished_at ? [{ asset, finished_at }] : [])),
  };
}

/** The hosts and web applications of a finding were scanned with its product. */
export function endpointCoverage(finding: Obj, items: readonly ReportItem[], times: ScanTimes): Coverage {
  const product = obj(obj(obj(obj(finding.related_fields).test).engagement).product);
  const finished_at = times.get(str(product.id) ?? '');
  const name = productAsset(product)?.name;
  const assets = items.flatMap((item) => ('observation' in item ? (item.observation.asset ?? []) : [])).filter((asset) => asset.name !== name);
  return finished_at ? { scans: assets.map((asset) => ({ asset, finished_at })) } : { partiallyCovers: assets };
}
