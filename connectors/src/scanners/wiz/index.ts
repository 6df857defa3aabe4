import { record } from '@rrs/scan-reports/normalize.ts';
import { obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineScanner, type Http, type Json, Secret } from '../../core/contract.ts';
import { clientToken } from '../../core/oauth.ts';
import { findingOf, QUERY } from './finding.ts';

const MOST_ON_A_PAGE = 500;
const ATTEMPTS = 5;
/** Their clock and ours need not agree, and what changes may show a little later. */
const OVERLAP_MS = 3_600_000;
const PERMISSIONS = 'a service account of the type Custom Integration (GraphQL API) with the scope read:vulnerabilities';

const Page = Type.Object({
  nodes: Type.Array(Type.Unknown()),
  pageInfo: Type.Object({ hasNextPage: Type.Boolean(), endCursor: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
});
const Answer = Type.Object({
  errors: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Null()])),
  data: Type.Optional(Type.Union([Type.Object({ vulnerabilityFindings: Type.Union([Page, Type.Null()]) }), Type.Null()])),
});

export const wiz = defineScanner({
  id: 'wiz',
  name: 'Wiz',
  version: 1,
  description: 'Vulnerability findings of Wiz on virtual machines, containers, images, functions and repositories, with their state.',
  documentation: 'https://win.wiz.io/reference/prerequisites',
  permissions: PERMISSIONS,
  config: Type.Object({
    api_url: Type.String({
      title: 'API endpoint',
      description: 'In Wiz under User settings, Tenant: https://api.<data centre>.app.wiz.io/graphql',
      format: 'uri',
    }),
    token_url: Type.String({
      title: 'Token address',
      description: 'Where tokens are given out; for government tenants https://auth.gov.wiz.io/oauth/token',
      format: 'uri',
      default: 'https://auth.app.wiz.io/oauth/token',
    }),
    audience: Type.String({
      title: 'Audience',
      description: 'Other than wiz-api for old tenants alone, whose token address is https://auth.wiz.io/oauth/token: beyond-api',
      default: 'wiz-api',
    }),
  }),
  credentials: Type.Object({
    client_id: Type.String({ title: 'Client ID', description: 'In Wiz under Settings, Service accounts', minLength: 1 }),
    client_secret: Secret('Client secret', 'Shown once, when the service account is created. What its projects hold is all that is read.'),
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
        const { nodes, pageInfo } = await pageOf(http, config.api_url, { first: MOST_ON_A_PAGE, after, filterBy });
        const page = after ? `findings after ${after}` : 'findings from the start';
        const items = nodes.flatMap((node, n) => [...record(`${page} [${n}]`, () => findingOf(obj(node), `${page} [${n}]`))]);
        if (pageInfo.hasNextPage && !pageInfo.endCursor) throw new ConnectorError('incomplete', 'Wiz says that there is more, but not where.');
        after = pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
        yield { items, checkpoint: after === null ? 'end' : { after } };
      } while (after !== null);
    }
    return { coverage: cursor === null ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

/** Errors come with status 200, and may come with a part of the data: then it is not to be trusted. */
async function pageOf(http: Http, url: string, variables: Json): Promise<Static<typeof Page>> {
  for (let attempt = 1; ; attempt++) {
    const { body } = await http.json(Answer, { method: 'POST', path: url, json: { query: QUERY, variables }, repeatable: true });
    const page = body.data?.vulnerabilityFindings;
    if (!body.errors?.length && page) return page;
    const fault = faultOf(body.errors ?? []);
    const passing = fault.kind === 'rate_limited' || fault.kind === 'unavailable';
    if (!passing || attempt === ATTEMPTS) throw fault;
    await http.pause(attempt);
  }
}

function faultOf(errors: readonly unknown[]): ConnectorError {
  const first = obj(errors[0]);
  const code = str(obj(first.extensions).code) ?? '';
  const said = (str(first.message) ?? 'neither findings nor an error').slice(0, 300);
  if (/UNAUTH|FORBIDDEN|ACCESS_DENIED/i.test(code) || /unauthori[sz]ed|access denied|permission/i.test(said))
    return new ConnectorError('credentials', `Wiz does not allow this with these credentials. They need: ${PERMISSIONS}. It says: ${said}`);
  if (/RATE|THROTTL|TOO_MANY/i.test(code) || /rate limit/i.test(said))
    return new ConnectorError('rate_limited', `Wiz limits how often it may be asked, and went on doing so. It says: ${said}`);
  if (/INTERNAL|TIMEOUT|UNAVAILABLE/i.test(code))
    return new ConnectorError('unavailable', `Wiz answered with an error of its own, several times. It says: ${said}`);
  return new ConnectorError('invalid_answer', `Wiz did not answer the question for findings. It says: ${said}`);
}
