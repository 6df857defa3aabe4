import { obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineScanner, type Http, type Json } from '../../core/contract.ts';
import { itemsOf } from '../../core/reports.ts';
import { explainAws, signedHeaders } from '../../core/sigv4.ts';
import { coverageOf } from './coverage.ts';
import { assumeRole, Credentials, keysOf, roleProblems } from './role.ts';

/** The maximum of the API. */
const FINDINGS_PER_PAGE = 100;
const RESOURCES_PER_PAGE = 200;
const OVERLAP_MS = 3_600_000;
/** AWS deletes closed findings after some days, so older changes may be incomplete. */
const MAX_CHANGES_MS = 6 * 24 * 3_600_000;
/** The end of the window must be the same on all pages and before 2033. */
const FAR_END = 1_956_528_000;

const STS_URL = 'https://sts.{region}.amazonaws.com';

const Token = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Findings = Type.Object({ findings: Type.Array(Type.Unknown()), nextToken: Token });
const Coverage = Type.Object({ coveredResources: Type.Array(Type.Unknown()), nextToken: Token });

const Config = Type.Object({
  regions: Type.Array(Type.String({ pattern: '^[a-z]{2}(-[a-z]+)+-[0-9]+$' }), {
    title: 'Regions',
    examples: [['eu-west-1', 'us-east-1']],
    description:
      'Regions where Amazon Inspector is enabled, such as eu-west-1. The delegated administrator of an organization sees the findings of its members.',
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
  }),
  api_url: Type.String({
    title: 'API URL',
    'x-group': 'advanced',
    description: 'URL of the API, with {region} in place of the region. In China: https://inspector2.{region}.amazonaws.com.cn.',
    pattern: '^https?://[^@]+$',
    default: 'https://inspector2.{region}.amazonaws.com',
  }),
  sts_url: Type.Optional(
    Type.String({
      title: 'STS URL',
      'x-group': 'advanced',
      description: 'URL of the service that issues the keys of a role, with {region} in place of the region. In China: https://sts.{region}.amazonaws.com.cn.',
      pattern: '^https?://[^@]+$',
      default: STS_URL,
    }),
  ),
});
type Config = Static<typeof Config>;

