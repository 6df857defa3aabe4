import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { seedFindings } from '../../../service/src/testing/findings/seed-findings.ts';
import { load } from '../load.ts';
import { type Server, start } from '../processes.ts';
import type { Result } from '../results.ts';
import { median, type Session, withService } from '../session.ts';
import { oneFilter, sample, twoFilters } from './queries.ts';
import { apiOf, PAGE, percentile, timesOf, timesOfEach } from './times.ts';

export interface Sizes {
  findings: number;
  /** Other organizations, and how many findings each of them has. */
  others: number;
  small: number;
  seconds: number;
  /** Attempts per query. Their median counts. */
  tries: number;
  /** Measures every nth query. The default is all of them. */
  every?: number;
}

/** P3, P4 and P8: lists and bulk changes of an organization with many findings, next to other organizations. */
export function lists({ findings, others, small, seconds, tries, every = 1 }: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const orgId = await seedOrganizations(session.admin, { findings, others, small });
    const api = apiOf(session);
    const bare = await start('bare', { BENCH_DATABASE_URL: session.databaseUrl, BENCH_ORG: orgId });
    assert.deepEqual(
      await fieldsOf(`${bare.url}/findings`, {}),
      await fieldsOf(`${api.url}${PAGE}`, session.headers),
      'the plain handler must write the same JSON',
    );
    // All at the same moments: the more a program has run, the faster it is.
    const unfiltered = async () => ({
      me: await timesOf(api, '/me', 100),
      page: await timesOf(api, PAGE, 100),
      bare: await timesOf({ url: bare.url, headers: {} }, '/findings', 100),
    });
    const rounds = [await unfiltered()];
    const one = await timesOfEach(api, sample(oneFilter(), every), tries);
    rounds.push(await unfiltered());
    const two = await timesOfEach(api, sample(twoFilters(), every), tries);
    rounds.push(await unfiltered());
    const me = median(rounds.flatMap((round) => round.me));
    const first = median(rounds.flatMap((round) => round.page));
    const plain = median(rounds.flatMap((round) => round.bare));
    const deep = median(await timesOf(api, `${PAGE}${await deepPage(session)}`, 100));
    const slowest = [...one, ...two].reduce((worst, next) => (next.ms > worst.ms ? next : worst));
    const ratio = (what: string, ms: number, bar: number, note = ''): Result => ({
      id: 'P3',
      what: `${what}, compared with GET /me (p50)`,
      figure: `${(ms / me).toFixed(1)} × (${ms.toFixed(1)} ms vs ${me.toFixed(1)} ms${note})`,
      bar: `≤ ${bar} ×`,
      met: ms / me <= bar,
    });
    return [
      ratio(`GET /findings among ${findings}, 50 rows, unfiltered, p50`, first, 2.5, `, ${plain.toFixed(1)} ms of a plain handler with the same rows`),
      ratio(`one filter in any order (${one.length}), p95 over all`, percentile(one, 0.95), 5),
      ratio(`two filters (${two.length}), p95 over all`, percentile(two, 0.95), 10),
      ratio('the slowest of all', slowest.ms, 40, `, ${slowest.query}`),
      { id: 'P3', what: 'a deep page, compared with the first page', figure: `${(deep / first).toFixed(2)} ×`, bar: '≤ 1.5 ×', met: deep / first <= 1.5 },
      await throughput(session, bare, seconds),
      await bulkChange(session, orgId),
    ];
  });
}

async function seedOrganizations(admin: pg.Client, { findings, others, small }: Pick<Sizes, 'findings' | 'others' | 'small'>): Promise<string> {
  const { rows } = await admin.query('select id from organizations');
  const orgId: string = rows[0].id;
  for (let n = 1; n <= others; n++) {
    const { rows: created } = await admin.query(`insert into organizations (id, slug, name) values (gen_random_uuid(), $1, $1) returning id`, [`other-${n}`]);
    await seedFindings(admin, created[0].id, { to: small });
  }
  await seedFindings(admin, orgId, { to: findings });
  await admin.query('vacuum analyze');
  return orgId;
}

