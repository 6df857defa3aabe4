import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { endAcceptances, type Finding, stray, workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { updateWorkItem } from './update.ts';

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
/** A second person, for changes that require one. */
let other: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi();
  ours = workItemsOf(api);
  other = workItemsOf(api, await api.ours.key('analyst'));
});
afterAll(async () => {
  expect(await stray(api)).toEqual([]);
  await api.close();
});

const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString();
const verify = async (...ids: string[]): Promise<void> => {
  for (const id of ids) {
    await ours.patchFinding(id, { status: 'remediated', reason: 'patched' });
    await other.patchFinding(id, { status: 'verified' });
  }
};
const statusOf = async (id: string) => (await ours.read(id)).status;

describe('the status of a work item', () => {
  it('follows its findings from open to verified', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const { id, version } = await ours.item([one, two]);
    await ours.patchFinding(one, { status: 'in_progress' });
    expect(await ours.read(id)).toMatchObject({ status: 'in_progress', findings: { open: 1, in_progress: 1 }, version: version + 1 });
    await ours.patchFinding(one, { status: 'remediated', reason: 'patched' });
    expect(await statusOf(id)).toBe('in_progress');
    await ours.patchFinding(two, { status: 'remediated', reason: 'patched' });
    expect(await statusOf(id)).toBe('awaiting_verification');
    await ours.patchFinding(two, { status: 'open', reason: 'the patch did not hold' });
    expect(await statusOf(id)).toBe('in_progress');
    await other.patchFinding(one, { status: 'verified' });
    expect(await ours.read(id)).toMatchObject({ status: 'in_progress', closed_at: null });
    await verify(two);
    expect(await ours.read(id)).toMatchObject({ status: 'verified', closed_at: expect.any(String), findings: { total: 2, verified: 2 } });
    const { data } = await ours.list<{ after: { status: string } }>(`/audit-events?object_id=${id}&action=work_item.status_changed&sort=occurred_at`);
    const expected = ['in_progress', 'awaiting_verification', 'in_progress', 'awaiting_verification', 'verified'];
    expect(data.map(({ after }) => after.status)).toEqual(expected);
    const events = await api.db.withSystem((tx) =>
      sql<{ to: string }>`select data->>'to' as to from events where subject = ${id} and type = 'work_item.status_changed' order by xact, id`.execute(tx),
    );
    expect(events.rows.map(({ to }) => to)).toEqual(expected);
  });

  it('is closed_with_exceptions when the remaining findings are accepted, false positive or withdrawn', async () => {
    const [one, two, three] = (await ours.findings(3)) as [string, string, string];
    const { id } = await ours.item([one, two, three]);
    await verify(one);
    await ours.falsePositive(two);
    expect(await statusOf(id)).toBe('in_progress');
    await ours.patchFinding(three, { status: 'risk_accepted', reason: 'behind the firewall', owner: 'ada', expires_at: inAMonth });
    expect(await ours.read(id)).toMatchObject({ status: 'closed_with_exceptions', findings: { verified: 1, excepted: 2 } });
  });

  it('changes when a finding is added or removed', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    await verify(one);
    const { id } = await ours.item([two]);
    await ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [one] });
    expect(await statusOf(id)).toBe('in_progress');
    await ours.call('DELETE', `/work-items/${id}/findings/${two}`);
    expect(await statusOf(id)).toBe('verified');
    expect(await ours.item([one])).toMatchObject({ status: 'verified' });
  });

  it('changes for all work items of findings that change in bulk', async () => {
    const ids = await ours.findings(4, { asset: { type: 'host', name: 'bulk.example' } });
    const [a, b] = [await ours.item(ids), await ours.item(ids.slice(0, 1))];
    await ours.call('POST', '/findings/bulk', { filter: { asset: 'bulk.' }, change: { status: 'remediated', reason: 'patched' } });
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['awaiting_verification', 'awaiting_verification']);
    await other.call('POST', '/findings/bulk', { ids, change: { status: 'verified' } });
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['verified', 'verified']);
  });

  it('changes when the asset of a finding is retired', async () => {
    const [one] = (await ours.findings(1, { asset: { type: 'host', name: 'retired.example' } })) as [string];
    const { id } = await ours.item([one]);
    const { asset } = (await ours.readFinding(one)) as Finding & { asset: { id: string } };
    await ours.call('PATCH', `/assets/${asset.id}`, { retired: true });
    expect(await statusOf(id)).toBe('closed_with_exceptions');
  });

  it('is never verified if a person withdrew a finding, even if all others are verified', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const { id } = await ours.item([one, two]);
    await verify(one);
    await ours.patchFinding(two, { status: 'withdrawn', reason: 'not relevant' });
    expect(await ours.read(id)).toMatchObject({ status: 'closed_with_exceptions', findings: { verified: 1, excepted: 1, aside: 0 } });
  });

  it('waits for verification while a finding is verified without a scan or a second person', async () => {
    const [one] = (await ours.findings(1)) as [string];
    const { id } = await ours.item([one]);
    const ticket = systemActor(api.ours.id, 'Jira');
    const patch = { status: 'awaiting_verification', reason: 'The ticket was closed.' } as const;
    await api.db.withTenant(ticket, (tx) => updateWorkItem(tx, ticket, { id, patch, check: () => {} }));
    expect(await other.patchFinding(one, { status: 'verified' })).toMatchObject({ assurance: 'declared' });
    expect(await ours.read(id)).toMatchObject({ status: 'awaiting_verification', closed_at: null, findings: { remediated: 1, verified: 0 } });
  });

  it('ignores findings that their source withdrew, unless nothing else is left', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const [mixed, alone] = [await ours.item([one, two]), await ours.item([two])];
    const retract = sql`update findings set status = 'withdrawn', reason_code = 'source_retracted', closed_at = now() where id = ${two}`;
    const worker = systemActor(api.ours.id, 'worker');
    await api.db.withTenant(worker, async (tx) => {
      await retract.execute(tx);
      await api.follower.follow(tx, worker, sql`select ${two}::uuid as id`);
    });
    await verify(one);
    expect(await ours.read(mixed.id)).toMatchObject({ status: 'verified', findings: { verified: 1, excepted: 0, aside: 1 } });
    expect(await statusOf(alone.id)).toBe('closed_with_exceptions');
  });

  it('changes when a scan no longer sees findings or sees them again', async () => {
    await ours.scan('scan:1', [1, 2, 3]);
    const item = await ours.item(await ours.ofImage('scan:1'));
    await ours.scan('scan:1', [3]);
    expect(await ours.read(item.id)).toMatchObject({ status: 'in_progress', findings: { open: 1, verified: 2 } });
    await ours.scan('scan:1', [1, 3]);
    expect(await ours.read(item.id)).toMatchObject({ status: 'in_progress', findings: { open: 2, verified: 1 } });
    await ours.scan('scan:1', []);
    expect(await ours.read(item.id)).toMatchObject({ status: 'verified', findings: { verified: 3 } });
  });
});

