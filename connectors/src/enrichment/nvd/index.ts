import { date, num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineEnrichment, type Http, type HttpRequest, type Json, type KnowledgeBatch, type KnowledgeResult } from '../../core/contract.ts';
import { isCve, queryBatches, readRecords } from '../../core/knowledge.ts';
import { Choice, Secret } from '../../core/settings/fields.ts';
import { cveOf } from './cve.ts';

const Page = Type.Object({
  startIndex: Type.Integer({ minimum: 0 }),
  totalResults: Type.Integer({ minimum: 0 }),
  timestamp: Type.String(),
  vulnerabilities: Type.Array(Type.Unknown()),
});
/** A refusal has no body. The reason is in a header. */
const ResponseBody = Type.Union([Page, Type.Null()]);

const PAGE_SIZE = 2_000;
const MAX_WINDOW_MS = 120 * 86_400_000;
/** NVD may index changes late. */
const OVERLAP_MS = 3_600_000;
const RATE_LIMIT_SECONDS = 30;
const PERMISSIONS = 'an API key from https://nvd.nist.gov/developers/request-an-api-key, or none';

export const nvd = defineEnrichment({
  id: 'nvd',
  name: 'NVD',
  version: 1,
  description:
    'CVSS vectors, weaknesses and known exploits of CVEs from the National Vulnerability Database. This product uses data from the NVD API but is not endorsed or certified by the NVD.',
  documentation: 'https://nvd.nist.gov/developers/vulnerabilities',
  permissions: PERMISSIONS,
  config: Type.Object({
    api_url: Type.String({
      title: 'API URL',
      description: 'The part of the URL before /cves/2.0, of NVD or of a mirror in your network.',
      format: 'uri',
      default: 'https://services.nvd.nist.gov/rest/json',
    }),
    scope: Choice(
      { all: 'All CVEs once, then changes', wanted: 'Only CVEs that findings have, one request each in every run' },
      {
        title: 'Scope',
        description:
          'Which CVEs to read. All CVEs take about 200 requests in the first run and few after that. Single requests are faster only for a few dozen CVEs.',
        default: 'all',
      },
    ),
  }),
  credentials: Type.Object({
    api_key: Type.Optional(
      Secret('API key', 'Free of charge. Without a key, NVD allows a tenth of the requests.', { link: 'https://nvd.nist.gov/developers/request-an-api-key' }),
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }): Record<string, string> => (credentials.api_key ? { apiKey: credentials.api_key } : {}),
  // The firewall of NVD reports rate limits with 403. NVD reports a wrong key with 404.
  rateLimited: (status) => (status === 403 || status === 429 ? RATE_LIMIT_SECONDS : null),
  async check({ http }) {
    await fetchPage(http, { resultsPerPage: 1 });
  },
  knowledge({ http, config, credentials, checkpoint, cursor, startedAt, wanted }) {
    const fetchCves = withPauses(http, credentials.api_key !== undefined);
    if (config.scope === 'wanted') return wantedCves(fetchCves, wanted, checkpoint);
    return listedCves(fetchCves, date(obj(cursor).since), positionOf(checkpoint, startedAt));
  },
});

type Query = NonNullable<HttpRequest['query']>;
type FetchPage = (query: Query) => Promise<Static<typeof Page> | null>;

/** Returns null if NVD does not know the CVE. */
async function fetchPage(http: Http, query: Query): Promise<Static<typeof Page> | null> {
  const { headers, body } = await http.json(ResponseBody, { path: 'cves/2.0', query, accept: [404] });
  if (body) return body;
  const message = headers.message ?? '';
  if (/api\s*key/i.test(message)) throw new ConnectorError('credentials', `NVD refused the API key. It needs: ${PERMISSIONS}. Response: ${message}`);
  if ('cveId' in query) return null;
  throw new ConnectorError('configuration', `NVD refused the request (404). Check the API URL.${message && ` Response: ${message}`}`);
}

/** NVD allows 5 requests within 30 seconds, or 50 with a key. */
function withPauses(http: Http, hasKey: boolean): FetchPage {
  let isFirst = true;
  return async (query) => {
    if (!isFirst) await http.pause(hasKey ? 0 : 3);
    isFirst = false;
    return fetchPage(http, query);
  };
}

interface Position {
  /** The index of the current window. */
  window: number;
  from: number;
  total: number;
  /** The time of the first response. */
  asOf: string | null;
  until: Date;
}

function positionOf(checkpoint: Json, startedAt: Date): Position {
  const { window, from, total, as_of, until } = obj(checkpoint);
  return { window: num(window) ?? 0, from: num(from) ?? 0, total: num(total) ?? 0, asOf: str(as_of) ?? null, until: date(until) ?? startedAt };
}

async function* listedCves(fetchCves: FetchPage, since: Date | null, position: Position): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  const { until } = position;
  let { window: current, from, total, asOf } = position;
  const windows = since ? windowsBetween(since, until) : [{}];
  for (let window = windows[current]; window; window = windows[current]) {
    const page = await fetchCves({ ...window, resultsPerPage: PAGE_SIZE, startIndex: from });
    if (!page || page.startIndex !== from) throw new ConnectorError('incomplete', `NVD did not send the requested entries from ${from} on.`);
    asOf ??= page.timestamp;
    const removed = total - page.totalResults;
    total = page.totalResults;
    if (removed > 0) {
      // A CVE that changes during the run leaves its window, and the entries after it move up.
      from = Math.max(0, from - removed);
      continue;
    }
    const known = readRecords(page.vulnerabilities, (index) => `entry ${from + index} of ${JSON.stringify(window)}`, cveOf);
    const next = from + page.vulnerabilities.length;
    if (next === from && next < total) throw new ConnectorError('incomplete', `NVD announced ${total} entries but sent ${from}.`);
    [current, from, total] = next < total ? [current, next, total] : [current + 1, 0, 0];
    yield { ...known, checkpoint: { window: current, from, total, as_of: asOf, until: until.toISOString() } };
  }
  const latest = date(asOf);
  if (asOf === null || latest === null) throw new ConnectorError('invalid_answer', 'The response of NVD has no timestamp.');
  return { cursor: { since: (since && until < latest ? until : latest).toISOString() }, asOf };
}