/** The names of the fields of the first finding, in the order in which they are written. */
async function fieldsOf(url: string, headers: Record<string, string>): Promise<string[]> {
  const { data } = (await (await fetch(url, { headers })).json()) as { data: object[] };
  return Object.keys(data[0] ?? {});
}

/** Twenty pages deep. With keyset paging, deeper pages cost the same. */
async function deepPage({ service, headers }: Session): Promise<string> {
  let cursor = '';
  for (let page = 0; page < 20; page++) {
    const response = await fetch(`${service.url}/api/v1/findings?limit=200${cursor}`, { headers });
    const { page: at } = (await response.json()) as { page: { next_cursor: string | null } };
    if (at.next_cursor === null) break;
    cursor = `&cursor=${at.next_cursor}`;
  }
  return cursor;
}

async function throughput({ service, headers }: Session, bare: Server, seconds: number): Promise<Result> {
  const options = { connections: 8, seconds };
  const ratios: number[] = [];
  let [serviceRate, baselineRate] = [0, 0];
  for (let round = 0; round < 4; round++) {
    baselineRate = (await load(`${bare.url}/findings`, {}, options)).perSecond;
    serviceRate = (await load(`${service.url}/api/v1${PAGE}`, headers, options)).perSecond;
    if (round > 0) ratios.push(serviceRate / baselineRate);
  }
  await bare.stop();
  const ratio = median(ratios);
  const figure = `${ratio.toFixed(2)} × (${Math.round(serviceRate)}/s vs ${Math.round(baselineRate)}/s)`;
  const what = 'throughput of GET /findings, compared with a plain Fastify handler that runs the page query alone and writes the same JSON';
  return { id: 'P4', what, figure, bar: '≥ 0.6 ×', met: ratio >= 0.6 };
}

const CHANGED = 10_000;

/** The bulk change and a plain UPDATE alternate on the same findings. */
async function bulkChange({ service, headers, admin }: Session, orgId: string): Promise<Result> {
  await admin.query(
    `update findings set tags = '{bulk}', search = search || array_to_tsvector('{t:bulk}') where org_id = $1 and id in (select id from findings where org_id = $1 order by id limit ${CHANGED})`,
    [orgId],
  );
  await admin.query('vacuum analyze findings');
  const times: { bulkMs: number; updateMs: number }[] = [];
  for (const [severity, rank] of [
    ['low', 3],
    ['high', 2],
    ['medium', 1],
    ['critical', 3],
  ] as const) {
    const bulkStarted = performance.now();
    const response = await fetch(`${service.url}/api/v1/findings/bulk`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ filter: { tag: ['bulk'] }, change: { severity, reason: 'benchmark' } }),
    });
    const { counts } = (await response.json()) as { counts: { matched: number; changed: number } };
    const bulkMs = performance.now() - bulkStarted;
    if (counts.matched === 0) throw new Error('the filter of the bulk change matches nothing');
    times.push({ bulkMs, updateMs: await plainUpdate(admin, orgId, rank) });
  }
  const ratio = median(times.map(({ bulkMs, updateMs }) => bulkMs / updateMs));
  const figure = `${ratio.toFixed(1)} × (${times.map(({ bulkMs, updateMs }) => `${Math.round(bulkMs)} ms vs ${Math.round(updateMs)} ms`).join(', ')})`;
  return { id: 'P8', what: `bulk change of ${CHANGED} findings by filter, compared with one UPDATE of the same rows`, figure, bar: '≤ 4 ×', met: ratio <= 4 };
}

async function plainUpdate(admin: pg.Client, orgId: string, severity: number): Promise<number> {
  const started = performance.now();
  await admin.query(
    `update findings set severity = $2, severity_override = $2, version = version + 1, updated_at = now() where org_id = $1 and search @@ '''t:bulk'''::tsquery`,
    [orgId, severity],
  );
  return performance.now() - started;
}