describe('setting the status of a work item', () => {
  it('changes its findings too', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const { id } = await ours.item([one, two]);
    expect(await ours.patch(id, { status: 'in_progress' })).toMatchObject({ status: 200, body: { status: 'in_progress', findings: { in_progress: 2 } } });
    expect(await ours.patch(id, { status: 'blocked' })).toMatchObject({ status: 400, body: { errors: [{ path: '/reason' }] } });
    expect(await ours.patch(id, { status: 'blocked', reason: 'no maintenance window' })).toMatchObject({
      body: { status: 'blocked', status_reason: 'no maintenance window', findings: { in_progress: 2 } },
    });
    await ours.patchFinding(one, { status: 'remediated', reason: 'patched' });
    expect(await statusOf(id)).toBe('blocked');
    expect(await ours.patch(id, { status: 'in_progress' })).toMatchObject({ body: { status: 'in_progress', status_reason: null } });
    expect(await ours.patch(id, { status: 'awaiting_verification' })).toMatchObject({ status: 400, body: { errors: [{ path: '/reason' }] } });
    expect(await ours.patch(id, { status: 'awaiting_verification', reason: 'all upgraded' })).toMatchObject({ body: { status: 'awaiting_verification' } });
    expect(await ours.readFinding(two)).toMatchObject({ status: 'remediated', status_reason: 'all upgraded', assurance: 'declared' });
    const history = await ours.list<{ action: string }>(`/findings/${two}/history?sort=occurred_at`);
    expect(history.data.map(({ action }) => action)).toEqual(['status_changed', 'status_changed']);
  });

  it('can reopen work in progress, and is refused if the findings contradict it', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const { id } = await ours.item([one, two]);
    await ours.patch(id, { status: 'in_progress' });
    expect(await ours.patch(id, { status: 'open' })).toMatchObject({ body: { status: 'open', findings: { open: 2 } } });
    await ours.patch(id, { status: 'awaiting_verification', reason: 'done' });
    for (const status of ['open', 'in_progress']) {
      expect(await ours.patch(id, { status })).toMatchObject({
        status: 409,
        body: { code: 'conflict', detail: expect.stringContaining('2 claimed as remediated') },
      });
    }
    expect(await ours.read(id)).toMatchObject({ status: 'awaiting_verification', findings: { remediated: 2 } });
  });

  it('cannot verify, cannot reopen a closed work item and cannot change its findings', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const { id } = await ours.item([one]);
    expect(await ours.patch(id, { status: 'verified' })).toMatchObject({ status: 400, body: { errors: [{ path: '/status' }] } });
    expect(await ours.patch(id, { reason: 'just so' })).toMatchObject({ status: 400, body: { errors: [{ path: '/reason' }] } });
    await ours.patch(id, { status: 'cancelled', reason: 'out of scope' });
    expect(await ours.read(id)).toMatchObject({ status: 'cancelled', status_reason: 'out of scope', closed_at: expect.any(String), findings: { open: 1 } });
    expect(await ours.patch(id, { status: 'open' })).toMatchObject({
      status: 409,
      body: { code: 'invalid_transition', detail: expect.stringContaining('Create another one') },
    });
    expect(await ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [two] })).toMatchObject({ status: 409 });
    expect(await ours.call('DELETE', `/work-items/${id}/findings/${one}`)).toMatchObject({ status: 409 });
    expect(await ours.call('POST', '/findings/bulk', { ids: [two], change: { work_item_id: id } })).toMatchObject({ status: 409 });
    expect(await ours.patch(id, { external_ref: 'OPS-2' })).toMatchObject({ status: 200, body: { status: 'cancelled', external_ref: 'OPS-2' } });
    await verify(one);
    expect(await statusOf(id)).toBe('cancelled');
  });
});

