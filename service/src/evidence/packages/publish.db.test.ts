import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { lockReportFiles } from '../../findings/import/report-files.ts';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages({ idle: true });
const read = (id: string) => world.get<PackageBody>(`/riskops-evidence/packages/${id}`);

async function itemWithFinding(title: string): Promise<{ item: string; finding: string }> {
  const { id: item } = await world.post<{ id: string }>('/work-items', { title });
  const asset = { type: 'host', name: 'race.example.com' };
  const { id: finding } = await world.post<{ id: string }>('/findings', { title, severity: 'high', asset, work_item_id: item });
  return { item, finding };
}

async function eventsOf(id: string): Promise<string[]> {
  const { ours, db } = world.api();
  const { rows } = await db.withTenant({ orgId: ours.id }, (tx) =>
    sql<{ action: string }>`select action from audit_events where org_id = ${ours.id} and object_id = ${id} order by id`.execute(tx),
  );
  return rows.map(({ action }) => action);
}

describe('a finding that changes while its package is sealed', () => {
  it('supersedes the package when it is published, with the difference as the reason', async () => {
    const { item, finding } = await itemWithFinding('Changed meanwhile');
    const { package_id } = await world.request(item);
    const sealing = await world.suspend(package_id, 'publish');
    const { ours, call } = world.api();
    expect((await call('PATCH', `/api/v1/findings/${finding}`, { as: ours.owner, body: { status: 'in_progress' }, headers: { 'if-match': '*' } })).status).toBe(
      200,
    );
    await sealing.resume();
    const reason = 'While this package was sealed, a finding changed: "Changed meanwhile" from open to in_progress.';
    expect(await read(package_id)).toMatchObject({ status: 'superseded', superseded: { by: null, reason } });
    expect(await eventsOf(package_id)).toEqual(expect.arrayContaining(['package.requested', 'package.ready', 'package.superseded']));
  });

  it('is seen even if its change is committed during the publication', async () => {
    const { item, finding } = await itemWithFinding('Changed at the last moment');
    const { package_id } = await world.request(item);
    const sealing = await world.suspend(package_id, 'publish');
    const { ours, db } = world.api();
    let published: Promise<void> | undefined;
    await db.withTenant({ orgId: ours.id }, async (tx) => {
      await sql`update findings set status = 'in_progress' where org_id = ${ours.id} and id = ${finding}`.execute(tx);
      published = sealing.resume();
      await expect.poll(() => waiting(), { timeout: 10_000, interval: 20 }).toBeGreaterThan(0);
    });
    await published;
    expect(await read(package_id)).toMatchObject({ status: 'superseded', superseded: { reason: expect.stringContaining('from open to in_progress') } });
  });
});

/** Number of transactions that wait for a row. */
async function waiting(): Promise<number> {
  const { db } = world.api();
  const rows = await db.systemQuery('waiting', "select from pg_locks where not granted and locktype = 'transactionid'", []);
  return rows.length;
}

describe('a scan report that is deleted while its package is sealed', () => {
  const asset = 'deleted-meanwhile:1';
  const remove = (id: string) => world.api().call('DELETE', `/api/v1/imports/${id}/file`, { as: world.api().ours.owner });
  async function requested() {
    const worker = await world.work();
    const before = await world.scan(asset, ['openssl']);
    const { id: item } = await world.workItem('Deleted meanwhile', { asset });
    const after = await world.scan(asset, []);
    await worker.stop();
    return { before, after, id: (await world.request(item)).package_id };
  }

  it('is not in the package, which says so', async () => {
    const { before, after, id } = await requested();
    const sealing = await world.suspend(id, 'publish');
    expect((await remove(after.id)).status).toBe(204);
    await expect(sealing.resume()).rejects.toThrow('was deleted while the package was sealed');
    await world.attempt(id);
    const { status, files, completeness } = await read(id);
    expect([status, files.filter(({ path }) => path.startsWith('data/scans/')).map(({ path }) => path)]).toEqual([
      'ready',
      [`data/scans/before/${before.id}/report`],
    ]);
    const gaps = completeness.gaps.filter(({ code }) => ['scan_not_kept', 'interrupted_sealing'].includes(code));
    expect(gaps).toMatchObject([{ code: 'scan_not_kept', weight: 'major', about: [after.id] }, { code: 'interrupted_sealing' }]);
    expect((await remove(before.id)).status).toBe(409);
  });

  it('is kept if the package is published first', async () => {
    const { after, id } = await requested();
    const { ours, db } = world.api();
    let deletion: ReturnType<typeof remove> | undefined;
    await db.withTenant({ orgId: ours.id }, async (tx) => {
      expect(await lockReportFiles(tx, ours.id, [after.id])).toEqual([]);
      deletion = remove(after.id);
      await expect.poll(() => waiting(), { timeout: 10_000, interval: 20 }).toBeGreaterThan(0);
      await sql`insert into package_blobs (org_id, package_id, sha256) select org_id, ${id}, sha256 from imports where id = ${after.id}`.execute(tx);
    });
    expect((await deletion)?.status).toBe(409);
  });
});

describe('two packages of one work item', () => {
  it('end with the later one as current, even if it is published first', async () => {
    const { item } = await itemWithFinding('Two at once');
    const [first, second] = [await world.request(item), await world.request(item)];
    const slow = await world.suspend(first.package_id, 'publish');
    await world.attempt(second.package_id);
    await slow.resume();
    const reason = 'Package 2 of the same work item replaced it.';
    expect(await read(first.package_id)).toMatchObject({ status: 'superseded', superseded: { by: second.package_id, reason } });
    expect(await read(second.package_id)).toMatchObject({ status: 'ready', superseded: null });
  });
});
