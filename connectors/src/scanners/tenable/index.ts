import { record } from '@rrs/scan-reports/normalize.ts';
import { type Static, Type } from 'typebox';
import { defineScanner, type Json, Secret } from '../../core/contract.ts';
import { jobOf, readExport } from './export-job.ts';
import { coveredAsset, findingOf } from './record.ts';

/** Without a time, Tenable exports the last 30 days only. */
const EVER = Date.UTC(2000, 0) / 1000;
/** A change has the time of its scan and shows when the scan has ended. */
const OVERLAP_SECONDS = 24 * 3600;
const LARGEST_ASSET_CHUNK = 1_000;

const Config = Type.Object({
  api_url: Type.String({
    title: 'API address',
    description: 'https://cloud.tenable.com unless Tenable gave you another one, as for FedRAMP',
    format: 'uri',
    default: 'https://cloud.tenable.com',
  }),
  severities: Type.Optional(
    Type.Array(Type.Union(['info', 'low', 'medium', 'high', 'critical'].map((severity) => Type.Literal(severity))), {
      title: 'Severities',
      description:
        'All when none is chosen. With a choice, only what Tenable itself calls fixed is closed, since a finding may leave the choice without being fixed',
      default: [],
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ pattern: '^[^:]+:.+$' }), {
      title: 'Tags',
      description:
        'Only assets that have these tags, each written as Category:Value. Several values of a category: any of them; several categories: all of them',
      default: [],
    }),
  ),
  chunk_assets: Type.Optional(
    Type.Integer({
      title: 'Assets per chunk',
      description: 'How many assets Tenable puts into one part of the export. Raise it when there are more than 100,000 assets',
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
  description: 'Vulnerabilities of all licensed assets of Tenable Vulnerability Management (Tenable.io), by its export.',
  documentation: 'https://developer.tenable.com/reference/exports-vulns-request-export',
  permissions:
    'API keys of a user with the role Basic [16] or above, the privilege VM_EXPLORE.EXPORT (Vulnerability Management, Explore, Export) and Can View on all assets',
  config: Config,
  credentials: Type.Object({
    access_key: Secret('Access key', 'In Tenable under Settings, My Account, API Keys'),
    secret_key: Secret('Secret key', 'Shown together with the access key when the keys are generated'),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({
    'x-apikeys': `accessKey=${credentials.access_key};secretKey=${credentials.secret_key}`,
    // Tenable asks integrations to name themselves this way.
    'user-agent': 'Integration/1.0 (RRS; Remediation Risk Service; Build/1)',
    accept: 'application/json, application/octet-stream',
  }),
  async check({ http }) {
    await http.getJson('vulns/export/status', Type.Object({ exports: Type.Array(Type.Unknown()) }));
  },
  /** Assets come last: one that loses its tag between the two exports is then not taken for one without findings. */
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
        yield { items: [], covers: records.flatMap((value) => coveredAsset(value) ?? []), checkpoint: { ...job, as_of: asOf } };
    return { coverage: wantsAll ? 'complete' : 'changes', cursor: asOf };
  },
});

function vulnerabilities(config: Static<typeof Config>, cursor: Json): Json {
  const since = typeof cursor === 'string' ? Math.floor(Date.parse(cursor) / 1000) - OVERLAP_SECONDS : EVER;
  const severity = config.severities ?? [];
  return {
    num_assets: config.chunk_assets ?? 50,
    include_unlicensed: false,
    filters: { since, state: ['OPEN', 'REOPENED', 'FIXED'], ...(severity.length > 0 ? { severity } : {}), ...tagFilters(config) },
  };
}

/** Those whose vulnerabilities are exported: licensed, and looked at. */
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
