import { expect, it, onTestFinished } from 'vitest';
import { usePackages } from '../../../testing/evidence/packages.ts';
import { openPackageWriter } from './write-in-child.ts';
import { type WriteTask, type WritingHost, writePackage } from './write-package.ts';

/** These show when they were written. */
const TIMED = ['data/evidence.json', 'data/report.html'];
const world = usePackages();

it('writes the same files as without a child process, also after the blob store failed', async () => {
  await world.scan('child:2', ['openssl', 'curl']);
  const { id } = await world.workItem('Update', { asset: 'child:2' });
  const { package_id } = await world.seal(id);
  const { db, databaseUrl, blobs, ours } = world.api();
  const row = await db.withTenant({ orgId: ours.id }, (tx) =>
    tx.selectFrom('evidence_packages').selectAll().where('org_id', '=', ours.id).where('id', '=', package_id).executeTakeFirstOrThrow(),
  );
  const log = { origin: 'log.example.com', epoch: 1, createdAt: new Date(0) };
  const task: WriteTask = { row, keys: { package: 'p', log: 'l', note: 'n' }, log, version: '0.0.0', build: null, timestamped: false, witnessed: null };
  const steps: string[] = [];
  const host: WritingHost = {
    put: (content) => blobs.put(content),
    isStored: async (sha256) => (await blobs.stat(sha256)) !== null,
    onStep: async (step) => void steps.push(step),
  };
  const writer = openPackageWriter(databaseUrl);
  onTestFinished(() => writer.close());

  const full = new Error('no space left on device');
  const failing = async (content: AsyncIterable<Uint8Array>): Promise<never> => {
    for await (const _ of content) throw full;
    throw full;
  };
  await expect(writer.write(db, task, { ...host, put: (content) => failing(content as AsyncIterable<Uint8Array>) })).rejects.toBe(full);
  const written = await writer.write(db, task, host);
  const direct = await writePackage(db, task, host);
  expect(steps).toEqual(['freeze', 'write', 'freeze', 'write', 'freeze', 'write']);
  const stable = ({ bag }: typeof written) => bag.payload.filter(({ path }) => !TIMED.includes(path)).map(({ path, sha256 }) => [path, sha256]);
  expect(stable(written)).toEqual(stable(direct));
  expect(written.bag.evidence.findings).toEqual(direct.bag.evidence.findings);
}, 120_000);
