import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { from as copyFrom } from 'pg-copy-streams';
import { seedFindings } from '../../../service/src/testing/findings/seed-findings.ts';
import { importReport } from '../imports.ts';
import { writeReport } from '../reports.ts';
import type { Result } from '../results.ts';
import { type Session, withService } from '../session.ts';

export interface Sizes {
  /** Of the imported report. */
  mebibytes: number;
  /** In the sealed package, of which the upload is verified. */
  sealed: number;
  /** In the EPSS file. */
  scores: number;
  /** In the database when the EPSS file is read. */
  findings: number;
}

const BAR_MS = 50;
const EPSS_BAR = 10;

/** LONG: the longest time for which the event loop of the API stood still during work in proportion to its input. EPSS: reading a file of scores. */
export async function stalls({ mebibytes, sealed, scores, findings }: Sizes): Promise<Result[]> {
  const vendor = await serveScores(scores);
  try {
    return await withService(
      async (session) => {
        const results = [];
        results.push(await stallOf(session, `an import of ${mebibytes} MiB`, await largeImport(session, mebibytes)));
        const item = await workItem(session, sealed);
        let id = '';
        results.push(await stallOf(session, `the seal of a package of ${sealed} findings`, async () => (id = await seal(session, item))));
        const archive = await download(session, id);
        results.push(
          await stallOf(session, `the verification of a package of ${Math.round(statSync(archive).size / 2 ** 20)} MiB`, () => verify(session, archive)),
        );
        const { rows } = await session.admin.query('select id from organizations');
        await seedFindings(session.admin, rows[0].id, { to: findings });
        await session.admin.query('vacuum analyze');
        let ms = 0;
        results.push(await stallOf(session, `an EPSS file of ${scores} scores`, async () => (ms = await readScores(session, vendor.origin))));
        return [...results, await comparedWithCopy(session, { ms, scores, findings })];
      },
      { RRS_OUTBOUND_ALLOW: '127.0.0.1', RRS_ENRICHMENT_MIRRORS: vendor.origin },
    );
  } finally {
    vendor.close();
  }
}

/** The service resets its measurement whenever it is read. */
async function longestStallMs({ service }: Session): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1000;
}

async function stallOf(session: Session, what: string, work: () => Promise<unknown>): Promise<Result> {
  await longestStallMs(session);
  await work();
  const ms = await longestStallMs(session);
  return {
    id: 'LONG',
    what: `longest stall of the event loop of the API during ${what}`,
    figure: `${Math.round(ms)} ms`,
    bar: `< ${BAR_MS} ms`,
    met: ms < BAR_MS,
  };
}

async function largeImport(session: Session, mebibytes: number): Promise<() => Promise<unknown>> {
  const file = join(session.folder, 'report.ndjson');
  await writeReport(file, { findings: 1_000, fleet: 'warm', sentences: 150 });
  await importReport(session, file, {});
  const findings = Math.floor((mebibytes * 2 ** 20 * 0.99) / (statSync(file).size / 1_000));
  await writeReport(file, { findings, fleet: 'large', sentences: 150 });
  return () => importReport(session, file, { created: findings });
}

async function workItem(session: Session, findings: number): Promise<string> {
  const file = join(session.folder, 'report.ndjson');
  await writeReport(file, { findings, fleet: 'sealed', sentences: 4 });
  await importReport(session, file, { created: findings });
  return (await call<{ id: string }>(session, 'POST', '/work-items', { title: 'Update the fleet', filter: { asset: 'sealed-' } })).id;
}

async function seal(session: Session, item: string): Promise<string> {
  let state = await call<{ package_id: string; status: string; error: string | null }>(session, 'POST', '/riskops-evidence/packages', { work_item_id: item });
  while (state.status === 'generating') {
    await delay(50);
    state = await call(session, 'GET', `/riskops-evidence/packages/${state.package_id}`);
  }
  if (state.status !== 'ready') throw new Error(`the package failed: ${state.error}`);
  return state.package_id;
}

async function download({ service, headers, folder }: Session, id: string): Promise<string> {
  const archive = join(folder, 'package.zip');
  const response = await fetch(`${service.url}/api/v1/riskops-evidence/packages/${id}/download`, { headers });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  await pipeline(Readable.from(response.body), createWriteStream(archive));
  return archive;
}

async function verify({ service, headers }: Session, archive: string): Promise<void> {
  const response = await fetch(`${service.url}/api/v1/riskops-evidence/verify`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/octet-stream', 'content-length': String(statSync(archive).size) },
    body: Readable.toWeb(createReadStream(archive)) as ReadableStream,
    duplex: 'half',
  });
  const { verdict } = (await response.json()) as { verdict: string };
  if (verdict !== 'verified') throw new Error(`the package is ${verdict}`);
}

/** A vendor that serves a file of scores for the CVEs of the seeded findings and others. */
async function serveScores(scores: number): Promise<{ origin: string; close(): void }> {
  const rows = Array.from({ length: scores }, (_, n) => `CVE-2024-${10_000 + n},${((n % 1_000) / 1_000).toFixed(5)},${(n / scores).toFixed(5)}\n`);
  const file = gzipSync(`#model_version:v1,score_date:2026-11-15T12:00:00Z\ncve,epss,percentile\n${rows.join('')}`);
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/gzip').end(file));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** Milliseconds from the start of the run until all findings have their scores. */
async function readScores(session: Session, origin: string): Promise<number> {
  const config = { mode: 'csv', csv_url: `${origin}/scores.csv.gz`, api_url: origin };
  const { id } = await call<{ id: string }>(session, 'POST', '/integrations', { provider: 'epss', name: 'EPSS', config, credentials: {}, schedule: null });
  const started = performance.now();
  await call(session, 'POST', `/integrations/${id}/sync`);
  const busy = `select 1 from sync_runs where status in ('queued', 'running') union all select 1 from graphile_worker.jobs where task_identifier = 'rescore_findings' limit 1`;
  do await delay(50);
  while ((await session.admin.query(busy)).rows.length > 0);
  const ms = performance.now() - started;
  const { rows } = await session.admin.query('select status, error from sync_runs order by created_at desc limit 1');
  if (rows[0].status !== 'succeeded') throw new Error(`the run failed: ${rows[0].error}`);
  return ms;
}

async function comparedWithCopy({ admin }: Session, { ms, scores, findings }: { ms: number; scores: number; findings: number }): Promise<Result> {
  await admin.query('create table copied (like vulnerabilities including all)');
  const lines = Array.from({ length: scores }, (_, n) => `CVE-2024-${10_000 + n}\t0.5\t0.5\t2026-11-15\n`);
  const started = performance.now();
  await pipeline(Readable.from([Buffer.from(lines.join(''))]), admin.query(copyFrom('copy copied (id, epss, epss_percentile, epss_date) from stdin')));
  const copied = performance.now() - started;
  const ratio = ms / copied;
  const figure = `${ratio.toFixed(1)} × (${(ms / 1000).toFixed(1)} s vs ${(copied / 1000).toFixed(1)} s)`;
  return {
    id: 'EPSS',
    what: `${scores} scores into ${findings} findings, compared with COPY of the scores`,
    figure,
    bar: `≤ ${EPSS_BAR} ×`,
    met: ratio <= EPSS_BAR,
  };
}

async function call<T>({ service, headers }: Session, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { ...headers, prefer: 'wait=0', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return (await response.json()) as T;
}
