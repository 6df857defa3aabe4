import { createHash } from 'node:crypto';
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
const approve = (who: ReturnType<typeof workItemsOf>, id: string, body: object = { decision: 'approved', comment: 'looked at it' }) => who.decide(id, body);

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

  it('is about the state that the person saw: without it 400, with another one 409, which says what changed', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const { id } = await ours.item([one]);
    const post = (body: object) => grace.call('POST', `/work-items/${id}/approvals`, { decision: 'approved', ...body });
    const stateOf = async () => (await grace.call('GET', `/work-items/${id}/state`)).body as { state_digest: string; lines: string[] };
    const seen = await stateOf();
    expect(
      createHash('sha256')
        .update(seen.lines.map((line) => `${line}\n`).join(''))
        .digest('hex'),
    ).toBe(seen.state_digest);
    expect(seen.lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(['organization_id', 'finding']);
    const where = { path: '/state_digest', detail: expect.stringContaining('GET /work-items/{id}/state') };
    expect(await post({})).toMatchObject({ status: 400, body: { errors: [where] } });
    expect(await post({ state_digest: '0'.repeat(64) })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('not that of a recent state') },
    });

    await ours.patchFinding(one, { status: 'in_progress' });
    await ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [two] });
    const { body, status } = await post(seen);
    expect([status, (body as { code: string }).code]).toEqual([400, 'validation_failed']);
    const refused = await post({ state_digest: seen.state_digest });
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const { detail } = refused.body as { detail: string };
    expect(detail).toContain(`finding ${one}: state changed from "open" to "in_progress"`);
    expect(detail).toContain(`finding ${two} is new`);
    const { state_digest } = await stateOf();
    expect(await post({ state_digest })).toMatchObject({ status: 201, body: { state_digest } });
  });

  it('keeps the state that was decided on, however the work item changes afterwards', async () => {
    const [one, two] = (await ours.findings(2)) as [string, string];
    const { id } = await ours.item([one]);
    const { id: other } = await ours.item([two]);
    const seen = (await grace.call('GET', `/work-items/${id}/state`)).body as { state_digest: string; lines: string[] };
    const { body } = await grace.call('POST', `/work-items/${id}/approvals`, { decision: 'approved', state_digest: seen.state_digest });
    const { id: approval } = body as { id: string };
    await ours.patchFinding(one, { status: 'in_progress' });
    await ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [two] });
    expect((await ours.call('GET', `/work-items/${id}/approvals/${approval}/state`)).body).toEqual({ state_digest: seen.state_digest, lines: seen.lines });
    expect(await ours.call('GET', `/work-items/${other}/approvals/${approval}/state`)).toMatchObject({ status: 404 });
  });

  it('stays current when something changes that does not matter for the result', async () => {
    const [one] = (await ours.findings(1)) as [string];
    const { id } = await ours.item([one]);
    const { state_digest } = (await grace.call('GET', `/work-items/${id}/state`)).body as { state_digest: string };
    await ours.patchFinding(one, { tags: ['shop'] });
    await ours.patch(id, { priority: 'high', description: 'More words' });
    expect(await grace.call('POST', `/work-items/${id}/approvals`, { decision: 'approved', state_digest })).toMatchObject({ status: 201 });
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
      const { state_digest } = (await api.call('GET', `/api/v1/work-items/${claimed.id}/state`, { headers: session })).body as { state_digest: string };
      const inConsole = await api.call('POST', `/api/v1/work-items/${claimed.id}/approvals`, {
        headers: session,
        body: { decision: 'approved', state_digest },
      });
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
    expect((await ours.list(`/work-items/${id}/timeline?object_type=work_item`)).data).toHaveLength(6);
  });
});
