import { setTimeout as delay } from 'node:timers/promises';
import { seedFindings } from '../../service/src/testing/findings/seed-findings.ts';
import { load } from './load.ts';
import { start } from './processes.ts';
import type { Result } from './results.ts';
import { median, type Session, withService } from './session.ts';

export interface Sizes {
  /** Findings in the database before the runs. */
  findings: number;
  /** Records in the report of each vendor that serves one. */
  records: number;
  rounds: number;
  seconds: number;
}

const PATHS = ['/api/v1/findings?limit=50', '/api/v1/me'] as const;
const RESTART_MS = 1_000;

/**
 * SYNC: latency of one caller while twenty connections sync, compared with an idle service. Idle and busy measurements alternate. This is the
 * worst case: vendors respond as fast as they can, and finished runs start again. The vendors run in their own process but share the cores
 * with the service, its database and the caller, so part of the difference is theirs.
 */
export async function syncs({ records, ...sizes }: Sizes): Promise<Result[]> {
  const starting = start('vendors', { BENCH_RECORDS: String(records) });
  try {
    const settings = starting.then(async ({ url }) => (await (await fetch(`${url}/connections`)).json()) as object[]);
    return await withService(async (session) => compare(session, await settings, sizes), { RRS_OUTBOUND_ALLOW: '127.0.0.1' });
  } finally {
    await (await starting).stop();
  }
}

async function compare(session: Session, settings: readonly object[], { findings, rounds, seconds }: Omit<Sizes, 'records'>): Promise<Result[]> {
  const { admin } = session;
  const { rows } = await admin.query('select id from organizations');
  await seedFindings(admin, rows[0].id, { to: findings });
  await admin.query('vacuum analyze');
  await Promise.all(settings.map((one) => request(session, 'POST', '/integrations', { ...one, schedule: null })));
  const measured = PATHS.map(() => ({ idle: [] as number[], syncing: [] as number[] }));
  const measure = async (which: 'idle' | 'syncing'): Promise<void> => {
    for (const [n, path] of PATHS.entries()) {
      const { p95 } = await load(`${session.service.url}${path}`, session.headers, { connections: 1, seconds });
      measured[n]?.[which].push(p95);
    }
  };
  for (let round = 0; round < rounds; round++) {
    await measure('idle');
    const background = keepSyncing(session);
    await untilAllKindsRan(session);
    await measure('syncing').finally(background.end);
    await cancelAll(session);
  }
  const runs = Object.values(await countRuns(session)).reduce((sum, n) => sum + n, 0);
  return PATHS.map((path, n) => resultOf(path, runs, measured[n] ?? { idle: [], syncing: [] }));
}

function resultOf(path: string, runs: number, { idle, syncing }: Record<'idle' | 'syncing', number[]>): Result {
  const ratio = median(syncing.map((p95, round) => p95 / (idle[round] ?? Number.NaN)));
  return {
    id: 'SYNC',
    what: `p95 of GET ${path.replace('/api/v1', '').replace('?limit=50', ', 50 rows,')} while twenty connections sync (${runs} runs), compared with an idle service`,
    figure: `${ratio.toFixed(2)} × (${median(syncing).toFixed(1)} ms vs ${median(idle).toFixed(1)} ms)`,
    bar: '≤ 2 ×',
    met: ratio <= 2,
  };
}

async function request<T>({ service, headers }: Session, method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...sent,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
}

/** Starts finished runs again until it is ended. */
function keepSyncing(session: Session): { end(): Promise<void> } {
  const over = new AbortController();
  const going = (async () => {
    while (!over.signal.aborted) {
      await request(session, 'POST', '/integrations/sync-all');
      await delay(RESTART_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  return {
    end: () => {
      over.abort();
      return going;
    },
  };
}

async function countRuns({ admin }: Session): Promise<Record<string, number>> {
  const { rows } = await admin.query<{ status: string; n: number }>('select status, count(*)::int as n from sync_runs group by status');
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

/** Waits until there are succeeded, failed and running runs, so that the measurement includes all of them. */
async function untilAllKindsRan(session: Session): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await delay(50)) {
    const { succeeded = 0, failed = 0, running = 0 } = await countRuns(session);
    if (succeeded > 0 && failed > 0 && running > 0) return;
  }
  throw new Error(`not all kinds of runs were seen: ${JSON.stringify(await countRuns(session))}`);
}

/** Runs that wait for a stalled vendor would otherwise last for minutes. */
async function cancelAll(session: Session): Promise<void> {
  const { rows } = await session.admin.query<{ path: string }>(
    `select '/integrations/' || connection_id || '/runs/' || id || '/cancel' as path from sync_runs where status in ('queued', 'running')`,
  );
  // A run that has finished in the meantime cannot be cancelled.
  await Promise.allSettled(rows.map(({ path }) => request(session, 'POST', path)));
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await delay(50)) {
    const { queued = 0, running = 0 } = await countRuns(session);
    if (queued + running === 0) return;
  }
  throw new Error('cancelled runs do not end');
}
