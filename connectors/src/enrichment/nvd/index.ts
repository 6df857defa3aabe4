import { date, num, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import {
  ConnectorError,
  defineEnrichment,
  type Http,
  type HttpRequest,
  type Json,
  type KnowledgeBatch,
  type KnowledgeResult,
  Secret,
} from '../../core/contract.ts';
import { isCve, queryBatches, readRecords } from '../../core/knowledge.ts';
import { cveOf } from './cve.ts';

const Page = Type.Object({
  startIndex: Type.Integer({ minimum: 0 }),
  totalResults: Type.Integer({ minimum: 0 }),
  timestamp: Type.String(),
  vulnerabilities: Type.Array(Type.Unknown()),
});
/** A refusal has no body; what is wrong stands in a header. */
const Answer = Type.Union([Page, Type.Null()]);

const PAGE_SIZE = 2_000;
const LONGEST_WINDOW_MS = 120 * 86_400_000;
/** What NVD puts into its index late. */
const OVERLAP_MS = 3_600_000;
const LEAVE_ALONE_SECONDS = 30;
const PERMISSIONS = 'an API key of https://nvd.nist.gov/developers/request-an-api-key, or none';

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
      title: 'API address',
      description: 'The part before /cves/2.0: of NVD, or of a mirror within your network',
      format: 'uri',
      default: 'https://services.nvd.nist.gov/rest/json',
    }),
    scope: Type.Union(
      [
        Type.Literal('all', { title: 'All CVEs once, and then what has changed' }),
        Type.Literal('wanted', { title: 'Only CVEs that findings have, one request for each, every time' }),
      ],
      {
        title: 'Learn about',
        description: 'All CVEs take about 200 requests the first time and few after that; one by one is quicker only for some dozens of CVEs.',
        default: 'all',
      },
    ),
  }),
  credentials: Type.Object({
    api_key: Type.Optional(
      Secret('API key', 'Free of charge at https://nvd.nist.gov/developers/request-an-api-key. Without one NVD allows a tenth of the requests'),
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }): Record<string, string> => (credentials.api_key ? { apiKey: credentials.api_key } : {}),
  // The firewall in front of NVD forbids what comes too often; a wrong key is a 404.
  rateLimited: (status) => (status === 403 || status === 429 ? LEAVE_ALONE_SECONDS : null),
  async check({ http }) {
    await asked(http, { resultsPerPage: 1 });
  },
  knowledge({ http, config, credentials, checkpoint, cursor, startedAt, wanted }) {
    const ask = paced(http, credentials.api_key !== undefined);
    if (config.scope === 'wanted') return wantedCves(ask, wanted, checkpoint);
    return listedCves(ask, date(obj(cursor).since), placeOf(checkpoint, startedAt));
  },
});

type Query = NonNullable<HttpRequest['query']>;
type Ask = (query: Query) => Promise<Static<typeof Page> | null>;

/** Null: NVD knows no such CVE. */
async function asked(http: Http, query: Query): Promise<Static<typeof Page> | null> {
  const { headers, body } = await http.json(Answer, { path: 'cves/2.0', query, accept: [404] });
  if (body) return body;
  const said = headers.message ?? '';
  if (/api\s*key/i.test(said)) throw new ConnectorError('credentials', `NVD refused the API key. It needs: ${PERMISSIONS}. It says: ${said}`);
  if ('cveId' in query) return null;
  throw new ConnectorError('configuration', `NVD refused the request (404). Check the API address.${said && ` It says: ${said}`}`);
}

/** NVD allows 5 requests within 30 seconds, or 50 with a key. */
function paced(http: Http, hasKey: boolean): Ask {
  let isFirst = true;
  return async (query) => {
    if (!isFirst) await http.pause(hasKey ? 0 : 3);
    isFirst = false;
    return asked(http, query);
  };
}

interface Place {
  /** Those before it are done. */
  window: number;
  from: number;
  total: number;
  /** The moment of the first answer. */
  asOf: string | null;
  until: Date;
}

function placeOf(checkpoint: Json, startedAt: Date): Place {
  const { window, from, total, as_of, until } = obj(checkpoint);
  return { window: num(window) ?? 0, from: num(from) ?? 0, total: num(total) ?? 0, asOf: str(as_of) ?? null, until: date(until) ?? startedAt };
}

async function* listedCves(ask: Ask, since: Date | null, place: Place): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  const { until } = place;
  let { window: current, from, total, asOf } = place;
  const windows = since ? windowsBetween(since, until) : [{}];
  for (let window = windows[current]; window; window = windows[current]) {
    const page = await ask({ ...window, resultsPerPage: PAGE_SIZE, startIndex: from });
    if (!page || page.startIndex !== from) throw new ConnectorError('incomplete', `NVD was asked for entries from ${from} and sent others.`);
    asOf ??= page.timestamp;
    const gone = total - page.totalResults;
    total = page.totalResults;
    if (gone > 0) {
      // What changes meanwhile leaves its window, and what stood behind it moves up.
      from = Math.max(0, from - gone);
      continue;
    }
    const known = readRecords(page.vulnerabilities, (index) => `entry ${from + index} of ${JSON.stringify(window)}`, cveOf);
    const next = from + page.vulnerabilities.length;
    if (next === from && next < total) throw new ConnectorError('incomplete', `NVD announced ${total} entries and sent ${from}.`);
    [current, from, total] = next < total ? [current, next, total] : [current + 1, 0, 0];
    yield { ...known, checkpoint: { window: current, from, total, as_of: asOf, until: until.toISOString() } };
  }
  const latest = date(asOf);
  if (asOf === null || latest === null) throw new ConnectorError('invalid_answer', 'NVD does not say of when its answer is.');
  return { cursor: { since: (since && until < latest ? until : latest).toISOString() }, asOf };
}

function windowsBetween(since: Date, until: Date): Query[] {
  const windows: Query[] = [];
  for (let start = Math.min(since.getTime(), until.getTime()) - OVERLAP_MS; start < until.getTime(); start += LONGEST_WINDOW_MS) {
    const end = Math.min(start + LONGEST_WINDOW_MS, until.getTime());
    windows.push({ lastModStartDate: parseTime(start), lastModEndDate: parseTime(end) });
  }
  return windows;
}

function parseTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '+00:00');
}

async function* wantedCves(
  ask: Ask,
  wanted: (after: string | null) => Promise<readonly string[]>,
  checkpoint: Json,
): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  const reached = obj(checkpoint);
  // Asked first, so that a wrong address is not taken for CVEs that nobody knows.
  const asOf = str(reached.as_of) ?? (await ask({ resultsPerPage: 1 }))?.timestamp ?? '';
  for await (const ids of queryBatches(wanted, str(reached.after) ?? null, { accepts: isCve, maxIds: 20 })) {
    const records: unknown[] = [];
    for (const id of ids) {
      const found = (await ask({ cveId: id }))?.vulnerabilities ?? [];
      if (found.some((record) => (str(obj(obj(record).cve).id) ?? id) !== id))
        throw new ConnectorError('invalid_answer', `NVD was asked for ${id} and answered with another.`);
      records.push(...found);
    }
    yield { ...readRecords(records, (index) => `record ${index + 1} of those from ${ids[0]} on`, cveOf), checkpoint: { after: ids.at(-1) ?? '', as_of: asOf } };
  }
  // No cursor: what is wanted the next time may be other CVEs, which have not changed for years.
  return { cursor: null, asOf };
}