describe('a finding that comes back', () => {
  const followerOf = async (id: string) => {
    const { followed_by } = await ours.read(id);
    return followed_by === null ? null : ours.read(followed_by);
  };

  it('goes to one follow-up work item of the closed one, even if more findings come back later', async () => {
    await ours.scan('back:1', [11, 12, 13]);
    const item = await ours.item(await ours.ofImage('back:1'), { title: 'fix it', assignee: 'team-a', priority: 'high' });
    await ours.scan('back:1', []);
    const closed = await ours.read(item.id);
    expect(closed.status).toBe('verified');
    await ours.scan('back:1', [11, 12]);
    const next = await followerOf(item.id);
    expect(next).toMatchObject({ title: 'fix it', assignee: 'team-a', priority: 'high', status: 'open', follows: item.id, findings: { total: 2, open: 2 } });
    expect({ ...(await ours.read(item.id)), followed_by: null }).toEqual(closed);
    await ours.scan('back:1', [11, 12, 13]);
    expect(await followerOf(item.id)).toMatchObject({ id: next?.id, findings: { total: 3, open: 3 } });
    await ours.scan('back:1', [11, 12, 13]);
    expect((await ours.list(`/work-items?follows=${item.id}`)).data).toHaveLength(1);
    await ours.scan('back:1', []);
    expect(await followerOf(item.id)).toMatchObject({ id: next?.id, status: 'verified' });
    await ours.scan('back:1', [12]);
    const third = await followerOf(next?.id ?? '');
    expect(third).toMatchObject({ follows: next?.id, status: 'open', findings: { total: 1 } });
    const audit = await ours.list<{ action: string; after: object }>(`/audit-events?object_id=${third?.id}&sort=occurred_at`);
    expect(audit.data).toMatchObject([
      { action: 'work_item.created', after: { follows: next?.id } },
      { action: 'work_item.findings_linked', after: { linked: 1 } },
    ]);
  });

  it('gets a follow-up after a manual reopening or an expired acceptance, unless it is on an open work item', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const item = await ours.item([one]);
    await verify(one);
    await ours.patchFinding(one, { status: 'open', reason: 'it is back' });
    expect(await followerOf(item.id)).toMatchObject({ follows: item.id, findings: { total: 1 } });

    const accepted = await ours.item([two]);
    await ours.patchFinding(two, { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: inAMonth });
    expect(await statusOf(accepted.id)).toBe('closed_with_exceptions');
    const busy = await ours.item([two, await ours.finding()]);
    await api.db.withSystem((tx) => sql`update findings set acceptance_expires_at = now() where id = ${two}`.execute(tx));
    await endAcceptances(api);
    expect(await ours.readFinding(two)).toMatchObject({ status: 'open' });
    expect(await followerOf(accepted.id)).toBeNull();
    expect(await ours.read(busy.id)).toMatchObject({ status: 'open', findings: { open: 2, excepted: 0 } });
  });

  it('gets no follow-up if its work item was cancelled', async () => {
    const [one] = (await ours.findings(1)) as [string];
    const item = await ours.item([one]);
    await ours.patch(item.id, { status: 'cancelled', reason: 'given up' });
    await verify(one);
    await ours.patchFinding(one, { status: 'open', reason: 'it is back' });
    expect(await followerOf(item.id)).toBeNull();
    expect(await statusOf(item.id)).toBe('cancelled');
  });

  it('gets one follow-up per chain if several work items were closed', async () => {
    const [one, two, both] = (await ours.findings(3, { asset: { type: 'host', name: 'lines.example' } })) as [string, string, string];
    const [a, b] = [await ours.item([one, both], { title: 'a' }), await ours.item([two, both], { title: 'b' })];
    await verify(one, two, both);
    expect([await statusOf(a.id), await statusOf(b.id)]).toEqual(['verified', 'verified']);
    await ours.call('POST', '/findings/bulk', { filter: { asset: 'lines.' }, change: { status: 'open', reason: 'all back' } });
    const followers = [await followerOf(a.id), await followerOf(b.id)];
    expect(followers.map((item) => item?.findings.total).sort()).toEqual([1, 2]);
    for (const finding of [one, two, both]) {
      const open = (await ours.readFinding(finding)).work_items.filter(({ status }) => status === 'open');
      expect(open).toHaveLength(1);
    }
  });
});

describe('the database', () => {
  it('refuses a status that the findings do not support', async () => {
    const { id } = await ours.item(await ours.findings(1));
    const force = (set: string) => api.db.withSystem((tx) => sql`update work_items set ${sql.raw(set)} where id = ${id}`.execute(tx));
    await expect(force("status = 'verified', closed_at = now()")).rejects.toMatchObject({ code: '23514' });
    await expect(force("status = 'closed_with_exceptions', closed_at = now()")).rejects.toMatchObject({ code: '23514' });
    await expect(force("status = 'blocked'")).rejects.toMatchObject({ code: '23514' });
    await expect(force("status = 'cancelled', status_reason = 'x'")).rejects.toMatchObject({ code: '23514' });
    await expect(force('follows = id')).rejects.toMatchObject({ code: '23514' });
  });
});
