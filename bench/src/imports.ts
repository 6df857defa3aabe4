import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { percentile } from './lists/times.ts';
import { residentMiB } from './processes.ts';
import { writeReport } from './reports.ts';
import type { Result } from './results.ts';
import { median, type Session, withService } from './session.ts';

/** P1 and P2: importing a report of new findings, and importing it again, compared with COPY of the same rows into a table with the same indexes. */
export function imports({ findings, rounds }: { findings: number; rounds: number }): Promise<Result[]> {
  return withService(async (session) => {
    const { admin, folder } = session;
    const file = join(folder, 'report.ndjson');
    const measured: Record<'created' | 'again' | 'copied' | 'logged' | 'sightings', number[]> = {
      created: [],
      again: [],
      copied: [],
      logged: [],
      sightings: [],
    };
    const newest = `select * from findings order by created_at desc limit ${findings}`;
    for (let round = 0; round <= rounds; round++) {
      await writeReport(file, { findings, fleet: `fleet-${round}`, sentences: 4 });
      const created = await importReport(session, file, { created: findings });
      // Deferred work of the first import (visibility map, pending entries of the text search index) must not count for the second.
      await admin.query('vacuum analyze findings, sightings');
      const before = await walPosition(admin);
      const again = await importReport(session, file, { unchanged: findings });
      const logged = (await loggedSince(admin, before)) / findings;
      const copied = await copyTime(admin, join(folder, 'rows'), { table: 'findings', rows: newest });
      const sightings = await copyTime(admin, join(folder, 'rows'), {
        table: 'sightings',
        rows: `select s.* from sightings s join (${newest}) f on f.org_id = s.org_id and f.id = s.finding_id`,
      });
      // The first round is a warm-up.
      if (round === 0) continue;
      measured.created.push(created);
      measured.again.push(again);
      measured.copied.push(copied);
      measured.logged.push(logged);
      measured.sightings.push(copied + sightings);
    }
    const perSecond = (times: number[]): string => `${Math.round((findings / median(times)) * 1000)}/s`;
    const ratio = (times: number[]): number => median(measured.copied.map((copied, round) => copied / (times[round] ?? Number.NaN)));
    const [first, second, logged] = [ratio(measured.created), ratio(measured.again), median(measured.logged)];
    const bytes = await bytesPerFinding(admin);
    const waited = await waitAfterImport(session, join(folder, 'small.ndjson'));
    const baseline = `vs COPY at ${perSecond(measured.copied)}`;
    return [
      {
        id: 'P1',
        what: `import of ${findings} new findings`,
        figure: `${first.toFixed(2)} × (${perSecond(measured.created)} ${baseline}, or ${perSecond(measured.sightings)} with the sightings)`,
        bar: '≥ 0.6 ×',
        met: first >= 0.6,
      },
      {
        id: 'P2',
        what: 'import of the same report again',
        figure: `${second.toFixed(2)} × (${perSecond(measured.again)} ${baseline})`,
        bar: '≥ 2 ×',
        met: second >= 2,
      },
      { id: 'P2', what: 'WAL per unchanged finding', figure: `${logged.toFixed(1)} bytes`, bar: '< 32 bytes', met: logged < 32 },
      {
        id: 'P7',
        what: 'database size per finding, with sightings, texts, places and indexes',
        figure: `${(bytes / 1024).toFixed(2)} KiB`,
        bar: '< 2.5 KiB',
        met: bytes < 2560,
      },
      {
        id: 'WAIT',
        what: 'from the end of a small import to the response of POST /imports with `Prefer: wait`, p95 of 40',
        figure: `${Math.round(waited)} ms`,
        bar: '≤ 100 ms',
        met: waited <= 100,
      },
    ];
  });
}

