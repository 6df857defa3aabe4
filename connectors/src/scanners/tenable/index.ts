import { record } from '@rrs/scan-reports/normalize.ts';
import { type Static, Type } from 'typebox';
import { defineScanner, type Json } from '../../core/contract.ts';
import { Choice, Secret } from '../../core/settings/fields.ts';
import { jobOf, readExport } from './export-job.ts';
import { coveredAsset, findingOf, scanOf } from './record.ts';

/** Without a start time, Tenable exports only the last 30 days. */
const EPOCH = Date.UTC(2000, 0) / 1000;
/** A change has the time of its scan but appears only after the scan has finished. */
const OVERLAP_SECONDS = 24 * 3600;
const LARGEST_ASSET_CHUNK = 1_000;

const Config = Type.Object({
  api_url: Type.String({
    title: 'API URL',
    description: 'https://cloud.tenable.com, unless Tenable gave you another URL, for example for FedRAMP.',
    format: 'uri',
    default: 'https://cloud.tenable.com',
  }),
  severities: Type.Optional(
    Type.Array(Choice({ info: 'Info', low: 'Low', medium: 'Medium', high: 'High', critical: 'Critical' }), {
      title: 'Severities',
      description:
        'Severities to read. Leave empty for all. With a selection, only findings that Tenable reports as fixed are closed, because a finding can leave the selection without being fixed.',
      default: [],
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ pattern: '^[^:]+:.+$' }), {
      title: 'Tags',
      examples: [['Environment:Production']],
      description: 'Reads only assets with these tags, written as Category:Value. An asset must match one value of each category.',
      default: [],
    }),
  ),
  chunk_assets: Type.Optional(
    Type.Integer({
      title: 'Assets per chunk',
      'x-group': 'advanced',
      description: 'Number of assets in one part of the export. Increase it if you have more than 100,000 assets.',
      minimum: 50,
      maximum: 5_000,
      default: 50,
    }),
  ),
});

export const tenable = defineScanner({
  id: 'tenable',
  name: 'Tenable Vulnerability Management',
  version: 1,
  description: 'Vulnerabilities on all licensed assets of Tenable Vulnerability Management (Tenable.io), from its export API.',
  documentation: 'https://developer.tenable.com/reference/exports-vulns-request-export',
  permissions:
    'API keys of a user with at least the role Basic [16], the privilege VM_EXPLORE.EXPORT (Vulnerability Management, Explore, Export) and Can View on all assets',
  config: Config,
  credentials: Type.Object({
    access_key: Secret('Access key', 'Generate the keys in Tenable under Settings, My Account, API Keys.', {
      link: 'https://docs.tenable.com/tenableio/Content/Platform/Settings/my-account/GenerateAPIKey.htm',
    }),
    secret_key: Secret('Secret key', 'Shown with the access key when the keys are generated.', {
      link: 'https://docs.tenable.com/tenableio/Content/Platform/Settings/my-account/GenerateAPIKey.htm',
    }),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({
    'x-apikeys': `accessKey=${credentials.access_key};secretKey=${credentials.secret_key}`,
    // Tenable asks integrations to identify themselves in this format.
    'user-agent': 'Integration/1.0 (RRS; Remediation Risk Service; Build/1)',
    accept: 'application/json, application/octet-stream',
  }),
  async check({ http }) {
    await http.getJson('vulns/export/status', Type.Object({ exports: Type.Array(Type.Unknown()) }));
  },
  /** Assets are read last, so that an asset that loses its tag between the two exports is not covered without its findings. */
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const known = jobOf(checkpoint);
    const wantsAll = cursor === null && (config.severities ?? []).length === 0;
    let asOf = known?.as_of ?? startedAt.toISOString();
    if (known?.export !== 'assets')
      for await (const { job, place, records } of readExport(http, { kind: 'vulns', body: vulnerabilities(config, cursor), startedAt }, known)) {
        asOf = job.as_of;
        const items = records.flatMap((value, n) => [...record(`${place}[${n}]`, () => findingOf(value, `${place}[${n}]`))]);
        yield { items, checkpoint: job };
      }
    if (wantsAll)
      for await (const { job, records } of readExport(http, { kind: 'assets', body: assets(config), startedAt }, known?.export === 'assets' ? known : null))
        yield {
          items: [],
          covers: records.flatMap((value) => coveredAsset(value) ?? []),
          scans: records.flatMap((value) => scanOf(value) ?? []),
          checkpoint: { ...job, as_of: asOf },
        };
    return { coverage: wantsAll ? 'complete' : 'changes', cursor: asOf };
  },
});

function vulnerabilities(config: Static<typeof Config>, cursor: Json): Json {
  const since = typeof cursor === 'string' ? Math.floor(Date.parse(cursor) / 1000) - OVERLAP_SECONDS : EPOCH;
  const severity = config.severities ?? [];
  return {
    num_assets: config.chunk_assets ?? 50,
    include_unlicensed: false,
    filters: { since, state: ['OPEN', 'REOPENED', 'FIXED'], ...(severity.length > 0 ? { severity } : {}), ...tagFilters(config) },
  };
}

/** Assets whose vulnerabilities are exported: licensed and assessed. */
function assets(config: Static<typeof Config>): Json {
  return {
    chunk_size: LARGEST_ASSET_CHUNK,
    filters: { is_licensed: true, has_plugin_results: true, is_deleted: false, is_terminated: false, ...tagFilters(config) },
  };
}

function tagFilters({ tags = [] }: Static<typeof Config>): Record<string, string[]> {
  const byCategory = Map.groupBy(tags, (tag) => tag.slice(0, tag.indexOf(':')));
  return Object.fromEntries([...byCategory].map(([category, those]) => [`tag.${category}`, those.map((tag) => tag.slice(category.length + 1))]));
}
