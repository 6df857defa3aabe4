import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { copiesOf, type Item, stray, workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy } from '../../testing/people.ts';

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi({ config: behindProxy });
  ours = workItemsOf(api);
});
afterAll(() => api?.close());

interface Event {
  type: string;
  data: Record<string, unknown>;
}
const eventsOf = (subject: string): Promise<Event[]> =>
  api.db.withSystem(async (tx) => (await tx.selectFrom('events').select(['type', 'data']).where('subject', '=', subject).orderBy('id').execute()) as Event[]);
const actionsOf = async (id: string): Promise<string[]> =>
  (await ours.list<{ action: string }>(`/audit-events?object_id=${id}&sort=occurred_at&limit=200`)).data.map(({ action }) => action);

describe('a work item', () => {
  it('is created with its findings, returned and announced', async () => {
    const ids = await ours.findings(2);
    const answer = await ours.call('POST', '/work-items', {
      title: 'Upgrade log4j',
      description: 'to 2.17.1',
      finding_ids: [...ids, ids[0]],
      assignee: 'team-payments',
      priority: 'high',
      due_at: '2020-01-01T00:00:00.000Z',
      external_ref: 'OPS-1',
    });
    const item = answer.body as Item;
    expect(answer).toMatchObject({
      status: 201,
      body: {
        title: 'Upgrade log4j',
        description: 'to 2.17.1',
        status: 'open',
        assignee: 'team-payments',
        assignee_member_id: null,
        assignee_name: null,
        priority: 'high',
        due_at: '2020-01-01T00:00:00.000Z',
        overdue: true,
        external_ref: 'OPS-1',
        findings: { total: 2, open: 2, verified: 0 },
        follows: null,
        followed_by: null,
        approvals: [],
      },
    });
    expect(answer.headers.get('location')).toBe(`/api/v1/work-items/${item.id}`);
    expect(answer.headers.get('etag')).toBe(`"${item.version}"`);
    expect(await ours.read(item.id)).toEqual(item);
    expect((await ours.readFinding(ids[0] as string)).work_items).toMatchObject([{ id: item.id, status: 'open' }]);
    expect(await actionsOf(item.id)).toEqual(['work_item.created', 'work_item.findings_linked']);
    expect(await eventsOf(item.id)).toMatchObject([{ type: 'work_item.created' }, { type: 'work_item.findings_linked', data: { linked: 2 } }]);
  });

  it('is assigned to a member by id or e-mail address or to a name, but not to an unknown id', async () => {
    const person = await addPerson(api, api.ours, 'analyst');
    const byId = await ours.item([], { assignee: person.id });
    const byMail = await ours.item([], { assignee: person.email.toUpperCase() });
    for (const item of [byId, byMail])
      expect(item).toMatchObject({ assignee: person.email, assignee_member_id: person.id, assignee_name: expect.stringMatching(/^Person \d+$/) });
    for (const assignee of [person.id, person.email]) {
      const { data } = await ours.list(`/work-items?assignee=${assignee}`);
      expect(data.map(({ id }) => id).sort()).toEqual([byId.id, byMail.id].sort());
    }
    const unknown = await ours.call('POST', '/work-items', { title: 'x', assignee: newId() });
    expect(unknown).toMatchObject({ status: 400, body: { errors: [{ path: '/assignee' }] } });
    const theirs = await addPerson(api, api.theirs, 'analyst');
    expect(await ours.call('POST', '/work-items', { title: 'x', assignee: theirs.id })).toMatchObject({ status: 400 });
    expect(await ours.item([], { assignee: theirs.email })).toMatchObject({ assignee: theirs.email, assignee_member_id: null });
  });

  it('is changed by a merge patch that honours If-Match, and keeps its version if nothing changes', async () => {
    const item = await ours.item([], { assignee: 'a', due_at: '2999-01-01T00:00:00Z', external_ref: 'r', description: 'd' });
    const changed = await ours.patch(item.id, { title: 'other', assignee: null, due_at: null, priority: 'low' }, { 'if-match': `"${item.version}"` });
    expect(changed).toMatchObject({
      status: 200,
      body: { title: 'other', assignee: null, due_at: null, priority: 'low', description: 'd', external_ref: 'r', version: item.version + 1 },
    });
    expect(await ours.patch(item.id, { title: 'third' }, { 'if-match': `"${item.version}"` })).toMatchObject({ status: 412 });
    expect(await ours.patch(item.id, { title: 'other', due_at: null })).toMatchObject({ status: 200, body: { version: item.version + 1 } });
    expect(await ours.patch(item.id, { due_at: '2998-01-01T00:00:00Z' })).toMatchObject({
      body: { due_at: '2998-01-01T00:00:00.000Z', version: item.version + 2 },
    });
    const { data } = await ours.list<{ action: string; before: object; after: object }>(
      `/audit-events?object_id=${item.id}&action=work_item.updated&sort=occurred_at`,
    );
    expect(data[0]).toMatchObject({
      before: { title: 'work', assignee: 'a', due_at: '2999-01-01T00:00:00.000Z' },
      after: { title: 'other', assignee: null, due_at: null },
    });
  });

  it.each([
    [{}, '/title'],
    [{ title: '  ' }, '/title'],
    [{ title: 'x', status: 'open' }, '/status'],
    [{ title: 'x', priority: 'urgent' }, '/priority'],
    [{ title: 'x', finding_ids: [] }, '/finding_ids'],
    [{ title: 'x', filter: {} }, '/filter'],
    [{ title: 'x', filter: { colour: 'red' } }, '/filter/colour'],
    [{ title: 'x', finding_ids: [newId()], filter: { kev: true } }, '/filter'],
  ])('%j is refused at %s', async (body, path) => {
    expect(await ours.call('POST', '/work-items', body)).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  it('is created once for one Idempotency-Key', async () => {
    const body = { title: 'once' };
    const [first, second] = [
      await ours.call('POST', '/work-items', body, { 'idempotency-key': 'wi' }),
      await ours.call('POST', '/work-items', body, { 'idempotency-key': 'wi' }),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect((await ours.list('/work-items?q=once')).data).toHaveLength(1);
  });

  it('refuses unknown findings and findings of another organization, and is then not created', async () => {
    const [mine] = await ours.findings(1);
    const theirs = await workItemsOf(api, api.theirs.owner).finding();
    for (const id of [newId(), theirs]) {
      expect(await ours.call('POST', '/work-items', { title: 'half', finding_ids: [mine, id] })).toMatchObject({
        status: 404,
        body: { detail: expect.stringContaining(id) },
      });
    }
    expect((await ours.list('/work-items?q=half')).data).toEqual([]);
    const item = await ours.item([]);
    expect(await ours.call('POST', '/findings', { title: 'x', severity: 'low', asset: { type: 'host', name: 'h' }, work_item_id: newId() })).toMatchObject({
      status: 404,
    });
    const other = workItemsOf(api, api.theirs.owner);
    expect(await other.call('POST', '/findings', { title: 'x', severity: 'low', asset: { type: 'host', name: 'h' }, work_item_id: item.id })).toMatchObject({
      status: 404,
    });
    expect(await other.call('POST', '/findings/bulk', { ids: [theirs], change: { work_item_id: item.id } })).toMatchObject({ status: 404 });
    expect((await ours.read(item.id)).findings.total).toBe(0);
  });
});

describe('the list of work items', () => {
  it('filters, searches, sorts and pages', async () => {
    const [finding] = (await ours.findings(1)) as [string];
    const made: string[] = [];
    for (const [n, priority] of ['low', 'critical', 'medium', 'high'].entries()) {
      const item = await ours.item(n === 0 ? [finding] : [], { title: `Pages ${n}`, priority, external_ref: 'LIST-7', due_at: `2999-01-0${n + 1}T00:00:00Z` });
      made.push(item.id);
    }
    await ours.item([], { title: 'Pages without a deadline', external_ref: 'LIST-7' });
    const ids = async (query: string) => (await ours.list(`/work-items?q=list-7&${query}`)).data.map(({ id }) => made.indexOf(id));
    expect(await ids('sort=-priority')).toEqual([1, 3, -1, 2, 0]);
    expect(await ids('sort=due_at')).toEqual([0, 1, 2, 3, -1]);
    expect(await ids('sort=created_at&priority=low,high')).toEqual([0, 3]);
    expect(await ids(`finding_id=${finding}`)).toEqual([0]);
    expect(await ids('due_from=2999-01-02&due_to=2999-01-03')).toEqual([1]);
    expect(await ids('due_from=2999-01-03&sort=due_at')).toEqual([2, 3]);
    expect(await ids('overdue=true')).toEqual([]);
    expect(await ids('status=cancelled')).toEqual([]);
    const walked: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, page }: { data: Item[]; page: { next_cursor: string | null } } = await ours.list(
        `/work-items?q=list-7&limit=2&sort=due_at${cursor ? `&cursor=${cursor}` : ''}`,
      );
      walked.push(...data.map(({ id }) => made.indexOf(id)));
      cursor = page.next_cursor;
    }
    expect(walked).toEqual([0, 1, 2, 3, -1]);
  });
});

describe('links to findings', () => {
  it('are added once by id or filter, and stay on record after removal', async () => {
    const [one, two, three] = (await ours.findings(3, { asset: { type: 'host', name: 'links.example' } })) as [string, string, string];
    const { id } = await ours.item([one]);
    expect(await ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [one, two] })).toMatchObject({
      status: 200,
      body: { matched: 2, linked: 1, already_linked: 1, work_item: { findings: { total: 2 } } },
    });
    expect(await ours.call('POST', `/work-items/${id}/findings`, { filter: { asset: 'links.' } })).toMatchObject({
      body: { matched: 3, linked: 1, already_linked: 2 },
    });
    for (const body of [{}, { finding_ids: [one], filter: { kev: true } }]) {
      expect(await ours.call('POST', `/work-items/${id}/findings`, body)).toMatchObject({ status: 400, body: { errors: [{ path: '/finding_ids' }] } });
    }
    expect(await ours.call('DELETE', `/work-items/${id}/findings/${two}?reason=another+team`)).toMatchObject({ status: 204 });
    expect(await ours.call('DELETE', `/work-items/${id}/findings/${two}`)).toMatchObject({ status: 404, body: { detail: expect.stringContaining(two) } });
    const linked = async (state: string) => (await ours.list<{ finding_id: string }>(`/work-items/${id}/findings?state=${state}&sort=linked_at`)).data;
    expect((await linked('linked')).map(({ finding_id }) => finding_id)).toEqual([one, three]);
    expect(await linked('unlinked')).toMatchObject([
      { finding_id: two, unlink_reason: 'another team', unlinked_by: 'owner of ours', title: expect.any(String), severity: 'high' },
    ]);
    expect((await ours.readFinding(two)).work_items).toEqual([]);
    await ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [two] });
    expect(await linked('all')).toHaveLength(4);
    expect(await actionsOf(id)).toEqual([
      'work_item.created',
      'work_item.findings_linked',
      'work_item.findings_linked',
      'work_item.findings_linked',
      'work_item.finding_unlinked',
      'work_item.findings_linked',
    ]);
  });

  it('can be used as filters of findings', async () => {
    const [one, two, lone] = (await ours.findings(3, { asset: { type: 'host', name: 'filters.example' } })) as [string, string, string];
    const item = await ours.item([one, two]);
    const cancelled = await ours.item([lone]);
    const ids = async (query: string) => (await ours.list<{ id: string }>(`/findings?asset=filters.&sort=created_at&${query}`)).data.map(({ id }) => id);
    expect(await ids(`work_item_id=${item.id}`)).toEqual([one, two]);
    expect(await ids('has_work_item=true')).toEqual([one, two, lone]);
    expect(await ids('has_work_item=false')).toEqual([]);
    await ours.patch(item.id, { assignee: 'team-Payments' });
    expect(await ids('assignee=TEAM-payments,nobody')).toEqual([one, two]);
    expect(await ids('assignee=nobody')).toEqual([]);
    await ours.patch(cancelled.id, { status: 'cancelled', reason: 'not ours' });
    expect(await ids('has_work_item=true')).toEqual([one, two]);
    expect(await ids('has_work_item=false')).toEqual([lone]);
    expect(await ids(`work_item_id=${newId()}`)).toEqual([]);
    const stats = await ours.call('GET', `/findings/export?format=ndjson&work_item_id=${item.id}`);
    expect(String(stats.body).trim().split('\n')).toHaveLength(2);
  });

  it('can be added by creating a finding and by a bulk change, but not by its dry run', async () => {
    const item = await ours.item([]);
    const fresh = await ours.finding({ work_item_id: item.id });
    const [one, two] = (await ours.findings(2)) as [string, string];
    const body = { ids: [fresh, one, two], change: { work_item_id: item.id } };
    const counts = { matched: 3, changed: 2, unchanged: 1, refused: 0 };
    expect(await ours.call('POST', '/findings/bulk', { ...body, dry_run: true })).toMatchObject({ status: 200, body: { counts } });
    expect((await ours.read(item.id)).findings.total).toBe(1);
    expect(await ours.call('POST', '/findings/bulk', body)).toMatchObject({ status: 200, body: { counts } });
    expect(await ours.read(item.id)).toMatchObject({ findings: { total: 3, open: 3 } });
    expect(await ours.readFinding(one)).toMatchObject({ version: 1, work_items: [{ id: item.id }] });
    const both = { ids: [one], change: { work_item_id: (await ours.item([])).id, status: 'in_progress' } };
    expect(await ours.call('POST', '/findings/bulk', both)).toMatchObject({ body: { counts: { changed: 1 } } });
    expect((await ours.readFinding(one)).work_items).toHaveLength(2);
    expect(await ours.read(both.change.work_item_id)).toMatchObject({ status: 'in_progress' });
    expect(await ours.read(item.id)).toMatchObject({ status: 'in_progress' });
  });

  it('are in the list of findings, the last three with their assignees', async () => {
    const [one = '', other = ''] = await ours.findings(2);
    await ours.item([other]);
    for (const assignee of ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com']) await ours.item([one], { title: `of ${assignee}`, assignee });
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    await ours.patchFinding(one, { status: 'risk_accepted', reason: 'isolated', owner: 'Ada', expires_at });
    const rows = (await ours.list<Record<string, unknown> & { id: string }>('/findings?sort=-created_at&limit=2')).data;
    expect(rows.find(({ id }) => id === one)).toMatchObject({
      work_item_count: 4,
      work_items: ['d', 'c', 'b'].map((name) => ({ title: `of ${name}@example.com`, status: 'closed_with_exceptions', assignee: `${name}@example.com` })),
      status_reason: 'isolated',
      reason_code: 'by_person',
      status_changed_at: expect.stringMatching(/Z$/),
      acceptance: { state: 'active', owner: 'Ada', expires_at },
    });
    expect(rows.find(({ id }) => id === other)).toMatchObject({ work_item_count: 1, acceptance: null });
    expect((await ours.readFinding(one)).work_items).toHaveLength(4);
  });

  it('can number thousands, up to the limit of a work item', async () => {
    const origin = await ours.finding({ title: 'crowd', asset: { type: 'host', name: 'crowd.example' } });
    await copiesOf(api, origin, 1_999);
    const item = await ours.item([], { filter: { asset: 'crowd.' } });
    expect(item.findings).toMatchObject({ total: 2_000, open: 2_000 });
    expect(await ours.patch(item.id, { status: 'awaiting_verification', reason: 'rolled out everywhere' })).toMatchObject({
      status: 200,
      body: { status: 'awaiting_verification', findings: { remediated: 2_000, open: 0 } },
    });
    const more = await ours.finding({ title: 'crowd', asset: { type: 'host', name: 'flock.example' } });
    await copiesOf(api, more, 8_999);
    expect(await ours.call('POST', `/work-items/${item.id}/findings`, { filter: { asset: 'flock.' } })).toMatchObject({ status: 409 });
    expect(await ours.call('POST', '/work-items', { title: 'all', filter: { q: 'crowd' } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/filter' }] },
    });
    expect((await ours.read(item.id)).findings.total).toBe(2_000);
    expect(await stray(api)).toEqual([]);
  });
});