/** MEM: memory growth of the service while it imports a large report. */
export function largeReport({ mebibytes }: { mebibytes: number }): Promise<Result[]> {
  return withService(async (session) => {
    const { folder, service } = session;
    const file = join(folder, 'report.ndjson');
    await writeReport(file, { findings: 1_000, fleet: 'warm', sentences: 150 });
    await importReport(session, file, {});
    // Names get longer with the number of findings, and the service accepts at most 1 GiB.
    const findings = Math.floor((mebibytes * 2 ** 20 * 0.99) / (statSync(file).size / 1_000));
    await writeReport(file, { findings, fleet: 'large', sentences: 150 });
    const before = residentMiB(service.pid);
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentMiB(service.pid));
    }, 50);
    const ms = await importReport(session, file, { created: findings }).finally(() => clearInterval(sampling));
    const growth = peak - before;
    const figure = `${Math.round(growth)} MiB (${Math.round(before)} → ${Math.round(peak)}) in ${Math.round(ms / 1000)} s`;
    return [{ id: 'MEM', what: `memory growth of the service while importing a report of ${mebibytes} MiB`, figure, bar: '≤ 128 MiB', met: growth <= 128 }];
  });
}

async function walPosition(admin: pg.Client): Promise<string> {
  const { rows } = await admin.query('select pg_current_wal_insert_lsn()::text as at');
  return rows[0].at;
}

/** Without images of whole pages: how many of them there are depends on when the last checkpoint was. */
async function loggedSince(admin: pg.Client, position: string): Promise<number> {
  await admin.query('create extension if not exists pg_walinspect');
  const { rows } = await admin.query('select sum(record_size)::float8 as bytes from pg_get_wal_stats($1, pg_current_wal_flush_lsn())', [position]);
  return rows[0].bytes;
}

async function bytesPerFinding(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query(`
    select (pg_total_relation_size('findings') + pg_total_relation_size('sightings') + pg_total_relation_size('finding_texts') + pg_total_relation_size('occurrences'))::float8 / (select count(*) from findings) as bytes`);
  return rows[0].bytes;
}

/** Milliseconds that COPY of these rows takes into a table with the same indexes. */
async function copyTime(admin: pg.Client, file: string, { table, rows }: { table: string; rows: string }): Promise<number> {
  await pipeline(admin.query(copyTo(`copy (${rows}) to stdout`)), createWriteStream(file));
  await admin.query(`create table copied (like ${table} including all)`);
  const started = performance.now();
  await pipeline(createReadStream(file, { highWaterMark: 2 ** 20 }), admin.query(copyFrom('copy copied from stdin')));
  const time = performance.now() - started;
  await admin.query('drop table copied');
  return time;
}

/** The clock of the database is the clock of this machine. */
async function waitAfterImport({ service, headers }: Session, file: string): Promise<number> {
  const times: { ms: number }[] = [];
  for (let n = 0; n < 40; n++) {
    await writeReport(file, { findings: 1, fleet: `small-${n}`, sentences: 1 });
    const { status, finished_at } = await upload(`${service.url}/api/v1/imports?format=generic`, { ...headers, prefer: 'wait=30' }, file);
    if (status !== 'succeeded' || finished_at === null) throw new Error(`unexpected import: ${status}`);
    times.push({ ms: Date.now() - Date.parse(finished_at) });
  }
  return percentile(times, 0.95);
}

interface Import {
  id: string;
  status: string;
  finished_at: string | null;
  counts: Record<string, number>;
}

/** Returns the milliseconds from the first byte sent until the import is committed. */
export async function importReport({ service, headers }: Session, file: string, expected: Record<string, number>, scope: object = {}): Promise<number> {
  const started = performance.now();
  const query = new URLSearchParams({ format: 'generic', scan_scope: JSON.stringify(scope) });
  let state = await upload(`${service.url}/api/v1/imports?${query}`, headers, file);
  while (state.status === 'queued' || state.status === 'running') {
    await delay(20);
    state = (await (await fetch(`${service.url}/api/v1/imports/${state.id}`, { headers })).json()) as Import;
  }
  const time = performance.now() - started;
  for (const [name, count] of Object.entries({ ...expected, rejected: 0 }))
    if (state.status !== 'succeeded' || state.counts[name] !== count) throw new Error(`unexpected import: ${JSON.stringify(state)}`);
  return time;
}

async function upload(url: string, headers: Record<string, string>, file: string): Promise<Import> {
  const sent = request(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/octet-stream' } });
  const [response] = await Promise.all([
    new Promise<unknown>((resolve, reject) => sent.once('response', (message) => json(message).then(resolve, reject)).once('error', reject)),
    pipeline(createReadStream(file, { highWaterMark: 2 ** 18 }), sent),
  ]);
  return response as Import;
}
