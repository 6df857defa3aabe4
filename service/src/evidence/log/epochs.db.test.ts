import { appendFile, cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { logOrigin, parseEpochStatement, parseSuccessionStatement } from '@rrs/evidence-format';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, type Report, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { beforeAll, describe, expect, it } from 'vitest';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { rotateKeys } from '../keys/keys.ts';
import { logName } from './checkpoints.ts';
import { endRewoundLogs } from './open-log.ts';

const world = usePackages({ idle: true });
let item: string;
let name: string;
/** A second process that uses the same database. */
const otherKeys = join(world.keysDir, '..', 'other-keys');
beforeAll(async () => {
  await cp(world.keysDir, otherKeys, { recursive: true });
  expect(await endRewoundLogs(world.api().db, otherKeys)).toEqual([]);
  ({ id: item } = await world.post<{ id: string }>('/work-items', { title: 'Older than every epoch' }));
  name = logName(world.api().url, world.api().ours.id);
});

async function seal(workItem = item, keysDir = world.keysDir): Promise<PackageBody> {
  const { package_id } = await world.request(workItem);
  await world.attempt(package_id, { keysDir });
  return world.get<PackageBody>(`/riskops-evidence/packages/${package_id}`);
}

interface CheckpointBody {
  origin: string;
  epoch: number;
  tree_size: number;
  root_hash: string;
  note: string;
  rekor_note: string;
}
const checkpoint = () => world.get<CheckpointBody>('/riskops-evidence/log/checkpoint');

async function firstEntry(epoch: number) {
  const { statement, package_id } = await world.get<{ statement: string; package_id: string | null }>(`/riskops-evidence/log/entries/0?epoch=${epoch}`);
  expect(package_id).toBeNull();
  return parseEpochStatement(Buffer.from((JSON.parse(statement) as { payload: string }).payload, 'base64'));
}

async function verified(id: string, checkpoints: string[] = [], consistencies: unknown[] = []): Promise<Report> {
  const trust = { ...emptyTrust(), checkpoints, consistencies: consistencies.map((proof) => JSON.stringify(proof)) };
  addKeys(trust, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  return verifyPackage(bytesSource(await world.download(id)), trust, nodePlatform());
}

const marks = () => join(world.keysDir, 'log-marks', world.api().ours.id);
const gapsOf = ({ completeness }: PackageBody) => completeness.gaps.map(({ code }) => code);

describe('the log of an organization', () => {
  it('starts with a statement, so that the first package is its second entry', async () => {
    const sealed = await seal();
    expect(sealed.log).toMatchObject({ index: 1, tree_size: 2 });
    expect(await firstEntry(1)).toMatchObject({ epoch: 1, origin: name, previous: null, reason: 'created' });
    expect(await verified(sealed.package_id)).toMatchObject({ verdict: 'verified', failures: [] });
    const { tree_size, root_hash } = await checkpoint();
    expect((await readFile(marks(), 'utf8')).trim().split('\n').at(-1)).toBe(`${name} ${tree_size} ${root_hash}`);
  });

  it('is compared with checkpoints of any size, and a newer one needs the proof of the API', async () => {
    const [first, note] = [await seal(), (await checkpoint()).note];
    const later = await seal();
    expect(await verified(later.package_id, [note])).toMatchObject({ verdict: 'verified' });
    const newest = (await checkpoint()).note;
    expect(await verified(first.package_id, [newest])).toMatchObject({ verdict: 'consistent', failures: [] });
    const proof = await world.get(`/riskops-evidence/log/proof/consistency?from=${first.log.tree_size}`);
    expect(await verified(first.package_id, [newest], [proof])).toMatchObject({ verdict: 'verified', failures: [] });
  });
});

describe('two processes with separate copies of the key folder', () => {
  it('continue one log, also in an epoch that the other process started', async () => {
    await seal();
    const { epoch, origin, tree_size } = await checkpoint();
    await seal(item, otherKeys);
    expect(await checkpoint()).toMatchObject({ epoch, tree_size: tree_size + 1 });
    await appendFile(marks(), `${origin} ${tree_size + 9} ${'ab'.repeat(32)}\n`);
    await seal();
    await seal(item, otherKeys);
    for (const keys of [world.keysDir, otherKeys]) expect(await endRewoundLogs(world.api().db, keys)).toEqual([]);
    expect(await checkpoint()).toMatchObject({ epoch: epoch + 1, tree_size: 3 });
  });

  it('each notice that the database was rewound', async () => {
    await seal(item, otherKeys);
    const { epoch, origin, tree_size } = await checkpoint();
    await appendFile(join(otherKeys, 'log-marks', world.api().ours.id), `${origin} ${tree_size + 1} ${'ab'.repeat(32)}\n`);
    await seal();
    expect(await checkpoint()).toMatchObject({ epoch });
    await seal(item, otherKeys);
    expect(await firstEntry(epoch + 1)).toMatchObject({ reason: 'rewound' });
  });
});

describe('a rotation of keys', () => {
  it('is recorded in the log before the next package, which an auditor with the old keys can verify', async () => {
    await seal();
    const [{ tree_size: size, epoch }, old] = [await checkpoint(), JSON.stringify(await world.get('/riskops-evidence/keys'))];
    await rotateKeys(world.api().db, world.keysDir);
    const sealed = await seal();
    expect(sealed.log.index).toBe(size + 1);
    const { statement } = await world.get<{ statement: string }>(`/riskops-evidence/log/entries/${size}?epoch=${epoch}`);
    const payload = Buffer.from((JSON.parse(statement) as { payload: string }).payload, 'base64');
    expect(parseSuccessionStatement(payload)).toMatchObject({ reason: 'scheduled' });
    const trust = emptyTrust();
    addKeys(trust, keyFilesIn('keys.json', old));
    expect(await verifyPackage(bytesSource(await world.download(sealed.package_id)), trust, nodePlatform())).toMatchObject({
      verdict: 'verified',
      failures: [],
    });
    expect((await seal()).log.index).toBe(size + 2);
  });
});

describe('a new epoch starts', () => {
  it('if the database is smaller than its mark', async () => {
    await seal();
    const old = await checkpoint();
    await appendFile(marks(), `${old.origin} ${old.tree_size + 3} ${'ab'.repeat(32)}\n`);
    expect(await endRewoundLogs(world.api().db, world.keysDir)).toEqual([{ orgId: world.api().ours.id, reason: 'rewound' }]);
    const sealed = await seal();
    expect(await firstEntry(old.epoch + 1)).toMatchObject({
      reason: 'rewound',
      lost: 3,
      previous: {
        origin: old.origin,
        kept: { size: old.tree_size, root: old.root_hash },
        highest_known: { size: old.tree_size + 3, root: 'ab'.repeat(32), source: 'mark' },
      },
    });
    const now = await checkpoint();
    expect(now).toMatchObject({ epoch: old.epoch + 1, origin: `${name}/epoch-${old.epoch + 1}`, tree_size: 2 });
    expect(now.rekor_note).toMatch(new RegExp(`^${name} - ${old.epoch + 1}\n2\n[^\n]+\n\n\u2014 ${name} `));
    expect(gapsOf(sealed)).toContain('log_restarted');
    expect(await verified(sealed.package_id, [old.note])).toMatchObject({ verdict: 'verified', failures: [] });
    const { id: young } = await world.post<{ id: string }>('/work-items', { title: 'Younger than the epoch' });
    expect((await seal(young)).completeness.gaps).toContainEqual(expect.objectContaining({ code: 'log_restarted', weight: 'note' }));
  });

  it('if the database has another root than its mark', async () => {
    await seal();
    const { origin, tree_size, epoch } = await checkpoint();
    await appendFile(marks(), `${origin} ${tree_size} ${'cd'.repeat(32)}\n`);
    await seal();
    expect(await firstEntry(epoch + 1)).toMatchObject({ reason: 'rewound', lost: 0, previous: { highest_known: { root: 'cd'.repeat(32) } } });
  });

  it('if the marks are lost, also between the snapshot and the append', async () => {
    await seal();
    const { epoch } = await checkpoint();
    const { package_id } = await world.request(item);
    const sealing = await world.suspend(package_id, 'log');
    await rm(join(world.keysDir, 'log-marks'), { recursive: true });
    await expect(sealing.resume()).rejects.toThrow('older than its mark');
    await world.attempt(package_id);
    expect(await firstEntry(epoch + 1)).toMatchObject({ reason: 'mark_lost', lost: null, previous: { highest_known: { source: 'database' } } });
    expect(await verified(package_id)).toMatchObject({ verdict: 'verified', failures: [] });
  });

  it('after a restore, above every epoch that the marks know', async () => {
    await seal();
    const { api, keysDir } = world;
    const { epoch } = await checkpoint();
    await appendFile(join(keysDir, 'log-marks', api().ours.id), `${logOrigin({ name, epoch: epoch + 4 })} 9 ${'ef'.repeat(32)}\n`);
    const backup = { created_at: '2026-11-01T00:00:00.000Z', sha256: '12'.repeat(32) };
    const ending = { org_id: api().ours.id, epoch, reason: 'restore', backup: JSON.stringify(backup) } as const;
    await api().db.withTenant({ orgId: api().ours.id }, (tx) => tx.insertInto('log_endings').values(ending).execute());
    const sealed = await seal();
    expect(await firstEntry(epoch + 5)).toMatchObject({ reason: 'restore', backup, previous: { epoch } });
    expect(await verified(sealed.package_id)).toMatchObject({ verdict: 'verified', failures: [] });
  });
});
