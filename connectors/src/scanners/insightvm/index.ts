import type { Asset, ReportItem } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { date, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { defineScanner, type Json, type ScanOfAsset } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';
import { type Definitions, definitions, search } from './definitions.ts';
import { assetOf, findingOf, findingsOn, isCovered } from './record.ts';

/** The filter uses the end of a scan, and its findings appear later. */
const OVERLAP_MS = 24 * 3_600_000;

/** Uses the Cloud Integrations API (v4), which lists assets with all their findings. The console API needs a request for every asset and vulnerability. */
export const insightvm = defineScanner({
  id: 'insightvm',
  name: 'Rapid7 InsightVM',
  version: 1,
  description: 'Findings on all assets of InsightVM, from the Cloud Integrations API (v4) of the Insight Platform.',
  documentation: 'https://help.rapid7.com/insightvm/en-us/api/integrations.html',
  permissions:
    'an organization key of the Insight Platform, or a user key of a user with read access to InsightVM and all its sites, created in the same region',
  config: Type.Object({
    api_url: Type.String({
      title: 'API URL',
      examples: [
        'https://us.api.insight.rapid7.com',
        'https://us2.api.insight.rapid7.com',
        'https://us3.api.insight.rapid7.com',
        'https://eu.api.insight.rapid7.com',
        'https://ca.api.insight.rapid7.com',
        'https://au.api.insight.rapid7.com',
        'https://ap.api.insight.rapid7.com',
        'https://aps2.api.insight.rapid7.com',
        'https://me1.api.insight.rapid7.com',
      ],
      description: 'URL for the region of your organization.',
      format: 'uri',
      default: 'https://us.api.insight.rapid7.com',
    }),
    asset_filter: Type.Optional(
      Type.String({
        title: 'Asset filter',
        examples: ["sites IN ['Berlin']"],
        description: "Reads only matching assets. Uses the InsightVM query language, for example sites IN ['Berlin']. Leave empty for all assets.",
        maxLength: 2_000,
        default: '',
      }),
    ),
    assets_per_page: Type.Optional(
      Type.Integer({
        title: 'Assets per request',
        'x-group': 'advanced',
        description: 'Number of assets per request. Decrease it if responses are too large or too slow.',
        minimum: 1,
        maximum: 500,
        default: 50,
      }),
    ),
  }),
  credentials: Type.Object({
    api_key: Secret('API key', 'Create one in the Insight Platform under Administration, API Key Management.', {
      link: 'https://docs.rapid7.com/insight/managing-platform-api-keys/',
    }),
  }),
  baseUrl: ({ config }) => `${config.api_url.replace(/(?<!\/)\/+$/, '')}/vm/v4/integration`,
  authorize: ({ credentials }) => ({ 'x-api-key': credentials.api_key }),
  async check({ http, config }) {
    await search(http, 'assets', { size: 1 }, filterOf(config.asset_filter, null));
  },
  /**
   * With a cursor, reads the assets scanned since then with all their findings, not only the removed ones. Several findings can have the same
   * location, and if one of them is gone, the others must still be reported.
   */
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const since = typeof cursor === 'string' ? new Date(Date.parse(cursor) - OVERLAP_MS).toISOString() : null;
    const known = definitions(http);
    let at = positionOf(checkpoint);
    while (!at.end) {
      const { data, metadata } = await search(
        http,
        'assets',
        {
          size: config.assets_per_page ?? 50,
          includeSame: true,
          includeUniqueIdentifiers: true,
          cursor: at.cursor,
          comparisonTime: since,
          includeInterSnapshotRemediations: since === null ? null : true,
        },
        filterOf(config.asset_filter, since),
      );
      const read = await readAssets(data, known, `assets after ${at.cursor ?? 'the start'}`);
      at = { cursor: metadata.cursor || null, end: !metadata.cursor };
      yield { items: read.items, ...(since === null ? { covers: read.covers, scans: read.scans } : {}), checkpoint: at };
    }
    return { coverage: since === null ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

interface Position {
  readonly [field: string]: string | boolean | null;
  cursor: string | null;
  end: boolean;
}

function positionOf(checkpoint: Json): Position {
  return (checkpoint as Position | null) ?? { cursor: null, end: false };
}

function filterOf(assets: string | undefined, since: string | null): Json {
  const own = assets?.trim() ? [`(${assets.trim()})`] : [];
  const filter = [...own, ...(since === null ? [] : [`last_scan_end > ${since}`])].join(' && ');
  return filter === '' ? {} : { asset: filter };
}

async function readAssets(
  data: readonly unknown[],
  known: Definitions,
  where: string,
): Promise<{ items: ReportItem[]; covers: Asset[]; scans: ScanOfAsset[] }> {
  const assets = data.map((value, n) => ({ asset: obj(value), found: findingsOn(obj(value), `${where} data[${n}]`) }));
  const meaningOf = await known.of(assets.flatMap(({ found }) => found.flatMap(({ value }) => str(obj(value).vulnerability_id) ?? [])));
  const items: ReportItem[] = [];
  const covers: Asset[] = [];
  const scans: ScanOfAsset[] = [];
  for (const { asset, found } of assets) {
    for (const one of found) items.push(...record(one.place, () => findingOf(one, assetOf(asset), meaningOf(str(obj(one.value).vulnerability_id) ?? ''))));
    if (!str(asset.id) || !isCovered(asset, found)) continue;
    covers.push(assetOf(asset));
    const [started_at, finished_at] = [date(asset.last_scan_start), date(asset.last_scan_end)];
    if (finished_at) scans.push({ asset: assetOf(asset), finished_at, ...(started_at ? { started_at } : {}) });
  }
  return { items, covers, scans };
}
