import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { fanOut } from '../../events/webhooks/fan-out.ts';
import { firstIdAt, newId } from '../../shared/ids.ts';
import { eventually } from '../../testing/eventually.ts';
import { usePackages } from '../../testing/evidence/packages.ts';
import type { TestOrganization } from '../../testing/http/api.ts';
import { waitForOpenTransactions, webhooksOf } from '../../testing/integrations/webhooks.ts';
import { retention } from './retention.ts';

const world = usePackages({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.1' } });

interface ImportBody {
  id: string;
  sha256: string;
  bytes: number;
  file_deleted_at: string | null;
  file_deleted_by: string | null;
}

const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
const context = () => ({ db: world.api().db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false });
const keep = () => retention.run({}, context());
const readImport = (id: string) => world.get<ImportBody>(`/imports/${id}`);
const isStored = async ({ sha256 }: { sha256: string }): Promise<boolean> => (await world.api().blobs.stat(sha256)) !== null;

async function uploaded(image: string, components = ['left-pad']): Promise<ImportBody> {
  return readImport((await world.scan(image, components)).id);
}

async function receivedDaysAgo(days: number, ids: readonly string[]): Promise<void> {
  await world.api().db.withSystem((tx) =>
    tx
      .updateTable('imports')
      .set({ created_at: daysAgo(days) })
      .where('id', 'in', ids)
      .execute(),
  );
}

/** A report that a sealed package contains. */
async function cited(image: string): Promise<ImportBody> {
  const before = await uploaded(image);
  const { id: item } = await world.workItem(`Fix ${image}`, { q: image });
  await uploaded(image, []);
  const { files } = await world.seal(item);
  expect(files.map(({ sha256 }) => sha256)).toContain(before.sha256);
  return before;
}

const usageOf = async ({ owner }: Pick<TestOrganization, 'owner'>) =>
  world.get<Record<string, { count: number; files?: number; bytes: number }>>('/organization/usage', owner);

describe('the usage of an organization', () => {
  it('counts its own objects, and equal files once', async () => {
    const { theirs } = world.api();
    const before = await usageOf(theirs);
    const report = JSON.stringify({ title: 'A weakness', severity: 'high', asset: { type: 'host', name: 'usage.example.com' } });
    const as = theirs.owner;
    const upload = () => world.post('/imports?format=generic', report, as, { 'content-type': 'application/octet-stream', prefer: 'wait=30' });
    await upload();
    await upload();
    await uploaded('registry.example.com/usage-of-ours');
    const after = await usageOf(theirs);
    expect(after.imports).toEqual({
      count: (before.imports?.count ?? 0) + 2,
      files: (before.imports?.files ?? 0) + 1,
      bytes: (before.imports?.bytes ?? 0) + report.length,
    });
    expect(after.findings?.count).toBe((before.findings?.count ?? 0) + 1);
    expect(after.findings?.bytes).toBeGreaterThan(100);
    expect(after.events?.count).toBeGreaterThan(before.events?.count ?? 0);
    expect(after.evidence_packages).toEqual({ count: 0, bytes: 0 });
  });

  it('includes packages with their archives, and may be read by every role', async () => {
    await cited('registry.example.com/usage');
    const { ours } = world.api();
    for (const role of ['viewer', 'auditor'] as const) {
      const { evidence_packages } = await usageOf({ owner: await ours.key(role) });
      expect(evidence_packages?.count).toBeGreaterThan(0);
      expect(evidence_packages?.bytes).toBeGreaterThan(1_000);
    }
  });
});

describe('deleting the file of an import', () => {
  const remove = async (id: string, as = world.api().ours.owner) => world.api().call('DELETE', `/api/v1/imports/${id}/file`, { as });

  it('erases the bytes, keeps the import, and is audited once', async () => {
    const report = await uploaded('registry.example.com/deleted');
    expect(report).toMatchObject({ file_deleted_at: null, file_deleted_by: null });
    expect((await remove(report.id)).status).toBe(204);
    expect(await readImport(report.id)).toMatchObject({ sha256: report.sha256, file_deleted_at: expect.any(String), file_deleted_by: 'owner of ours' });
    await eventually(() => isStored(report)).toBe(false);
    expect((await remove(report.id)).status).toBe(204);
    const trail = await world.get<{ data: { after: object }[] }>(`/audit-events?object_id=${report.id}&action=import.file_deleted`);
    expect(trail.data.map(({ after }) => after)).toEqual([{ sha256: report.sha256, bytes: report.bytes }]);
  });

  it('keeps bytes that another organization has', async () => {
    const { ours, theirs } = world.api();
    const report = JSON.stringify({ title: 'Shared', severity: 'low', asset: { type: 'host', name: 'shared.example.com' } });
    const [mine, other] = await Promise.all(
      [ours, theirs].map(({ owner }) =>
        world.post<ImportBody>('/imports?format=generic', report, owner, { 'content-type': 'application/octet-stream', prefer: 'wait=30' }),
      ),
    );
    expect((await remove(mine?.id ?? '')).status).toBe(204);
    expect((await remove(other?.id ?? '')).status).toBe(404);
    await eventually(() => queuedErasures()).toBe(0);
    expect(await isStored({ sha256: other?.sha256 ?? '' })).toBe(true);
    expect((await remove(other?.id ?? '', theirs.owner)).status).toBe(204);
    await eventually(() => isStored({ sha256: other?.sha256 ?? '' })).toBe(false);
  });

  it('keeps it out of later packages, even where another organization keeps the bytes', async () => {
    const { ours, theirs, call } = world.api();
    const image = 'registry.example.com/left-out';
    for (const components of [['left-pad'], []]) await world.scan(image, components, { as: theirs.owner });
    const before = await uploaded(image);
    const { id: item } = await world.workItem(`Fix ${image}`, { q: image });
    const after = await uploaded(image, []);
    for (const report of [before, after]) expect([(await remove(report.id)).status, await isStored(report)]).toEqual([204, true]);
    const { body } = await call('POST', '/api/v1/riskops-evidence/packages', { as: ours.owner, body: { work_item_id: item, dry_run: true } });
    const sealed = await world.seal(item);
    for (const { completeness } of [sealed, body as typeof sealed])
      expect(completeness.gaps.filter(({ code }) => code === 'scan_not_kept')).toMatchObject([
        { weight: 'major', about: [after.id] },
        { weight: 'minor', about: [before.id] },
      ]);
    expect(sealed.files.filter(({ path }) => path.startsWith('data/scans/'))).toEqual([]);
  });

  it('is refused if a package contains the file, and for readers', async () => {
    const report = await cited('registry.example.com/cited');
    expect(await remove(report.id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('evidence package') } });
    expect((await remove(report.id, await world.api().ours.key('viewer'))).status).toBe(403);
    expect(await isStored(report)).toBe(true);
  });
});

describe('the file of an import', () => {
  const download = (id: string, headers: Record<string, string> = {}, as = world.api().ours.owner) =>
    world.api().call('GET', `/api/v1/imports/${id}/file`, { as, headers });

  it('is downloaded as it was uploaded, whole or in part, and the download is audited', async () => {
    const report = await uploaded('registry.example.com/downloaded');
    const whole = await download(report.id);
    expect([whole.status, whole.headers.get('etag'), whole.headers.get('content-type')]).toEqual([200, `"${report.sha256}"`, 'application/octet-stream']);
    expect(whole.headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(String(whole.body)).toHaveLength(report.bytes);
    expect(await download(report.id, { range: 'bytes=0-9' })).toMatchObject({ status: 206, body: String(whole.body).slice(0, 10) });
    expect((await download(report.id, { 'if-none-match': `"${report.sha256}"` })).status).toBe(304);
    const trail = await world.get<{ data: object[] }>(`/audit-events?object_id=${report.id}&action=import.file_downloaded`);
    expect(trail.data).toHaveLength(2);
  });

  it('is not there for others, and no longer after it was deleted', async () => {
    const report = await uploaded('registry.example.com/gone');
    expect((await download(report.id, {}, world.api().theirs.owner)).status).toBe(404);
    await world.api().call('DELETE', `/api/v1/imports/${report.id}/file`, { as: world.api().ours.owner });
    expect(await download(report.id)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('was deleted on') } });
  });
});

