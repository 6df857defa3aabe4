import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { attachments } from '../evidence.ts';
import { importReport } from '../imports.ts';
import { writeReport } from '../reports.ts';
import type { Result } from '../results.ts';
import { type Session, withService } from '../session.ts';
import { call, stallOf } from './stall.ts';

export interface Sizes {
  /** Of the imported report. */
  mebibytes: number;
  /** Findings in the sealed package, of which the upload is verified, and its artifacts. */
  sealed: number;
  files: number;
  mebibytesEach: number;
}

/** LONG: the longest time for which the event loop of the API stood still during work in proportion to its input. */
export function stalls({ mebibytes, sealed, files, mebibytesEach }: Sizes): Promise<Result[]> {
  return withService(async (session) => {
    const results = [];
    results.push(await stallOf(session, `an import of ${mebibytes} MiB`, await largeImport(session, mebibytes)));
    const item = await workItem(session, sealed);
    await attachments(session, item, { files, mebibytesEach });
    let id = '';
    results.push(await stallOf(session, `the seal of a package of ${sealed} findings`, async () => (id = await seal(session, item))));
    const archive = await download(session, id);
    results.push(
      await stallOf(session, `the verification of a package of ${Math.round(statSync(archive).size / 2 ** 20)} MiB`, () => verify(session, archive)),
    );
    return results;
  });
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
