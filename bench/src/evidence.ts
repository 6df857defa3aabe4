import { execFileSync, spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { createReadStream, createWriteStream, openAsBlob, readdirSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { importReport } from './imports.ts';
import { residentMiB } from './processes.ts';
import { writeReport } from './reports.ts';
import type { Result } from './results.ts';
import { median, type Session, withService } from './session.ts';

export interface Sizes {
  findings: number;
  files: number;
  mebibytesEach: number;
  rounds: number;
}

const MIB = 2 ** 20;
const verifier = fileURLToPath(new URL('../../verifier/bin/rrs-verify.mjs', import.meta.url));
const zipInstalled = spawnSync('zip', ['--version']).error === undefined;

/** P5 and P6: sealing a package with large artifacts compared with hashing and storing the same bytes, and verifying it compared with hashing it. */
export function evidence(sizes: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const { service, folder } = session;
    const item = await workItemWithFindings(session, sizes.findings);
    await generate(session, (await post<{ id: string }>(session, '/work-items', { title: 'Warm-up' })).id);
    const originals = await attachments(session, item, sizes);
    const idle = residentMiB(service.pid);
    const rounds = [];
    for (let round = 0; round < sizes.rounds; round++) {
      const hashing = await timed(() => run('sha256sum', ...originals));
      const storing = await timed(() => store(originals, join(folder, 'stored.zip')));
      const sealing = await generate(session, item);
      const verifying = await verification(session, sealing.id);
      rounds.push({ hashing, storing, sealing, ...verifying });
    }
    const { ms: small } = await generate(session, await createWorkItem(session));
    return resultsOf(rounds, { idle, small, sizes });
  });
}

interface Sealing {
  id: string;
  ms: number;
  /** Peak memory of the service process, in MiB. */
  peakMiB: number;
}

interface Round {
  hashing: number;
  storing: number;
  sealing: Sealing;
  hashingZip: number;
  verifying: number;
}

function resultsOf(rounds: readonly Round[], { idle, small, sizes }: { idle: number; small: number; sizes: Sizes }): Result[] {
  const seconds = (of: (round: Round) => number): string => `${(median(rounds.map(of)) / 1000).toFixed(2)} s`;
  const sealing = median(rounds.map((round) => round.sealing.ms / (round.hashing + round.storing)));
  const verifying = median(rounds.map((round) => round.verifying / round.hashingZip));
  const growth = Math.max(...rounds.map((round) => round.sealing.peakMiB)) - idle;
  const baseline = zipInstalled ? 'zip -0' : 'a copy with checksums (zip is not installed)';
  return [
    {
      id: 'P5',
      what: `package of ${sizes.findings} findings and ${sizes.files * sizes.mebibytesEach} MiB of artifacts, compared with sha256sum and ${baseline}`,
      figure: `${sealing.toFixed(2)} × (${seconds((round) => round.sealing.ms)} vs ${seconds(({ hashing }) => hashing)} + ${seconds(({ storing }) => storing)}; without artifacts ${(small / 1000).toFixed(2)} s)`,
      bar: '≤ 2 ×',
      met: sealing <= 2,
    },
    {
      id: 'P5',
      what: 'memory growth of the service while sealing',
      figure: `${Math.round(growth)} MiB (idle ${Math.round(idle)})`,
      bar: '≤ 64 MiB',
      met: growth <= 64,
    },
    {
      id: 'P6',
      what: 'rrs-verify of that package, compared with sha256sum of the ZIP',
      figure: `${verifying.toFixed(2)} × (${seconds((round) => round.verifying)} vs ${seconds(({ hashingZip }) => hashingZip)})`,
      bar: '≤ 1.5 ×',
      met: verifying <= 1.5,
    },
  ];
}

async function workItemWithFindings(session: Session, findings: number): Promise<string> {
  const report = join(session.folder, 'report.ndjson');
  await writeReport(report, { findings, fleet: 'evidence', sentences: 4 });
  await importReport(session, report, { created: findings });
  return createWorkItem(session);
}

async function createWorkItem(session: Session): Promise<string> {
  return (await post<{ id: string }>(session, '/work-items', { title: 'Update the fleet', filter: { asset: 'evidence-' } })).id;
}

/** Attaches random files to the work item, and returns where they are. */
export async function attachments(session: Session, item: string, { files, mebibytesEach }: Pick<Sizes, 'files' | 'mebibytesEach'>): Promise<string[]> {
  const { service, headers, folder } = session;
  const originals = join(folder, 'originals');
  await mkdir(originals);
  for (let n = 0; n < files; n++) {
    const path = join(originals, `artifact-${n}`);
    await pipeline(Readable.from(noise(mebibytesEach)), createWriteStream(path));
    const form = new FormData();
    form.append('type', 'other');
    form.append('title', `Artifact ${n}`);
    form.append('file', await openAsBlob(path), `artifact-${n}`);
    const response = await fetch(`${service.url}/api/v1/riskops-evidence/work-items/${item}/artifacts`, { method: 'POST', headers, body: form });
    if (response.status !== 201) throw new Error(await response.text());
  }
  return readdirSync(originals).map((name) => join(originals, name));
}

function* noise(mebibytes: number): Generator<Buffer> {
  for (let n = 0; n < mebibytes; n++) yield randomFillSync(Buffer.alloc(MIB));
}

async function post<T>({ service, headers }: Session, path: string, body: object): Promise<T> {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', prefer: 'wait=0' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

/** Measures the time from the request until the package is ready. */
export async function generate(session: Session, item: string): Promise<Sealing> {
  const { service, headers } = session;
  let peakMiB = residentMiB(service.pid);
  const started = performance.now();
  let state = await post<{ package_id: string; status: string; error: string | null }>(session, '/riskops-evidence/packages', { work_item_id: item });
  while (state.status === 'generating') {
    await delay(20);
    peakMiB = Math.max(peakMiB, residentMiB(service.pid));
    const response = await fetch(`${service.url}/api/v1/riskops-evidence/packages/${state.package_id}`, { headers });
    state = (await response.json()) as typeof state;
  }
  if (state.status !== 'ready') throw new Error(`the package failed: ${state.error}`);
  return { id: state.package_id, ms: performance.now() - started, peakMiB };
}

async function verification({ service, headers, folder }: Session, id: string): Promise<Pick<Round, 'hashingZip' | 'verifying'>> {
  const [zip, keys] = [join(folder, 'package.zip'), join(folder, 'keys.json')];
  await writeFile(keys, await (await fetch(`${service.url}/api/v1/riskops-evidence/keys`)).text());
  const response = await fetch(`${service.url}/api/v1/riskops-evidence/packages/${id}/download`, { headers });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  await pipeline(Readable.from(response.body), createWriteStream(zip));
  return { hashingZip: await timed(() => run('sha256sum', zip)), verifying: await timed(() => run(process.execPath, verifier, zip, '--keys', keys)) };
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function store(files: readonly string[], archive: string): Promise<void> {
  rmSync(archive, { force: true });
  if (zipInstalled) return run('zip', '-0', '-q', archive, ...files);
  async function* checked(): AsyncGenerator<Buffer> {
    for (const file of files) {
      let crc = 0;
      for await (const chunk of createReadStream(file, { highWaterMark: MIB })) {
        crc = crc32(chunk, crc);
        yield chunk;
      }
    }
  }
  await pipeline(Readable.from(checked()), createWriteStream(archive));
}

async function timed(work: () => void | Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
