import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Evidence } from '@rrs/evidence-format';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, type Report, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BlobStore } from '../../blobs/blobs.ts';
import { eventually } from '../../testing/eventually.ts';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { type SealingStep, sealingSteps } from './seal.ts';

const world = usePackages({ idle: true });

async function requested(title: string): Promise<{ item: string; id: string }> {
  const { id: item } = await world.post<{ id: string }>('/work-items', { title });
  const asset = { type: 'host', name: 'crash.example.com' };
  await world.post('/findings', { title: 'A weakness', severity: 'high', asset, work_item_id: item });
  return { item, id: (await world.request(item)).package_id };
}

/** Starts a worker that takes the job and is killed before the step. */
async function killBefore(step: SealingStep): Promise<void> {
  const { databaseUrl, blobFolder, url } = world.api();
  const script = fileURLToPath(new URL('../../testing/programs/seal-package.ts', import.meta.url));
  const child = spawn(process.execPath, [script, databaseUrl, blobFolder, world.keysDir, url, step], { stdio: ['ignore', 'ignore', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

async function startHealthyWorker(): Promise<void> {
  const worker = await world.work({ heartbeatMs: 50, deadAfterMs: 400 });
  onTestFinished(() => worker.stop());
}

const statusOf = async (id: string): Promise<string> => (await read(id)).status;
const becomesReady = (id: string) => expect.poll(() => statusOf(id), { timeout: 30_000, interval: 50 }).toBe('ready');
const read = (id: string) => world.get<PackageBody>(`/riskops-evidence/packages/${id}`);
const leaf = (index: number) => world.get<{ package_id: string; published: boolean; leaf_hash: string }>(`/riskops-evidence/log/entries/${index}`);

/** The leaves of the transparency log as the API returns them. The database must not have more. */
async function leaves() {
  const { db, ours } = world.api();
  const rows = await db.withTenant({ orgId: ours.id }, (tx) =>
    tx.selectFrom('log_leaves').select('index').where('org_id', '=', ours.id).orderBy('index').execute(),
  );
  expect(rows.map(({ index }) => Number(index))).toEqual(rows.map((_, at) => at));
  return Promise.all(rows.map(async (_, index) => ({ index, ...(await leaf(index)) })));
}

const checkpoints: string[] = [];

/** Verifies with the published keys and the checkpoint of the previous package: a crash must not fork the log. */
async function verified(id: string): Promise<Report> {
  const trust = emptyTrust();
  addKeys(trust, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  trust.checkpoints.push(...checkpoints.slice(-1));
  const report = await verifyPackage(bytesSource(await world.download(id)), trust, nodePlatform());
  checkpoints.push((await world.get<{ note: string }>('/riskops-evidence/log/checkpoint')).note);
  return report;
}

async function expectSealed(id: string, item: string, abandoned: number): Promise<void> {
  const sealed = await read(id);
  expect(sealed).toMatchObject({ status: 'ready', sequence: 1, error: null });
  expect((await world.get<{ data: unknown[] }>(`/riskops-evidence/work-items/${item}/packages`)).data).toHaveLength(1);
  expect(await verified(id)).toMatchObject({ failures: [], verdict: 'verified' });

  const own = (await leaves()).filter(({ package_id }) => package_id === id);
  expect(own.map(({ published }) => published)).toEqual([...Array<boolean>(abandoned).fill(false), true]);
  expect(own.at(-1)?.index).toBe(sealed.log.index);
  const evidence = JSON.parse((await world.download(id, 'json')).toString()) as Evidence;
  const abandonedLeaves = evidence.abandoned_leaves.map(({ index, leaf_sha256 }) => ({ index, leaf_hash: leaf_sha256 }));
  expect(abandonedLeaves).toEqual(own.slice(0, -1).map(({ index, leaf_hash }) => ({ index, leaf_hash })));
  expect(sealed.completeness.gaps.some(({ code }) => code === 'interrupted_sealing')).toBe(abandoned > 0);
}

const LOGGED = sealingSteps.indexOf('log');

describe('a worker that is killed', () => {
  // A lost lease, below, interrupts every step. Starting a process for each of them would take minutes.
  it.each(['freeze', 'archive'] as const)(
    'before "%s" leaves no partial package, and the next worker seals it',
    async (step) => {
      const { id, item } = await requested(`Killed before ${step}`);
      await killBefore(step);
      expect(await read(id)).toMatchObject({ status: 'generating', downloads: [], files: [] });
      await expect(world.download(id)).rejects.toThrow('being generated');
      await startHealthyWorker();
      await becomesReady(id);
      await expectSealed(id, item, sealingSteps.indexOf(step) > LOGGED ? 1 : 0);
    },
    60_000,
  );

  it('twice makes the package fail with the reason, and the next one is sealed', async () => {
    const { id, item } = await requested('Killed twice');
    await killBefore('checkpoint');
    await releaseDeadWorker();
    await killBefore('publish');
    await startHealthyWorker();
    await expect.poll(() => statusOf(id), { timeout: 30_000, interval: 50 }).toBe('failed');
    expect((await read(id)).error).toContain('Twice, the process');
    expect((await leaves()).filter(({ package_id }) => package_id === id).map(({ published }) => published)).toEqual([false, false]);
    const { package_id: next } = await world.request(item);
    await becomesReady(next);
    expect(await verified(next)).toMatchObject({ failures: [], verdict: 'verified' });
  }, 60_000);
});

/** Releases the job of the killed worker without running it, because the next worker is killed as well. */
async function releaseDeadWorker(): Promise<void> {
  const watcher = await world.work({ handlers: [], heartbeatMs: 50, deadAfterMs: 400 });
  await eventually(
    async () => (await world.api().db.systemQuery('locked', 'select from graphile_worker._private_jobs where locked_by is not null', [])).length,
  ).toBe(0);
  await watcher.stop();
}

describe('a worker that lost its lease', () => {
  it.each(sealingSteps)('before "%s" stops and leaves no log entry that the package does not list', async (step) => {
    const { id, item } = await requested(`Slow before ${step}`);
    const slow = await world.suspend(id, step);
    await world.attempt(id);
    await slow.resume();
    await expectSealed(id, item, sealingSteps.indexOf(step) > LOGGED ? 1 : 0);
  });

  it('does not publish a package that another worker is sealing', async () => {
    const { id, item } = await requested('Both at once');
    const slow = await world.suspend(id, 'publish');
    const next = await world.suspend(id, 'checkpoint');
    await slow.resume();
    expect(await statusOf(id)).toBe('generating');
    await next.resume();
    await expectSealed(id, item, 1);
  });
});

describe('a failing blob store', () => {
  const refusing = (): BlobStore => ({ ...world.api().blobs, put: () => Promise.reject(new Error('the disk is full')) });

  it('is retried; after the last attempt the package fails with the reason, and a new one can be generated', async () => {
    const { id, item } = await requested('Full disk');
    await expect(world.attempt(id, { blobs: refusing() })).rejects.toThrow('the disk is full');
    expect(await read(id)).toMatchObject({ status: 'generating', error: null });
    await world.attempt(id, { blobs: refusing(), lastAttempt: true });
    expect(await read(id)).toMatchObject({ status: 'failed', error: expect.stringContaining('the disk is full'), downloads: [], files: [] });
    await expect(world.download(id)).rejects.toThrow('the disk is full');
    await world.attempt(id);
    expect(await statusOf(id)).toBe('failed');

    await startHealthyWorker();
    const second = await world.seal(item);
    expect(second).toMatchObject({ status: 'ready', sequence: 2 });
    expect(await verified(second.package_id)).toMatchObject({ failures: [], verdict: 'verified' });
    expect((await leaves()).filter(({ package_id }) => package_id === id)).toEqual([]);
  });

  it('that returns wrong bytes is detected before the package is published', async () => {
    const { id } = await requested('Rotten disk');
    const { blobs } = world.api();
    let reads = 0;
    const rotten: BlobStore = {
      ...blobs,
      async *pieces(...range) {
        for await (const piece of blobs.pieces(...range)) {
          if (reads++ === 0) piece[0] = (piece[0] ?? 0) ^ 1;
          yield piece;
        }
      },
    };
    await expect(world.attempt(id, { blobs: rotten })).rejects.toThrow('payload_changed');
    expect(await read(id)).toMatchObject({ status: 'generating', downloads: [] });
  });

  it('that rejects only the archive leaves an unpublished log entry', async () => {
    const { id } = await requested('Full disk at the end');
    let puts = 0;
    const whole = world.api().blobs;
    const counting: BlobStore = {
      ...whole,
      put: (...content) => {
        puts++;
        return whole.put(...content);
      },
    };
    await world.attempt((await requested('To count')).id, { blobs: counting });
    let left = puts - 1;
    const last: BlobStore = { ...whole, put: (...content) => (left-- > 0 ? whole.put(...content) : Promise.reject(new Error('the disk is full'))) };
    await world.attempt(id, { blobs: last, lastAttempt: true });
    expect(await statusOf(id)).toBe('failed');
    expect((await leaves()).filter(({ package_id }) => package_id === id)).toMatchObject([{ published: false }]);
  });
});
