import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { from as copyFrom } from 'pg-copy-streams';
import { seedFindings } from '../../../service/src/testing/findings/seed-findings.ts';
import type { Result } from '../results.ts';
import { type Session, withService } from '../session.ts';
import { call, stallOf } from './stall.ts';

export interface Sizes {
  /** In the EPSS file. */
  scores: number;
  findings: number;
}

const BAR = 10;
/** Of the scores of one day, this share differs from those of the day before. The percentiles of all do. */
const DAILY_SHARE = 0.05;

/** EPSS: a file of scores, for the first time and on the next day. LONG: the longest stall of the event loop of the API meanwhile. */
export async function epssFiles({ scores, findings }: Sizes): Promise<Result[]> {
  const vendor = await serveScores();
  try {
    return await withService(
      async (session) => {
        const { rows } = await session.admin.query('select id from organizations');
        await seedFindings(session.admin, rows[0].id, { to: findings });
        await session.admin.query('vacuum analyze');
        const config = { mode: 'csv', csv_url: `${vendor.origin}/scores.csv.gz`, api_url: vendor.origin };
        const { id } = await call<{ id: string }>(session, 'POST', '/integrations', {
          provider: 'epss',
          name: 'EPSS',
          config,
          credentials: {},
          schedule: null,
        });
        const copied = await timeOfCopy(session, scores);
        const [first, next] = [fileOf(scores, 0), fileOf(scores, 1)];
        const ms = { first: 0, next: 0 };
        vendor.serve(first);
        const stall = await stallOf(session, `an EPSS file of ${scores} scores`, async () => (ms.first = await readScores(session, id)));
        vendor.serve(next);
        ms.next = await readScores(session, id);
        const plain = `one UPDATE of all findings takes ${((await timeOfUpdate(session)) / 1000).toFixed(1)} s`;
        const into = `${scores} scores into ${findings} findings`;
        return [
          stall,
          comparedWithCopy(`${into} that had none, compared with COPY of the scores`, ms.first, copied, plain),
          comparedWithCopy(`${into} on the next day, when ${DAILY_SHARE * 100} % of the scores and all percentiles differ`, ms.next, copied),
        ];
      },
      { RRS_OUTBOUND_ALLOW: '127.0.0.1', RRS_ENRICHMENT_MIRRORS: vendor.origin },
    );
  } finally {
    vendor.close();
  }
}

/** The scores of a day, for the CVEs of the seeded findings and others. */
function fileOf(scores: number, day: number): Buffer {
  const scoreOf = (n: number): number => ((n + (n % (1 / DAILY_SHARE) === 0 ? day : 0)) % 1_000) / 1_000;
  const rows = Array.from({ length: scores }, (_, n) => `CVE-2024-${10_000 + n},${scoreOf(n).toFixed(5)},${((n + day) / (scores + day)).toFixed(5)}\n`);
  return gzipSync(`#model_version:v1,score_date:2026-11-${15 + day}T12:00:00Z\ncve,epss,percentile\n${rows.join('')}`);
}

/** A vendor that serves one file. */
async function serveScores(): Promise<{ origin: string; serve(file: Buffer): void; close(): void }> {
  let served = Buffer.alloc(0);
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/gzip').end(served));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (file) => {
      served = Buffer.from(file);
    },
    close: () => server.close(),
  };
}

/** Milliseconds from the start of the run until all findings have their scores. */
async function readScores(session: Session, connection: string): Promise<number> {
  const started = performance.now();
  await call(session, 'POST', `/integrations/${connection}/sync`);
  const busy = `select 1 from sync_runs where status in ('queued', 'running') union all select 1 from graphile_worker.jobs where task_identifier = 'rescore_findings' limit 1`;
  do await delay(50);
  while ((await session.admin.query(busy)).rows.length > 0);
  const ms = performance.now() - started;
  const { rows } = await session.admin.query('select status, error from sync_runs order by created_at desc limit 1');
  if (rows[0].status !== 'succeeded') throw new Error(`the run failed: ${rows[0].error}`);
  return ms;
}

async function timeOfCopy({ admin }: Session, scores: number): Promise<number> {
  await admin.query('create table copied (like vulnerabilities including all)');
  const lines = Array.from({ length: scores }, (_, n) => `CVE-2024-${10_000 + n}\t0.5\t0.5\t2026-11-15\n`);
  const started = performance.now();
  await pipeline(Readable.from([Buffer.from(lines.join(''))]), admin.query(copyFrom('copy copied (id, epss, epss_percentile, epss_date) from stdin')));
  return performance.now() - started;
}

/** What PostgreSQL alone needs to write a score into every finding, with their indexes. */
async function timeOfUpdate({ admin }: Session): Promise<number> {
  await admin.query('vacuum analyze findings');
  const started = performance.now();
  await admin.query('update findings set epss = 1 - epss, risk_score = 100 - risk_score');
  return performance.now() - started;
}

function comparedWithCopy(what: string, ms: number, copied: number, note?: string): Result {
  const ratio = ms / copied;
  return {
    id: 'EPSS',
    what,
    figure: `${ratio.toFixed(1)} × (${(ms / 1000).toFixed(1)} s vs ${(copied / 1000).toFixed(1)} s${note ? `; ${note}` : ''})`,
    bar: `≤ ${BAR} ×`,
    met: ratio <= BAR,
  };
}