function windowsBetween(since: Date, until: Date): Query[] {
  const windows: Query[] = [];
  for (let start = Math.min(since.getTime(), until.getTime()) - OVERLAP_MS; start < until.getTime(); start += MAX_WINDOW_MS) {
    const end = Math.min(start + MAX_WINDOW_MS, until.getTime());
    windows.push({ lastModStartDate: isoTime(start), lastModEndDate: isoTime(end) });
  }
  return windows;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00');
}

async function* wantedCves(
  fetchCves: FetchPage,
  wanted: (after: string | null) => Promise<readonly string[]>,
  checkpoint: Json,
): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  const reached = obj(checkpoint);
  // Fails for a wrong URL, whose 404 responses would otherwise look like unknown CVEs.
  const asOf = str(reached.as_of) ?? (await fetchCves({ resultsPerPage: 1 }))?.timestamp ?? '';
  for await (const ids of queryBatches(wanted, str(reached.after) ?? null, { accepts: isCve, maxIds: 20 })) {
    const records: unknown[] = [];
    for (const id of ids) {
      const found = (await fetchCves({ cveId: id }))?.vulnerabilities ?? [];
      if (found.some((record) => (str(obj(obj(record).cve).id) ?? id) !== id))
        throw new ConnectorError('invalid_answer', `NVD returned another CVE than ${id}.`);
      records.push(...found);
    }
    yield {
      ...readRecords(records, (index) => `record ${index + 1} of the batch from ${ids[0]} on`, cveOf),
      checkpoint: { after: ids.at(-1) ?? '', as_of: asOf },
    };
  }
  // No cursor, because the next run may need other CVEs, which may not have changed for years.
  return { cursor: null, asOf };
}
