import { setTimeout as delay } from 'node:timers/promises';
import { seedFindings } from '../../service/src/testing/findings/seed-findings.ts';
import { load } from './load.ts';
import { start } from './processes.ts';
import type { Result } from './results.ts';
import { median, type Session, withService } from './session.ts';

export interface Sizes {
  /** Findings that are there already. */
  findings: number;
  /** In the report of each vendor that has one. */
  records: number;
  rounds: number;
  seconds: number;
}

const PATHS = ['/api/v1/findings?limit=50', '/api/v1/me'] as const;
const AGAIN_MS = 1_000;

/**
 * What one caller waits while twenty connections sync, against nothing else going on, in turns. It is the worst case: vendors answer as fast as
 * they can, and a run that has ended begins again. They have a process of their own, but not a machine: they, the service, its database and the
 * caller share the cores, so part of the difference is theirs.
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
  await Promise.all(settings.map((one) => ask(session, 'POST', '/integrations', { ...one, schedule: null })));
  const measured = PATHS.map(() => ({ alone: [] as number[], beside: [] as number[] }));
  const measure = async (which: 'alone' | 'beside'): Promise<void> => {
    for (const [n, path] of PATHS.entries()) {
      const { p95 } = await load(`${session.service.url}${path}`, session.headers, { connections: 1, seconds });
      measured[n]?.[which].push(p95);
    }
  };
  for (let round = 0; round < rounds; round++) {
    await measure('alone');
    const syncing = keepSyncing(session);
    await untilAllKindsRan(session);
    await measure('beside').finally(syncing.end);
    await cancelAll(session);
  }
  const runs = Object.values(await countRuns(session)).reduce((sum, n) => sum + n, 0);
  return PATHS.map((path, n) => resultOf(path, runs, measured[n] ?? { alone: [], beside: [] }));
}

function resultOf(path: string, runs: number, { alone, beside }: Record<'alone' | 'beside', number[]>): Result {
  const ratio = median(beside.map((p95, round) => p95 / (alone[round] ?? Number.NaN)));
  return {
    id: 'SYNC',
    what: `p95 of GET ${path.replace('/api/v1', '').replace('?limit=50', ', 50 rows,')} while twenty connections sync (${runs} runs), against nothing else`,
    figure: `${ratio.toFixed(2)} × (${median(beside).toFixed(1)} ms against ${median(alone).toFixed(1)} ms)`,
    bar: '≤ 3 ×',
    met: ratio <= 3,
  };
}

async function ask<T>({ service, headers }: Session, method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${service.url}/api/v1${path}`, { method, headers: { ...headers, ...(body && { 'content-type': 'application/json' }) }, ...sent });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
  return (text === '' ? null : JSON.parse(text)) as T;
}

/** Whoever has ended begins again. */
function keepSyncing(session: Session): { end(): Promise<void> } {
  const over = new AbortController();
  const going = (async () => {
    while (!over.signal.aborted) {
      await ask(session, 'POST', '/integrations/sync-all');
      await delay(AGAIN_MS, undefined, { signal: over.signal }).catch(() => {});
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

/** Otherwise the figures would be those of something else. */
async function untilAllKindsRan(session: Session): Promise<void> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await delay(50)) {
    const { succeeded = 0, failed = 0, running = 0 } = await countRuns(session);
    if (succeeded > 0 && failed > 0 && running > 0) return;
  }
  throw new Error(`the connections do not sync: ${JSON.stringify(await countRuns(session))}`);
}

/** Some vendors would keep their runs waiting for minutes. */
async function cancelAll(session: Session): Promise<void> {
  const { rows } = await session.admin.query<{ path: string }>(
    `select '/integrations/' || connection_id || '/runs/' || id || '/cancel' as path from sync_runs where status in ('queued', 'running')`,
  );
  // One that has ended meanwhile cannot be cancelled.
  await Promise.allSettled(rows.map(({ path }) => ask(session, 'POST', path)));
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await delay(50)) {
    const { queued = 0, running = 0 } = await countRuns(session);
    if (queued + running === 0) return;
  }
  throw new Error('runs do not end though they were cancelled');
}
