import type { Asset } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { date, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { defineScanner, type Http, type ScanOfAsset } from '../../core/contract.ts';
import { eachPageOnce } from '../../core/lists.ts';
import { clientToken } from '../../core/oauth.ts';
import { Secret } from '../../core/settings/fields.ts';
import { createFixFilter } from './confirm-fixes.ts';
import { isReporting, machineAsset } from './machine.ts';
import { Page, searchOf } from './page.ts';
import { type Change, caseless, changeOf, vulnerabilityOf } from './vulnerability.ts';

const VULNERABILITIES = 'api/machines/SoftwareVulnerabilitiesByMachine';
const CHANGES = 'api/machines/SoftwareVulnerabilityChangesByMachine';
/** The API allows 200,000, but a response must fit into memory. */
const PAGE_SIZE = 5_000;
const MACHINES_PER_PAGE = 10_000;
/** Defender collects changes every six hours. */
const OVERLAP_MS = 6 * 3_600_000;
/** Defender keeps changes for 14 days. */
const MAX_CHANGES_MS = 14 * 24 * 3_600_000 - OVERLAP_MS;
const PERMISSIONS =
  'an app registration with the application permissions Vulnerability.Read.All and Machine.Read.All of WindowsDefenderATP, with admin consent';

export const microsoftDefender = defineScanner({
  id: 'microsoft_defender',
  name: 'Microsoft Defender for Endpoint',
  version: 1,
  description: 'Vulnerabilities in the software of all devices, from Microsoft Defender Vulnerability Management.',
  documentation: 'https://learn.microsoft.com/defender-endpoint/api/get-assessment-software-vulnerabilities',
  permissions: PERMISSIONS,
  config: Type.Object({
    tenant_id: Type.String({
      title: 'Tenant ID',
      examples: ['3f2b6c1e-8a4d-4f0b-9d27-5c1e7a9b4d60'],
      description: 'Directory (tenant) ID, in Microsoft Entra under Overview.',
      pattern: '^[A-Za-z0-9.-]+$',
    }),
    api_url: Type.String({
      title: 'API URL',
      examples: ['https://api.security.microsoft.com', 'https://eu.api.security.microsoft.com'],
      description: 'https://api.security.microsoft.com, or the URL for your region or government cloud, such as https://eu.api.security.microsoft.com.',
      format: 'uri',
      default: 'https://api.security.microsoft.com',
    }),
    authority: Type.String({
      title: 'Sign-in URL',
      'x-group': 'advanced',
      description: 'URL of the token service. For US government clouds: https://login.microsoftonline.us.',
      format: 'uri',
      default: 'https://login.microsoftonline.com',
    }),
    scope: Type.String({
      title: 'Scope',
      'x-group': 'advanced',
      description: 'Scope of the token. Change it only for government clouds.',
      default: 'https://securitycenter.onmicrosoft.com/windowsatpservice/.default',
      minLength: 1,
    }),
  }),
  credentials: Type.Object({
    client_id: Type.String({
      title: 'Application ID',
      examples: ['9c0d5a72-41be-4f7e-b3a8-0e6d2f8c1b95'],
      description: 'Application (client) ID, in Microsoft Entra under App registrations.',
      minLength: 1,
    }),
    client_secret: Secret('Client secret', 'Value (not ID) of a client secret of the app registration, under Certificates & secrets.', {
      link: 'https://learn.microsoft.com/defender-endpoint/api/exposed-apis-create-app-webapp',
    }),
  }),
  baseUrl: ({ config }) => config.api_url,
  origins: ({ config }) => [config.authority],
  login: ({ http, config, credentials: { client_id, client_secret } }) =>
    clientToken(http, {
      url: `${config.authority.replace(/(?<!\/)\/+$/, '')}/${config.tenant_id}/oauth2/v2.0/token`,
      form: { client_id, client_secret, scope: config.scope },
      name: 'Microsoft Entra',
      permissions: PERMISSIONS,
    }),
  authorize: ({ token }) => ({ authorization: `Bearer ${token}` }),
  async check({ http }) {
    await http.getJson('api/machines', Page, { $top: 1 });
    await http.getJson(VULNERABILITIES, Page, { pageSize: 1 });
  },
  async *findings({ http, checkpoint, cursor, startedAt }) {
    const since = typeof cursor === 'string' ? Date.parse(cursor) - OVERLAP_MS : Number.NEGATIVE_INFINITY;
    const changes = startedAt.getTime() - since < MAX_CHANGES_MS;
    const result = { coverage: changes ? ('changes' as const) : ('complete' as const), cursor: startedAt.toISOString() };
    if (checkpoint === 'end') return result;
    const { assets, covered, scans } = await machinesOf(http);
    if (checkpoint === null && !changes) yield { items: [], covers: covered, scans, checkpoint: {} };
    const start = changes ? `?pageSize=${PAGE_SIZE}&sinceTime=${encodeURIComponent(new Date(since).toISOString())}` : `?pageSize=${PAGE_SIZE}`;
    const latest = new Map<string, number>();
    const confirmed = createFixFilter(http);
    for (let next: string | null = str(obj(checkpoint).next) ?? start, page = Number(obj(checkpoint).page ?? 1); next !== null; page++) {
      const { value, '@odata.nextLink': link }: Static<typeof Page> = await http.getJson(`${changes ? CHANGES : VULNERABILITIES}${next}`, Page);
      const all = value.map((one, n): Change => ({ ...changeOf(caseless(one)), place: `page ${page} [${n}]` }));
      const items = (changes ? await confirmed(newest(all, latest)) : all).flatMap(({ fields, place }) => [
        ...record(place, () => vulnerabilityOf(fields, place, (id) => assets.get(id))),
      ]);
      next = link ? searchOf(link) : null;
      yield { items, checkpoint: next === null ? 'end' : { page: page + 1, next } };
    }
    return result;
  },
});

/** A vulnerability that appeared and disappeared since the cursor is listed twice. Keeps the latest change, as far as the pages read so far show. */
function newest(changes: readonly Change[], latest: Map<string, number>): Change[] {
  for (const { key, at } of changes) if (at > (latest.get(key) ?? Number.NEGATIVE_INFINITY)) latest.set(key, at);
  return changes.filter(({ key, at }) => at >= (latest.get(key) ?? at));
}

/** Vulnerabilities name their device, but not its addresses. Devices without vulnerabilities are listed only here. */
async function machinesOf(http: Http): Promise<{ assets: Map<string, Asset>; covered: Asset[]; scans: ScanOfAsset[] }> {
  const assets = new Map<string, Asset>();
  const covered: Asset[] = [];
  const scans: ScanOfAsset[] = [];
  const visit = eachPageOnce('the devices of Defender');
  for (let next: string | null = `?$top=${MACHINES_PER_PAGE}&$skip=0`, requested = 0; next !== null; ) {
    visit(next);
    const { value, '@odata.nextLink': link }: Static<typeof Page> = await http.getJson(`api/machines${next}`, Page);
    for (const machine of value.map(caseless)) {
      const id = str(machine.id);
      if (id === undefined) continue;
      const asset = machineAsset(id, machine);
      assets.set(id, asset);
      if (!isReporting(machine)) continue;
      covered.push(asset);
      const seen = date(machine.lastseen);
      // The sensor on the device examines it all the time and reports what it found when it was last seen.
      if (seen) scans.push({ asset, finished_at: seen, credentialed: true });
    }
    requested += value.length;
    next = link ? searchOf(link) : value.length < MACHINES_PER_PAGE ? null : `?$top=${MACHINES_PER_PAGE}&$skip=${requested}`;
  }
  return { assets, covered, scans };
}