export const awsInspector2 = defineScanner({
  id: 'aws_inspector2',
  name: 'Amazon Inspector',
  version: 1,
  description: 'Findings of Amazon Inspector on EC2 instances, container images, Lambda functions and code, in one or more regions.',
  documentation: 'https://docs.aws.amazon.com/inspector/v2/APIReference/API_ListFindings.html',
  permissions:
    'an access key that allows inspector2:ListFindings and inspector2:ListCoverage in every region, for example through AmazonInspector2ReadOnlyAccess, or that may assume a role (sts:AssumeRole) that allows them',
  config: Config,
  credentials: Credentials,
  problems: ({ config, credentials }) => [
    ...(isDistinct(config) ? [] : [{ path: '/config/api_url', detail: 'must contain {region} because there are several regions' }]),
    ...roleProblems(credentials),
  ],
  baseUrl: ({ config }) => urlOf(config, config.regions[0] ?? ''),
  origins: ({ config, credentials }) => [
    ...config.regions.map((region) => urlOf(config, region)),
    ...(credentials.role_arn === undefined ? [] : [stsOf(config).url]),
  ],
  login: ({ http, config, credentials }) => assumeRole(http, credentials, stsOf(config)),
  authorize({ config, credentials, token }, request) {
    const region = config.regions.find((one) => request.url.href.startsWith(`${urlOf(config, one)}/`)) ?? config.regions[0] ?? '';
    const headers: Record<string, string> = request.body === undefined ? {} : { 'content-type': 'application/json' };
    return signedHeaders(request, { keys: keysOf(token, credentials), region, service: 'inspector2', at: new Date() }, headers);
  },
  explain: explainAws,
  async check({ http, config }) {
    assertDistinct(config);
    for (const region of config.regions) await send(http, `${urlOf(config, region)}/findings/list`, Findings, { maxResults: 1 });
  },
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    assertDistinct(config);
    const since = typeof cursor === 'string' ? Date.parse(cursor) - OVERLAP_MS : Number.NEGATIVE_INFINITY;
    const changes = startedAt.getTime() - since < MAX_CHANGES_MS;
    const filter = changes ? { filterCriteria: { updatedAt: [{ startInclusive: Math.floor(since / 1000), endInclusive: FAR_END }] } } : {};
    let at: Position | null = positionOf(checkpoint, config.regions) ?? (checkpoint === 'end' ? null : startOf(config.regions, changes));
    while (at !== null) {
      const url = urlOf(config, at.region);
      if (at.list === 'coverage') {
        const json = { maxResults: RESOURCES_PER_PAGE, filterCriteria: { scanStatusCode: [{ comparison: 'EQUALS', value: 'ACTIVE' }] }, ...tokenOf(at) };
        const page = await send(http, `${url}/coverage/list`, Coverage, json);
        const coverage = coverageOf(page.coveredResources, at.region);
        at = nextOf(at, page.nextToken, { ...config, changes });
        yield { items: [], ...coverage, checkpoint: at ?? 'end' };
      } else {
        // Sorted by a field that never changes, so that no finding moves to a page that was already read.
        const json = { maxResults: FINDINGS_PER_PAGE, sortCriteria: { field: 'FIRST_OBSERVED_AT', sortOrder: 'ASC' }, ...filter, ...tokenOf(at) };
        const page = await send(http, `${url}/findings/list`, Findings, json);
        const items = await itemsOf('aws_inspector2', JSON.stringify({ findings: page.findings }), `${at.region} page ${at.page}`);
        at = nextOf(at, page.nextToken, { ...config, changes });
        yield { items, checkpoint: at ?? 'end' };
      }
    }
    return { coverage: changes ? 'changes' : 'complete', cursor: startedAt.toISOString() };
  },
});

/** The next page. */
type Position = { region: string; list: 'coverage' | 'findings'; page: number; token: string | null };

function startOf([region]: readonly string[], changes: boolean): Position | null {
  return region === undefined ? null : { region, list: changes ? 'findings' : 'coverage', page: 1, token: null };
}

/** Null if there is no checkpoint, or if its region is no longer configured. */
function positionOf(checkpoint: Json, regions: readonly string[]): Position | null {
  const { region, list, page, token } = obj(checkpoint);
  if (typeof region !== 'string' || !regions.includes(region)) return null;
  return { region, list: list === 'coverage' ? 'coverage' : 'findings', page: Number(page), token: str(token) ?? null };
}

function nextOf(at: Position, token: string | null | undefined, { regions, changes }: { regions: readonly string[]; changes: boolean }): Position | null {
  if (token) return { ...at, page: at.page + 1, token };
  if (at.list === 'coverage') return { region: at.region, list: 'findings', page: 1, token: null };
  return startOf(regions.slice(regions.indexOf(at.region) + 1), changes);
}

function tokenOf({ token }: Position): { nextToken?: string } {
  return token === null ? {} : { nextToken: token };
}

function urlOf({ api_url }: Config, region: string): string {
  return api_url.replaceAll('{region}', region).replace(/(?<!\/)\/+$/, '');
}

function stsOf({ sts_url = STS_URL, regions: [region = ''] }: Config): { url: string; region: string } {
  return { url: sts_url.replaceAll('{region}', region).replace(/(?<!\/)\/+$/, ''), region };
}

function isDistinct(config: Config): boolean {
  return config.regions.length <= 1 || urlOf(config, 'a') !== urlOf(config, 'b');
}

function assertDistinct(config: Config): void {
  if (!isDistinct(config)) throw new ConnectorError('configuration', 'The API URL does not contain {region}, so it works for only one region.');
}

async function send<T extends typeof Findings | typeof Coverage>(http: Http, path: string, schema: T, json: Json): Promise<Static<T>> {
  return (await http.json(schema, { method: 'POST', path, json, repeatable: true })).body;
}