async function queuedErasures(): Promise<number> {
  const [row] = await world.api().db.systemQuery<{ count: number }>(
    'queued_erasures',
    `select count(*)::int as count from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = task_id
     where identifier = 'erase_bytes' and run_at <= now()`,
    [],
  );
  return row?.count ?? 0;
}

describe('retention', () => {
  const change = async (days: object | null) => {
    const { api } = world;
    const answer = await api().call('PATCH', '/api/v1/organization', { as: api().ours.owner, body: { policy: { retention: days } } });
    return answer as { status: number; body: { policy: { retention: object } } };
  };

  it('has defaults that can be changed within bounds and restored', async () => {
    const defaults = { report_days: 1_095, run_days: 365, delivery_days: 30, event_days: 90 };
    expect((await change({ report_days: 400 })).body.policy.retention).toEqual({ ...defaults, report_days: 400 });
    expect((await change({ event_days: 7, report_days: null })).body.policy.retention).toEqual({ ...defaults, event_days: 7 });
    expect((await change({ report_days: 29 })).status).toBe(400);
    expect((await change(null)).body.policy.retention).toEqual(defaults);
  });

  it('deletes report files that are too old, unless a package contains them', async () => {
    const [old, young, sealed] = [
      await uploaded('registry.example.com/old'),
      await uploaded('registry.example.com/young'),
      await cited('registry.example.com/sealed'),
    ];
    await receivedDaysAgo(1_096, [old.id, sealed.id]);
    await receivedDaysAgo(1_094, [young.id]);
    await keep();
    expect(await readImport(old.id)).toMatchObject({ file_deleted_at: expect.any(String), file_deleted_by: 'retention policy' });
    await eventually(() => isStored(old)).toBe(false);
    for (const kept of [young, sealed]) {
      expect(await readImport(kept.id)).toMatchObject({ file_deleted_at: null });
      expect(await isStored(kept)).toBe(true);
    }
    const trail = await world.get<{ data: { actor: { name: string } }[] }>(`/audit-events?object_id=${old.id}&action=import.file_deleted`);
    expect(trail.data.map(({ actor }) => actor.name)).toEqual(['retention policy']);
  });

  it('deletes more than one batch', async () => {
    const { db, ours } = world.api();
    await db.withSystem((tx) =>
      sql`
        insert into imports (org_id, id, status, sha256, bytes, created_by, actor, created_at)
        select ${ours.id}, new_id(), 'succeeded', ${'0'.repeat(64)}, 1, 'test', '{}', now() - interval '2000 days' from generate_series(1, 1001)`.execute(tx),
    );
    await keep();
    const left = await db.withSystem((tx) =>
      tx.selectFrom('imports').select('id').where('created_at', '<', daysAgo(1_999)).where('file_deleted_at', 'is', null).execute(),
    );
    expect(left).toEqual([]);
  });

  it('deletes old runs, but not those that the health of the connection depends on', async () => {
    const { db, ours } = world.api();
    const connection_id = newId();
    const run = (status: 'succeeded' | 'failed' | 'needs_confirmation', days: number) => ({
      ...{ org_id: ours.id, id: newId(), connection_id, trigger: 'schedule' as const, mode: 'full' as const, status },
      ...{ requested_by: 'test', actor: '{}', created_at: daysAgo(days), finished_at: daysAgo(days) },
    });
    const [first, waiting, last, failed] = [run('failed', 400), run('needs_confirmation', 399), run('succeeded', 380), run('failed', 370)];
    await db.withTenant({ orgId: ours.id }, async (tx) => {
      const connection = { org_id: ours.id, id: connection_id, provider: 'snyk', kind: 'scanner', name: 'old', config: '{}', created_by: 'test' } as const;
      await tx.insertInto('connections').values(connection).execute();
      await tx.insertInto('sync_runs').values([first, waiting, last, failed]).execute();
      await tx
        .insertInto('sync_run_batches')
        .values({ org_id: ours.id, run_id: first.id, n: 0, content: Buffer.alloc(1) })
        .execute();
    });
    await keep();
    const runs = await world.get<{ data: { id: string }[] }>(`/integrations/${connection_id}/runs?sort=created_at`);
    expect(runs.data.map(({ id }) => id)).toEqual([waiting.id, last.id, failed.id]);
  });

  it('deletes old events, but not those that a webhook has yet to receive', async () => {
    const { api } = world;
    const { db, ours, theirs } = api();
    const webhooks = webhooksOf(api(), theirs);
    const webhook = await webhooks.create('http://127.0.0.1:1/', ['finding.updated']);
    const add = (organization: TestOrganization, ...days: number[]): Promise<string[]> =>
      db.withTenant({ orgId: organization.id }, async (tx) => {
        const events = days.map((age) => ({ org_id: organization.id, id: firstIdAt(daysAgo(age)), type: 'finding.updated', subject: 'x', data: '{}' }));
        await tx.insertInto('events').values(events).execute();
        return events.map(({ id }) => id);
      });
    const left = async (ids: readonly string[]): Promise<string[]> => {
      const rows = await db.withSystem((tx) => tx.selectFrom('events').select('id').where('id', 'in', ids).orderBy('id').execute());
      return rows.map(({ id }) => id);
    };
    const [old = '', young = ''] = await add(ours, 91, 89);
    const [sent = '', pending = ''] = await add(theirs, 93, 92);
    await keep();
    expect(await left([old, young, sent, pending])).toEqual([sent, pending, young]);

    await waitForOpenTransactions(api());
    await fanOut(db);
    await db.withSystem((tx) =>
      tx.updateTable('webhook_deliveries').set({ status: 'succeeded', next_attempt_at: null }).where('event_id', '=', sent).execute(),
    );
    await keep();
    expect(await left([sent, pending])).toEqual([pending]);
    const delivery = (await webhooks.deliveries(webhook.id)).find(({ event_id }) => event_id === sent);
    expect(await webhooks.call('POST', `/webhooks/${webhook.id}/deliveries/${delivery?.id}/replay`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('no longer stored') },
    });
  });
});
