import type { ReportItem } from '@rrs/scan-reports';
import { record } from '@rrs/scan-reports/normalize.ts';
import { obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineScanner, type Http, type Json, type ScanOfAsset } from '../../core/contract.ts';
import { clientToken } from '../../core/oauth.ts';
import { Secret } from '../../core/settings/fields.ts';
import { findingOf, QUERY } from './finding.ts';

const MAX_PAGE_SIZE = 500;
const ATTEMPTS = 5;
/** The clock of Wiz may differ, and changes may appear late. */
const OVERLAP_MS = 3_600_000;
const PERMISSIONS = 'a service account of the type Custom Integration (GraphQL API) with the scope read:vulnerabilities';

const Page = Type.Object({
  nodes: Type.Array(Type.Unknown()),
  pageInfo: Type.Object({ hasNextPage: Type.Boolean(), endCursor: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
});
const ResponseBody = Type.Object({
  errors: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])),
  data: Type.Optional(Type.Union([Type.Object({ vulnerabilityFindings: Type.Union([Page, Type.Null()]) }), Type.Null()])),
});

export const wiz = defineScanner({
  id: 'wiz',
  name: 'Wiz',
  version: 1,
  description: 'Wiz vulnerability findings on virtual machines, containers, images, functions and repositories, with their state.',
  documentation: 'https://win.wiz.io/reference/prerequisites',
  permissions: PERMISSIONS,
  config: Type.Object({
    api_url: Type.String({
      title: 'API URL',
      examples: ['https://api.eu1.app.wiz.io/graphql'],
      description: 'URL of the API endpoint, in Wiz under User settings, Tenant: https://api.<data center>.app.wiz.io/graphql.',
      format: 'uri',
    }),
    token_url: Type.String({
      title: 'Token URL',
      'x-group': 'advanced',
      description: 'URL of the token service. For government tenants: https://auth.gov.wiz.io/oauth/token.',
      format: 'uri',
      default: 'https://auth.app.wiz.io/oauth/token',
    }),
    audience: Type.String({
      title: 'Audience',
      'x-group': 'advanced',
      description: 'Audience of the token. Use beyond-api only for old tenants, whose token URL is https://auth.wiz.io/oauth/token.',
      default: 'wiz-api',
    }),
  }),
  credentials: Type.Object({
    client_id: Type.String({
      title: 'Client ID',
      examples: ['xk3f7q2m9v5c8b1n4z6l0w2e5r7t9y1u'],
      description: 'Client ID of the service account, in Wiz under Settings, Service accounts.',
      minLength: 1,
    }),
    client_secret: Secret('Client secret', 'Shown once, when the service account is created. Only findings in the projects of the service account are read.', {
      link: 'https://app.wiz.io/settings/service-accounts',
    }),
  }),
  baseUrl: ({ config }) => config.api_url,
  origins: ({ config }) => [config.token_url],
  login: ({ http, config, credentials: { client_id, client_secret } }) =>
    clientToken(http, { url: config.token_url, form: { audience: config.audience, client_id, client_secret }, name: 'Wiz', permissions: PERMISSIONS }),
  authorize: ({ token }) => ({ authorization: `Bearer ${token}` }),
  async check({ http, config }) {
    await pageOf(http, config.api_url, { first: 1, filterBy: {} });
  },
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    if (checkpoint !== 'end') {
      const since = typeof cursor === 'string' ? { updatedAt: { after: new Date(Date.parse(cursor) - OVERLAP_MS).toISOString() } } : {};
      const filterBy = { status: ['OPEN', 'IN_PROGRESS', 'RESOLVED', 'REJECTED'], ...since };
      let after = str(obj(checkpoint).after) ?? null;
      do {
        const { nodes, pageInfo } = await pageOf(http, config.api_url, { first: MAX_PAGE_SIZE, after, filterBy });
        const page = after ? `findings after ${after}` : 'findings from the start';
        const items = nodes.flatMap((node, n) => [...record(`${page} [${n}]`, () => findingOf(obj(node), `${page} [${n}]`))]);
        if (pageInfo.hasNextPage && !pageInfo.endCursor) throw new ConnectorError('incomplete', 'Wiz reports more findings but sends no cursor.');
        after = pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
        yield { items, ...(cursor === null ? { scans: scansOf(items) } : {}), checkpoint: after === null ? 'end' : { after } };
      } while (after !== null);
    }
    return { coverage: cursor === null ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

/** Wiz scans an asset as a whole and states when it last detected a finding there, so it scanned the asset at that time or later. */
function scansOf(items: readonly ReportItem[]): ScanOfAsset[] {
  const latest = new Map<string, ScanOfAsset & { finished_at: Date }>();
  for (const item of items) {
    if ('rejection' in item) continue;
    const { asset, last_seen } = item.observation;
    if (!asset || !last_seen) continue;
    const key = `${asset.type} ${asset.name}`;
    const known = latest.get(key);
    if (!known || known.finished_at < last_seen) latest.set(key, { asset, finished_at: last_seen });
  }
  return [...latest.values()];
}

/** Errors have the status 200 and may come with partial data, which must not be used. */
async function pageOf(http: Http, url: string, variables: Json): Promise<Static<typeof Page>> {
  for (let attempt = 1; ; attempt++) {
    const { body } = await http.json(ResponseBody, { method: 'POST', path: url, json: { query: QUERY, variables }, repeatable: true });
    const page = body.data?.vulnerabilityFindings;
    if (!body.errors?.length && page) return page;
    const fault = faultOf(body.errors ?? []);
    const isTemporary = fault.kind === 'rate_limited' || fault.kind === 'unavailable';
    if (!isTemporary || attempt === ATTEMPTS) throw fault;
    await http.pause(attempt);
  }
}

function faultOf(errors: readonly unknown[]): ConnectorError {
  const first = obj(errors[0]);
  const code = str(obj(first.extensions).code) ?? '';
  const message = (str(first.message) ?? 'neither findings nor an error').slice(0, 300);
  if (/UNAUTH|FORBIDDEN|ACCESS_DENIED/i.test(code) || /unauthori[sz]ed|access denied|permission/i.test(message))
    return new ConnectorError('credentials', `Wiz does not allow this with these credentials. They need: ${PERMISSIONS}. Response: ${message}`);
  if (/RATE|THROTTL|TOO_MANY/i.test(code) || /rate limit/i.test(message))
    return new ConnectorError('rate_limited', `Wiz is limiting the request rate, also after retries. Response: ${message}`);
  if (/INTERNAL|TIMEOUT|UNAVAILABLE/i.test(code))
    return new ConnectorError('unavailable', `Wiz returned a server error, also after retries. Response: ${message}`);
  return new ConnectorError('invalid_answer', `Wiz did not return findings. Response: ${message}`);
}
