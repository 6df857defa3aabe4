import { required } from '@rrs/scan-reports/normalize.ts';
import { arr, date, num, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineEnrichment, type Knowledge } from '../../core/contract.ts';
import { knowledgeOf, readRecords } from '../../core/knowledge.ts';
import { Secret } from '../../core/settings/fields.ts';

const Advisories = Type.Array(Type.Unknown());
const PAGE_SIZE = 100;
const RATE_LIMIT_SECONDS = 60;

export const githubAdvisories = defineEnrichment({
  id: 'github_advisories',
  name: 'GitHub Advisory Database',
  version: 1,
  description: 'The CVEs that belong to GHSA ids, with CVSS vectors and weaknesses, for vulnerabilities in open source packages.',
  documentation: 'https://docs.github.com/en/rest/security-advisories/global-advisories',
  permissions: 'a personal access token without any scope. Without a token, GitHub allows 60 requests an hour',
  config: Type.Object({
    api_url: Type.String({
      title: 'API URL',
      description: 'https://api.github.com, or https://<host>/api/v3 for GitHub Enterprise Server with GitHub Connect.',
      format: 'uri',
      default: 'https://api.github.com',
    }),
    include_unreviewed: Type.Boolean({
      title: 'Include unreviewed advisories',
      description:
        'Also reads the advisories that GitHub copies from NVD without a review. They are ten times as many and take about 3,000 requests in the first run. Requires a token.',
      default: false,
    }),
  }),
  credentials: Type.Object({
    token: Type.Optional(
      Secret(
        'Access token',
        'Create one in GitHub under Settings, Developer settings, Personal access tokens. No scope is needed. The first run takes about 300 requests.',
        { link: 'https://github.com/settings/personal-access-tokens/new' },
      ),
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }): Record<string, string> => ({
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    ...(credentials.token ? { authorization: `Bearer ${credentials.token}` } : {}),
  }),
  rateLimited(status, headers) {
    if (status !== 403 && status !== 429) return null;
    if (headers['x-ratelimit-remaining'] === '0') return secondsUntil(headers['x-ratelimit-reset'], headers.date);
    return 'retry-after' in headers ? 0 : null;
  },
  async check({ http }) {
    await http.getJson('advisories', Advisories, { per_page: 1 });
  },
  async *knowledge({ http, config, checkpoint, cursor, startedAt }) {
    const types = ['reviewed', ...(config.include_unreviewed ? ['unreviewed'] : [])];
    const since = timesOf(cursor);
    const reached = obj(checkpoint);
    const latest = { ...since, ...timesOf(reached.latest) };
    let after = str(reached.after) ?? null;
    for (let done = num(reached.done) ?? 0; done < types.length; ) {
      const type = types[done] ?? '';
      const query = { type, sort: 'updated', direction: 'asc', per_page: PAGE_SIZE, after, updated: since[type] ? `>=${since[type]}` : null };
      const { body, headers } = await http.json(Advisories, { path: 'advisories', query });
      const changes = body.map((advisory) => date(obj(advisory).updated_at)?.toISOString() ?? '');
      latest[type] = [latest[type] ?? '', ...changes].sort().at(-1) ?? '';
      const page = `${type} advisories after ${after ?? 'the start'}`;
      const next = nextOf(headers.link);
      if (next !== null && next === after) throw new ConnectorError('incomplete', 'GitHub sent the same page of advisories again.');
      [done, after] = next === null ? [done + 1, null] : [done, next];
      yield { ...readRecords(body, (index) => `${page}, ${index + 1}`, advisoryOf), checkpoint: { done, after, latest: { ...latest } } };
    }
    return { cursor: latest, asOf: Object.values(latest).sort().at(-1) || startedAt.toISOString() };
  },
});

/** The time of the latest change that was read, by type. */
function timesOf(json: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(obj(json)).flatMap(([type, value]) => (date(value) ? [[type, String(value)]] : [])));
}

/** Uses the clock of the vendor. */
function secondsUntil(reset: string | undefined, now: string | undefined): number {
  const seconds = Number(reset) - Date.parse(now ?? '') / 1000;
  return Number.isNaN(seconds) ? RATE_LIMIT_SECONDS : Math.max(0, Math.ceil(seconds));
}

/** Uses only the cursor of the link, because behind a proxy the link has another host. */
function nextOf(link: string | undefined): string | null {
  const url = /<([^<>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return url ? new URL(url, 'https://api.github.com').searchParams.get('after') : null;
}

/** Null for withdrawn advisories. */
function advisoryOf(record: unknown): Knowledge | null {
  const { ghsa_id, cve_id, withdrawn_at, identifiers, cvss, cvss_severities, cwes } = obj(record);
  const id = required(str(ghsa_id), 'ghsa_id');
  if (str(withdrawn_at) !== undefined) return null;
  const { cvss_v3, cvss_v4 } = obj(cvss_severities);
  return knowledgeOf({
    ids: [id, str(cve_id), ...arr(identifiers).map((identifier) => str(obj(identifier).value))],
    cwes: arr(cwes).map((cwe) => obj(cwe).cwe_id),
    cvss: [cvss_v4, cvss_v3, cvss].map(obj).map(({ vector_string, score }) => ({ vector: vector_string, score })),
  });
}
