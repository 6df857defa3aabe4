import type pg from 'pg';
import { seedFindings } from '../../service/src/testing/findings/seed-findings.ts';
import { load } from './load.ts';
import { start } from './processes.ts';
import { FILTERS, type Query, SORTS } from './queries.ts';
import type { Result } from './results.ts';
import { median, type Session, withService } from './session.ts';

export interface Sizes {
  small: number;
  large: number;
  organizations: number;
  seconds: number;
  /** Attempts per query. The fastest counts, so that other load on the machine does not. */
  tries: number;
  /** Measures every nth query. The default is all of them. */
  every?: number;
}

/** P3, P4 and P8: lists and bulk changes of an organization with very many findings, next to other organizations. */
export function lists({ small, large, organizations, seconds, tries, every: step = 1 }: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const { admin } = session;
    const { rows } = await admin.query('select id from organizations');
    const orgId: string = rows[0].id;
    for (let n = 1; n < organizations; n++) {
      const { rows: created } = await admin.query(`insert into organizations (id, slug, name) values (gen_random_uuid(), $1, $1) returning id`, [`other-${n}`]);
      await seedFindings(admin, created[0].id, { to: small });
    }
    await seedFindings(admin, orgId, { to: small });
    await admin.query('vacuum analyze');
    const before = await timesOf(session, '', 60);
    await seedFindings(admin, orgId, { from: small + 1, to: large });
    await admin.query('vacuum analyze');
    const first = await timesOf(session, '', 60);
    const deep = await timesOf(session, await deepPage(session), 60);
    const every = await everyQuery(session, orgId, { tries, step });
    const slowest = every.reduce((worst, one) => (one.ms > worst.ms ? one : worst));
    const typical =
      percentile(
        every.map(({ ms }) => ms),
        0.95,
      ) / percentile(first, 0.95);
    return [
      {
        id: 'P3',
        what: `GET /findings with every filter and sort, alone and in pairs (${every.length}), among ${large} findings`,
        figure: `p95 ${percentile(
          every.map(({ ms }) => ms),
          0.95,
        ).toFixed(1)} ms, ${typical.toFixed(1)} × the unfiltered page's ${percentile(first, 0.95).toFixed(1)} ms`,
        bar: '≤ 5 ×',
        met: typical <= 5,
      },
      { id: 'P3', what: 'the slowest of these queries', figure: `${slowest.ms.toFixed(0)} ms (${slowest.query})`, bar: '≤ 100 ms', met: slowest.ms <= 100 },
      ratioRow('a deep page, compared with the first page', median(deep) / median(first), 1.5),
      ratioRow(`the first page of ${large} findings, compared with ${small} findings`, median(first) / median(before), 1.5),
      await throughput(session, orgId, seconds),
      await bulkChange(session, orgId),
    ];
  });
}

function ratioRow(what: string, ratio: number, bar: number): Result {
  return { id: 'P3', what, figure: `${ratio.toFixed(2)} ×`, bar: `≤ ${bar} ×`, met: ratio <= bar };
}

function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}

async function timeOf({ service, headers }: Session, query: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${service.url}/api/v1/findings?limit=50${query}`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${query}: ${text}`);
  return performance.now() - started;
}

async function timesOf(session: Session, query: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count + 10; n++) times.push(await timeOf(session, query));
  return times.slice(10);
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

async function everyQuery(session: Session, orgId: string, { tries, step }: { tries: number; step: number }): Promise<{ query: string; ms: number }[]> {
  const { rows } = await session.admin.query('select id from assets where org_id = $1 limit 1', [orgId]);
  const filters: Query[] = [...FILTERS, { asset_id: rows[0].id }];
  const queries = [
    ...SORTS.map((sort) => ({ sort })),
    ...filters.flatMap((filter) => SORTS.map((sort) => ({ ...filter, sort }))),
    ...filters.flatMap((one, n) =>
      filters
        .slice(n + 1)
        .flatMap((other, m) => (Object.keys(one).some((key) => key in other) ? [] : [{ ...one, ...other, sort: SORTS[(n + m) % SORTS.length] ?? '' }])),
    ),
  ];
  const measured = [];
  for (const query of queries.filter((_, n) => n % step === 0)) {
    const text = new URLSearchParams(query).toString();
    let ms = Number.POSITIVE_INFINITY;
    for (let n = 0; n < tries; n++) ms = Math.min(ms, await timeOf(session, `&${text}`));
    measured.push({ query: text, ms });
  }
  return measured;
}

async function throughput({ service, headers, databaseUrl }: Session, orgId: string, seconds: number): Promise<Result> {
  const bare = await start('bare', { BENCH_DATABASE_URL: databaseUrl, BENCH_ORG: orgId });
  try {
    const options = { connections: 8, seconds };
    const ratios: number[] = [];
    let [serviceRate, baselineRate] = [0, 0];
    for (let round = 0; round < 4; round++) {
      baselineRate = (await load(`${bare.url}/findings`, {}, options)).perSecond;
      serviceRate = (await load(`${service.url}/api/v1/findings?limit=50`, headers, options)).perSecond;
      if (round > 0) ratios.push(serviceRate / baselineRate);
    }
    const ratio = median(ratios);
    const figure = `${ratio.toFixed(2)} × (${Math.round(serviceRate)}/s vs ${Math.round(baselineRate)}/s)`;
    return { id: 'P4', what: 'GET /findings, compared with a plain Fastify handler with the same SQL and JSON', figure, bar: '≥ 0.7 ×', met: ratio >= 0.7 };
  } finally {
    await bare.stop();
  }
}

const CHANGED = 10_000;

/** The bulk change and a plain UPDATE alternate on the same findings. */
async function bulkChange({ service, headers, admin }: Session, orgId: string): Promise<Result> {
  await admin.query(
    `update findings set tags = '{bulk}', search = search || array_to_tsvector('{t:bulk}') where org_id = $1 and id in (select id from findings where org_id = $1 order by id limit ${CHANGED})`,
    [orgId],
  );
  await admin.query('vacuum analyze findings');
  const ratios: number[] = [];
  let [bulkMs, updateMs] = [0, 0];
  for (const [severity, rank] of [
    ['low', 3],
    ['high', 2],
    ['medium', 5],
    ['critical', 1],
  ] as const) {
    const bulkStarted = performance.now();
    const response = await fetch(`${service.url}/api/v1/findings/bulk`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ filter: { tag: ['bulk'] }, change: { severity, reason: 'benchmark' } }),
    });
    const { counts } = (await response.json()) as { counts: { matched: number; changed: number } };
    bulkMs = performance.now() - bulkStarted;
    updateMs = await plainUpdate(admin, orgId, rank);
    if (counts.matched === 0) throw new Error('the filter of the bulk change matches nothing');
    ratios.push(bulkMs / updateMs);
  }
  const ratio = median(ratios);
  const figure = `${ratio.toFixed(1)} × (${Math.round(bulkMs)} ms vs ${Math.round(updateMs)} ms)`;
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
