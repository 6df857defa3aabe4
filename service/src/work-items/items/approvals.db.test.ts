import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, type Person, signIn } from '../../testing/people.ts';

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
let ada: Person;
let adaKey: string;
let grace: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi({ config: behindProxy });
  ours = workItemsOf(api);
  ada = await addPerson(api, api.ours, 'admin');
  const admin = await addPerson(api, api.ours, 'admin');
  adaKey = (await createKey(api, { headers: await signIn(api, ada) }, 'analyst')).key;
  grace = workItemsOf(api, (await createKey(api, { headers: await signIn(api, admin) }, 'analyst')).key);
});
afterAll(() => api?.close());

const fourEyes = (on: boolean) => api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { policy: { four_eyes: on } } });
const approve = (who: ReturnType<typeof workItemsOf>, id: string, body: object = { decision: 'approved', comment: 'looked at it' }) =>
  who.call('POST', `/work-items/${id}/approvals`, body);

describe('an approval', () => {
  it('records the decision, the person and the version of the work item', async () => {
    const item = await ours.item(await ours.findings(1));
    const answer = await approve(grace, item.id);
    expect(answer).toMatchObject({
      status: 201,
      body: {
        decision: 'approved',
        comment: 'looked at it',
        by: { type: 'api_key', name: 'a key for analyst' },
        independent: true,
        work_item_status: 'open',
        work_item_version: item.version,
      },
    });
    expect(await approve(grace, item.id, { decision: 'rejected' })).toMatchObject({ status: 400, body: { errors: [{ path: '/comment' }] } });
    expect(await approve(grace, item.id, { decision: 'rejected', comment: 'one host is missing' })).toMatchObject({ status: 201 });
    expect(await ours.read(item.id)).toMatchObject({ version: item.version, approvals: [{ decision: 'rejected' }, { decision: 'approved' }] });
    const { data } = await ours.list<{ action: string }>(`/audit-events?object_id=${item.id}&limit=2`);
    expect(data.map(({ action }) => action)).toEqual(['work_item.rejected', 'work_item.approved']);
  });

  it.each(['update', 'delete from', 'truncate'])('cannot be changed with %s', async (verb) => {
    const statement = verb === 'update' ? 'update work_item_approvals set comment = null' : `${verb} work_item_approvals`;
    await expect(api.db.withSystem((tx) => sql`${sql.raw(statement)}`.execute(tx))).rejects.toMatchObject({ code: '42501' });
    await expect(api.db.withTenant({ orgId: api.ours.id }, (tx) => sql`${sql.raw(statement)}`.execute(tx))).rejects.toMatchObject({ code: '42501' });
  });

  it('requires a second person if the four-eyes policy is on', async () => {
    await fourEyes(true);
    try {
      const asAda = workItemsOf(api, adaKey);
      const created = await asAda.item(await ours.findings(1));
      expect(await approve(asAda, created.id)).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('you created it') } });
      expect(await approve(asAda, created.id, { decision: 'rejected', comment: 'not yet' })).toMatchObject({ status: 201, body: { independent: false } });

      const assigned = await ours.item([], { assignee: ada.email });
      expect(await approve(asAda, assigned.id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('you are its assignee') } });

      const claimed = await ours.item(await ours.findings(2));
      await asAda.patch(claimed.id, { status: 'awaiting_verification', reason: 'patched' });
      expect(await approve(asAda, claimed.id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('you claimed') } });
      const session = await signIn(api, ada);
      const inConsole = await api.call('POST', `/api/v1/work-items/${claimed.id}/approvals`, { headers: session, body: { decision: 'approved' } });
      expect(inConsole).toMatchObject({ status: 409 });

      const left = await ours.item([], { assignee: ada.email });
      await ours.patch(left.id, { assignee: null });
      expect(await approve(asAda, left.id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('you were its assignee') } });

      const [unlinked] = await ours.findings(1);
      const taken = await ours.item([unlinked ?? '']);
      await asAda.patch(taken.id, { status: 'awaiting_verification', reason: 'patched' });
      await ours.call('DELETE', `/work-items/${taken.id}/findings/${unlinked}`);
      expect(await approve(asAda, taken.id)).toMatchObject({ status: 409 });

      for (const { id } of [created, assigned, claimed, left]) expect(await approve(grace, id)).toMatchObject({ status: 201, body: { independent: true } });
    } finally {
      await fourEyes(false);
    }
  });

  it('by a participant is accepted without that policy and marked as not independent', async () => {
    const asAda = workItemsOf(api, adaKey);
    const { id } = await asAda.item([]);
    expect(await approve(asAda, id)).toMatchObject({ status: 201, body: { independent: false } });
    await ours.patch(id, { status: 'cancelled', reason: 'no need' });
    expect(await approve(grace, id)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('cancelled') } });
  });
});

describe('the timeline', () => {
  it('lists events of the work item, its findings and its approvals in one order, in pages', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    await ours.patchFinding(one, { status: 'in_progress' });
    const { id } = await ours.item([one, two]);
    await ours.patch(id, { status: 'awaiting_verification', reason: 'patched' });
    await ours.call('DELETE', `/work-items/${id}/findings/${two}`);
    await ours.patchFinding(two, { status: 'open', reason: 'not this one' });
    await approve(grace, id);
    interface Entry {
      action: string;
      object: { id: string };
      reason: string | null;
    }
    const whole = await ours.list<Entry>(`/work-items/${id}/timeline?sort=occurred_at&limit=200`);
    const entries = whole.data.map(({ action, object }) => `${action} ${[id, one, two].indexOf(object.id)}`);
    expect(entries.toSorted()).toEqual(
      [
        'finding.status_changed 1',
        'work_item.created 0',
        'work_item.findings_linked 0',
        'work_item.status_changed 0',
        'finding.status_changed 1',
        'finding.status_changed 2',
        'work_item.status_changed 0',
        'work_item.finding_unlinked 0',
        'work_item.approved 0',
      ].toSorted(),
    );
    expect(entries.at(0)).toBe('finding.status_changed 1');
    expect(entries.at(-1)).toBe('work_item.approved 0');
    const paged: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, page }: { data: Entry[]; page: { next_cursor: string | null } } = await ours.list(
        `/work-items/${id}/timeline?sort=occurred_at&limit=2${cursor ? `&cursor=${cursor}` : ''}`,
      );
      paged.push(...data);
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(whole.data);
    const findings = await ours.list<Entry>(`/work-items/${id}/timeline?object_type=finding`);
    expect(findings.data.map(({ reason }) => reason)).toEqual(['patched', 'patched', null]);
    expect((await ours.list(`/work-items/${id}/timeline?object_type=work_item`)).page.total.count).toBe(6);
  });
});
