import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { generate } from './evidence.ts';
import { importReport } from './imports.ts';
import { peakOf } from './processes.ts';
import { writeReport } from './reports.ts';
import type { Result } from './results.ts';
import { type Session, withService } from './session.ts';
import { call } from './stalls/stall.ts';

export interface Sizes {
  findings: number;
  /** In each, every finding is worked on, called fixed and shown by a scan again: three rows of its history. */
  rounds: number;
}

const MOST_PAGES = 60;
const MOST_MIB = 2_048;
const MOST_SECONDS = 300;
const root = new URL('../../', import.meta.url);
const program = (path: string): string => fileURLToPath(new URL(path, root));

/** LARGE: a work item of many findings with long histories, half of them fixed in the end, is sealed and verified. */
export function histories(sizes: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const item = await worked(session, sizes);
    const { rows } = await session.admin.query('select count(*)::float8 as rows from finding_history');
    const of = `a package of ${sizes.findings} findings with ${Math.round(rows[0].rows / sizes.findings)} rows of history each`;
    const sealed = await measured([session.service.pid], async () => (await generate(session, item)).id);
    const [archive, keys] = [join(session.folder, 'package.zip'), join(session.folder, 'keys.json')];
    await download(session, `/riskops-evidence/packages/${sealed.value}/download`, archive);
    await download(session, `/riskops-evidence/packages/${sealed.value}/download?format=pdf`, join(session.folder, 'report.pdf'));
    await download(session, '/riskops-evidence/keys', keys);
    const pages = (await readFile(join(session.folder, 'report.pdf'), 'latin1')).match(/\/Type \/Page\n/g)?.length ?? 0;
    const verified = await verification([program('verifier/bin/rrs-verify.mjs'), archive, '--keys', keys]);
    const deep = await verification([program('service/bin/rrs-server.mjs'), 'evidence', 'verify', archive, '--keys', keys, '--deep']);
    const fixed = Math.floor(sizes.findings / 2);
    const confirmed = Number(/^ {2}(\d+) of \d+ findings: confirmed/m.exec(deep.value)?.[1]);
    return [
      spent(`seal ${of}`, sealed),
      { id: 'LARGE', what: 'pages of its report.pdf', figure: `${pages}`, bar: `≤ ${MOST_PAGES}`, met: pages > 0 && pages <= MOST_PAGES },
      spent('rrs-verify of it', verified),
      spent('rrs-server evidence verify --deep of it', deep),
      { id: 'LARGE', what: `findings that --deep confirms, of ${fixed} that were fixed`, figure: `${confirmed}`, bar: `${fixed}`, met: confirmed === fixed },
    ];
  });
}

function spent(what: string, { ms, peakMiB }: Measured<unknown>): Result {
  const figure = `${(ms / 1000).toFixed(1)} s, ${Math.round(peakMiB)} MiB in its largest process`;
  const bar = `≤ ${MOST_SECONDS} s, ≤ ${MOST_MIB} MiB`;
  return { id: 'LARGE', what, figure, bar, met: ms <= MOST_SECONDS * 1000 && peakMiB <= MOST_MIB };
}

async function worked(session: Session, { findings, rounds }: Sizes): Promise<string> {
  const file = join(session.folder, 'report.ndjson');
  await writeReport(file, { findings, fleet: 'worked', sentences: 4 });
  await importReport(session, file, { created: findings });
  const filter = { asset: 'worked-' };
  const item = await call<{ id: string }>(session, 'POST', '/work-items', { title: 'Update the fleet', filter });
  const change = async (status: string, reason: string): Promise<void> => {
    const { counts } = await call<{ counts: { changed: number } }>(session, 'POST', '/findings/bulk', { filter, change: { status, reason } });
    if (counts.changed !== findings) throw new Error(`${counts.changed} findings were changed`);
  };
  for (let round = 1; round <= rounds; round++) {
    await change('in_progress', `Maintenance window ${round}`);
    await change('remediated', `Updated in maintenance window ${round}`);
    await importReport(session, file, { reopened: findings });
  }
  await change('remediated', 'Updated for good');
  await call(session, 'PATCH', '/organization', { policy: { brake: { share: 1 } } });
  const rescan = join(session.folder, 'rescan.ndjson');
  await pipeline(Readable.from(secondLines(file)), createWriteStream(rescan));
  await importReport(session, rescan, { closed: Math.floor(findings / 2) }, { coverage: 'complete' });
  return item.id;
}

async function* secondLines(file: string): AsyncGenerator<string> {
  let shown = false;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    shown = !shown;
    if (shown) yield `${line}\n`;
  }
}

async function download({ service, headers }: Session, path: string, file: string): Promise<void> {
  const response = await fetch(`${service.url}/api/v1${path}`, { headers });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  await writeFile(file, Readable.from(response.body));
}

interface Measured<T> {
  value: T;
  ms: number;
  /** Of all processes that did the work, the largest. */
  peakMiB: number;
}

async function measured<T>(pids: readonly number[], work: () => Promise<T>): Promise<Measured<T>> {
  const started = performance.now();
  let peakMiB = 0;
  const sampling = setInterval(() => {
    peakMiB = Math.max(peakMiB, ...pids.map(peakOf));
  }, 50);
  const value = await work().finally(() => clearInterval(sampling));
  return { value, ms: performance.now() - started, peakMiB };
}

/** What the command prints. */
async function verification(args: string[]): Promise<Measured<string>> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return measured([child.pid ?? 0], async () => {
    const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (child.exitCode !== 0) throw new Error(`the command ended with ${child.exitCode}: ${printed}`);
    return printed;
  });
}
