import type { Asset } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { defineScanner, type Http, Secret } from '../../core/contract.ts';
import { clientToken } from '../../core/oauth.ts';
import { isReporting, machineAsset } from './machine.ts';
import { Page, searchOf } from './page.ts';
import { createDoubt } from './still-there.ts';
import { type Change, caseless, changeOf, vulnerabilityOf } from './vulnerability.ts';

const VULNERABILITIES = 'api/machines/SoftwareVulnerabilitiesByMachine';
const CHANGES = 'api/machines/SoftwareVulnerabilityChangesByMachine';
/** Of 200,000 that are allowed: an answer has to fit into memory. */
const ON_A_PAGE = 5_000;
const MACHINES_ON_A_PAGE = 10_000;
/** Changes are gathered every six hours. */
const OVERLAP_MS = 6 * 3_600_000;
/** Changes are kept for 14 days. */
const LONGEST_CHANGES_MS = 14 * 24 * 3_600_000 - OVERLAP_MS;
const PERMISSIONS =
  'an app registration with the application permissions Vulnerability.Read.All and Machine.Read.All of WindowsDefenderATP, with admin consent';

export const microsoftDefender = defineScanner({
  id: 'microsoft_defender',
  name: 'Microsoft Defender for Endpoint',
  version: 1,
  description: 'Vulnerabilities in the software of all devices, from Defender Vulnerability Management.',
  documentation: 'https://learn.microsoft.com/defender-endpoint/api/get-assessment-software-vulnerabilities',
  permissions: PERMISSIONS,
  config: Type.Object({
    tenant_id: Type.String({ title: 'Tenant ID', description: 'Directory (tenant) ID, in Microsoft Entra under Overview', pattern: '^[A-Za-z0-9.-]+$' }),
    api_url: Type.String({
      title: 'API address',
      description: 'https://api.security.microsoft.com, or the one of your region or government cloud, such as https://eu.api.security.microsoft.com',
      format: 'uri',
      default: 'https://api.security.microsoft.com',
    }),
    authority: Type.String({
      title: 'Sign-in address',
      description: 'Where tokens are given out; for US government clouds https://login.microsoftonline.us',
      format: 'uri',
      default: 'https://login.microsoftonline.com',
    }),
    scope: Type.String({
      title: 'Scope',
      description: 'What the token is for; other than this in government clouds alone',
      default: 'https://securitycenter.onmicrosoft.com/windowsatpservice/.default',
      minLength: 1,
    }),
  }),
  credentials: Type.Object({
    client_id: Type.String({ title: 'Application ID', description: 'Application (client) ID, in Microsoft Entra under App registrations', minLength: 1 }),
    client_secret: Secret('Client secret', 'Of the app registration, under Certificates & secrets: the value, not its ID'),
  }),
  baseUrl: ({ config }) => config.api_url,
  origins: ({ config }) => [config.authority],
  login: ({ http, config, credentials: { client_id, client_secret } }) =>
    clientToken(http, {
      url: `${config.authority.replace(/\/+$/, '')}/${config.tenant_id}/oauth2/v2.0/token`,
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
    const changes = startedAt.getTime() - since < LONGEST_CHANGES_MS;
    const result = { coverage: changes ? ('changes' as const) : ('complete' as const), cursor: startedAt.toISOString() };
    if (checkpoint === 'end') return result;
    const { assets, covered } = await machinesOf(http);
    if (checkpoint === null && !changes) yield { items: [], covers: covered, checkpoint: {} };
    const start = changes ? `?pageSize=${ON_A_PAGE}&sinceTime=${encodeURIComponent(new Date(since).toISOString())}` : `?pageSize=${ON_A_PAGE}`;
    const latest = new Map<string, number>();
    const certain = createDoubt(http);
    for (let next: string | null = str(obj(checkpoint).next) ?? start, page = Number(obj(checkpoint).page ?? 1); next !== null; page++) {
      const { value, '@odata.nextLink': link }: Static<typeof Page> = await http.getJson(`${changes ? CHANGES : VULNERABILITIES}${next}`, Page);
      const all = value.map((one, n): Change => ({ ...changeOf(caseless(one)), place: `page ${page} [${n}]` }));
      const items = (changes ? await certain(newest(all, latest)) : all).flatMap(({ fields, place }) => [
        ...record(place, () => vulnerabilityOf(fields, place, (id) => assets.get(id))),
      ]);
      next = link ? searchOf(link) : null;
      yield { items, checkpoint: next === null ? 'end' : { page: page + 1, next } };
    }
    return result;
  },
});

/** A vulnerability that came and went within the time that is asked about is told twice: the latest counts, as far as the pages before show. */
function newest(changes: readonly Change[], latest: Map<string, number>): Change[] {
  for (const { key, at } of changes) if (at > (latest.get(key) ?? Number.NEGATIVE_INFINITY)) latest.set(key, at);
  return changes.filter(({ key, at }) => at >= (latest.get(key) ?? at));
}

/** Vulnerabilities name their device, but not its addresses; and devices without any are known here alone. */
async function machinesOf(http: Http): Promise<{ assets: Map<string, Asset>; covered: Asset[] }> {
  const assets = new Map<string, Asset>();
  const covered: Asset[] = [];
  for (let next: string | null = `?$top=${MACHINES_ON_A_PAGE}&$skip=0`, asked = 0; next !== null; ) {
    const { value, '@odata.nextLink': link }: Static<typeof Page> = await http.getJson(`api/machines${next}`, Page);
    for (const machine of value.map(caseless)) {
      const id = str(machine.id);
      if (id === undefined) continue;
      const asset = machineAsset(id, machine);
      assets.set(id, asset);
      if (isReporting(machine)) covered.push(asset);
    }
    asked += value.length;
    next = link ? searchOf(link) : value.length < MACHINES_ON_A_PAGE ? null : `?$top=${MACHINES_ON_A_PAGE}&$skip=${asked}`;
  }
  return { assets, covered };
}
