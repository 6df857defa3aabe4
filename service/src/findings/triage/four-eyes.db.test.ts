import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, createKey, type Person, signIn } from '../../testing/people.ts';

interface Shown {
  id: string;
  status: string;
  version: number;
  reason_code: string | null;
  acceptance: Record<string, unknown> | null;
  decisions: Record<string, unknown>[];
  detail: string;
  asset: { id: string };
}

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
let ada: Person;
let adaSession: { cookie: string };
let adaKey: string;
let adaKeyOfKey: string;
let grace: string;
let id: string;

beforeAll(async () => {
  api = await startApi({ config: behindProxy });
  ours = workItemsOf(api);
  ada = await addPerson(api, api.ours, 'admin');
  adaSession = await signIn(api, ada);
  adaKey = (await createKey(api, { headers: adaSession }, 'admin')).key;
  adaKeyOfKey = (await createKey(api, { as: adaKey }, 'analyst')).key;
  grace = (await createKey(api, { headers: await signIn(api, await addPerson(api, api.ours, 'admin')) }, 'analyst')).key;
  await fourEyes(true);
});
afterAll(() => api?.close());
beforeEach(async () => {
  id = await ours.finding();
});

const fourEyes = (on: boolean) => api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { policy: { four_eyes: on } } });
const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const expires_at = day(30);
const accept = { status: 'risk_accepted', reason: 'behind the firewall', owner: 'Grace Hopper', expires_at };
const send = async (method: string, path: string, body: object, as: string | { cookie: string } = adaKey, headers: Record<string, string> = {}) => {
  const who = typeof as === 'string' ? { as, headers } : { headers: { ...as, ...headers } };
  const answer = await api.call(method, `/api/v1${path}`, { ...who, body });
  return { status: answer.status, body: answer.body as Shown & { counts: object; refused: object[]; code: string; errors: object[] } };
};
const patch = (body: object, as?: string) => send('PATCH', `/findings/${id}`, body, as);
const approve = (as: string | { cookie: string } = grace, body: object = { reason: 'agreed' }) => send('POST', `/findings/${id}/acceptance/approve`, body, as);
const reject = (as: string = grace, body: object = { reason: 'fix it' }) => send('POST', `/findings/${id}/acceptance/reject`, body, as);
const bulk = (body: object, as?: string) => send('POST', '/findings/bulk', body, as);
const read = async (finding = id) => (await api.call('GET', `/api/v1/findings/${finding}`, { as: grace })).body as Shown;
const eventsOf = async (finding = id) =>
  (await api.db.withSystem((tx) => tx.selectFrom('events').select(['type', 'data']).where('subject', '=', finding).orderBy('id').execute())).slice(1);
const historyOf = async () => ((await api.call('GET', `/api/v1/findings/${id}/history`, { as: grace })).body as { data: Record<string, unknown>[] }).data;

describe('accepting a risk under the four-eyes policy', () => {
  it('is a request: the finding stays open until another person approves it', async () => {
    const requested = await patch(accept);
    expect(requested).toMatchObject({
      status: 200,
      body: {
        status: 'open',
        version: 2,
        acceptance: { state: 'requested', owner: 'Grace Hopper', expires_at, reason: 'behind the firewall', requested_by: { id: ada.id }, approved_by: null },
        decisions: [{ kind: 'acceptance', state: 'requested', severity: 'high', kev: false, scope: 'places' }],
      },
    });
    expect(await eventsOf()).toMatchObject([{ type: 'finding.acceptance_requested', data: { owner: 'Grace Hopper', reason: 'behind the firewall' } }]);
    const approved = await approve();
    expect(approved).toMatchObject({
      status: 200,
      body: {
        status: 'risk_accepted',
        version: 3,
        reason_code: 'acceptance_approved',
        status_reason: 'behind the firewall',
        acceptance: { state: 'active', owner: 'Grace Hopper', expires_at, requested_by: { id: ada.id }, approved_at: expect.any(String) },
        decisions: [{ state: 'active', approval_reason: 'agreed', decided_by: { id: ada.id } }],
      },
    });
    expect(approved.body.decisions[0]?.approved_by).not.toMatchObject({ id: ada.id });
    expect((await eventsOf()).map(({ type }) => type).sort()).toEqual([
      'finding.acceptance_approved',
      'finding.acceptance_requested',
      'finding.status_changed',
    ]);
    expect(await historyOf()).toMatchObject([
      { action: 'status_changed', before: { status: 'open' }, after: { status: 'risk_accepted', requested_by: expect.any(String) }, reason: 'agreed' },
      { action: 'acceptance_requested', person: { id: ada.id } },
    ]);
    const { body } = await api.call('GET', `/api/v1/audit-events?object_id=${id}&limit=2`, { as: api.ours.owner });
    expect(body).toMatchObject({ data: [{ action: 'finding.acceptance_approved' }, { action: 'finding.acceptance_requested', person: { id: ada.id } }] });
  });

  it('cannot be approved by the person who requested it, with any credential', async () => {
    await patch(accept);
    for (const own of [adaKey, adaKeyOfKey, adaSession]) {
      expect(await approve(own)).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('You requested') } });
    }
    for (const own of [adaKey, adaKeyOfKey]) {
      expect(await bulk({ ids: [id], change: { acceptance: 'approve' } }, own)).toMatchObject({ body: { refused: [{ id, code: 'conflict' }] } });
    }
    expect(await read()).toMatchObject({ status: 'open', acceptance: { state: 'requested' } });
    await expect(
      api.db.withTenant({ orgId: api.ours.id }, (tx) =>
        sql`update decisions set state = 'active', approver = person, decided_at = now() where finding_id = ${id}`.execute(tx),
      ),
    ).rejects.toMatchObject({ code: '23514' });
  });

  it('cannot be approved in the name of a colleague whose password the requester has set', async () => {
    const colleague = await addPerson(api, api.ours, 'admin');
    await patch(accept);
    const password = 'a password that Ada knows';
    expect(await send('PATCH', `/members/${colleague.id}`, { password })).toMatchObject({ status: 200 });
    const impostor = await signIn(api, { ...colleague, password });
    const refused = { status: 403, body: { code: 'password_change_required', detail: expect.stringContaining('act in your name') } };
    expect(await approve(impostor)).toMatchObject(refused);
    expect(await send('POST', '/findings/bulk', { ids: [id], change: { acceptance: 'approve' } }, impostor)).toMatchObject(refused);
    expect(await send('POST', '/api-keys', { name: 'for later', role: 'admin' }, impostor)).toMatchObject(refused);
    expect(await read()).toMatchObject({ status: 'open', acceptance: { state: 'requested' } });
  });

  it('can be approved by a key without a member, unless the same key or its maker requested it', async () => {
    const [root, other] = [await api.ours.key('admin'), await api.ours.key('analyst')];
    const child = (await createKey(api, { as: root }, 'analyst', { name: 'Head of Security' })).key;
    await patch(accept, child);
    for (const own of [root, child]) expect(await approve(own)).toMatchObject({ status: 409 });
    expect(await approve(other)).toMatchObject({ status: 200, body: { status: 'risk_accepted' } });
  });

  it('can be rejected, with a reason', async () => {
    await patch(accept);
    expect(await reject(grace, {})).toMatchObject({ status: 400, body: { errors: [{ path: '/reason' }] } });
    expect(await reject()).toMatchObject({
      status: 200,
      body: { status: 'open', acceptance: null, version: 3, decisions: [{ state: 'rejected', approval_reason: 'fix it', ended_at: null }] },
    });
    expect(await eventsOf()).toMatchObject([{}, { type: 'finding.acceptance_rejected', data: { state: 'rejected', reason: 'fix it' } }]);
    for (const answer of [approve, reject])
      expect(await answer()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('no pending request') } });
    expect(await patch(accept)).toMatchObject({ body: { acceptance: { state: 'requested' } } });
  });

  it('is withdrawn if the requester rejects it', async () => {
    await patch(accept);
    expect(await reject(adaKeyOfKey, { reason: 'not needed' })).toMatchObject({
      body: { acceptance: null, decisions: [{ state: 'void', ended_reason: 'withdrawn', approved_by: null }] },
    });
    expect((await historyOf())[0]).toMatchObject({ action: 'acceptance_withdrawn', reason: 'not needed' });
  });

  it('repeated changes nothing, and with other details replaces the request', async () => {
    await patch(accept);
    expect(await patch(accept)).toMatchObject({ body: { version: 2 } });
    const longer = { ...accept, expires_at: day(60) };
    expect(await patch(longer)).toMatchObject({
      body: { version: 3, acceptance: { expires_at: longer.expires_at }, decisions: [{ state: 'requested' }, { state: 'void', ended_reason: 'replaced' }] },
    });
    const approved = await send('POST', `/findings/${id}/acceptance/approve`, {}, grace, { 'if-match': '"2"' });
    expect(approved).toMatchObject({ status: 412 });
  });

  it('by a second person who also requests it is a new request, which the first can approve', async () => {
    await patch(accept);
    await patch(accept, grace);
    expect(await approve(grace)).toMatchObject({ status: 409 });
    expect(await approve(adaKey)).toMatchObject({ status: 200 });
  });

  it('is void when the finding is closed', async () => {
    await patch(accept);
    await patch({ status: 'in_progress' });
    expect(await read()).toMatchObject({ acceptance: { state: 'requested' } });
    await patch({ status: 'withdrawn', reason: 'out of scope' });
    expect(await read()).toMatchObject({ acceptance: null, decisions: [{ state: 'void', ended_reason: 'by_person' }] });
    expect(await approve()).toMatchObject({ status: 409 });
    await patch({ status: 'open', reason: 'in scope' });
    await patch(accept);
    await patch({ status: 'false_positive', justification: 'code_not_present' });
    expect(await read()).toMatchObject({ decisions: [{ kind: 'false_positive', state: 'active' }, { state: 'void' }, { state: 'void' }] });
  });

  it('is void when the asset is retired', async () => {
    id = await ours.finding({ asset: { type: 'host', name: 'retired.example' } });
    await patch(accept);
    const { asset } = await read();
    expect(await send('PATCH', `/assets/${asset.id}`, { retired: true })).toMatchObject({ status: 200 });
    expect(await read()).toMatchObject({ status: 'withdrawn', reason_code: 'asset_retired', decisions: [{ state: 'void', ended_reason: 'asset_retired' }] });
  });

  it('that has expired, or whose finding a scan has closed since, cannot be approved', async () => {
    await patch(accept);
    const set = (change: string) => api.db.withTenant({ orgId: api.ours.id }, (tx) => sql`${sql.raw(change)} ${id}`.execute(tx));
    await set(`update findings set status = 'verified', assurance = 'scan_only', closed_at = now() where id =`.replace('id =', 'id::text ='));
    expect(await approve()).toMatchObject({ status: 409, body: { code: 'invalid_transition' } });
    await set(`update decisions set expires_at = now() - interval '1 second' where finding_id::text =`);
    expect(await approve()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('expired') } });
  });

  it('of an accepted finding extends it only when approved', async () => {
    await patch(accept);
    await approve();
    const longer = { ...accept, expires_at: day(90) };
    expect(await patch(longer)).toMatchObject({
      body: { status: 'risk_accepted', acceptance: { state: 'active', expires_at }, decisions: [{ state: 'requested' }, { state: 'active' }] },
    });
    expect(await approve()).toMatchObject({
      body: { status: 'risk_accepted', acceptance: { state: 'active', expires_at: longer.expires_at }, decisions: [{ state: 'active' }, { state: 'ended' }] },
    });
    expect(await patch({ status: 'open' }, grace)).toMatchObject({
      body: { acceptance: null, decisions: [{ state: 'ended', ended_reason: 'by_person' }, {}] },
    });
  });

  it('follows the rules of an acceptance, and viewers may not answer', async () => {
    expect(await patch({ ...accept, expires_at: day(-1) })).toMatchObject({ status: 400 });
    expect(await patch({ status: 'risk_accepted' })).toMatchObject({ status: 400 });
    await patch({ status: 'false_positive', justification: 'code_not_present' });
    expect(await patch(accept)).toMatchObject({ status: 409, body: { code: 'invalid_transition' } });
    expect(await approve(await api.ours.key('viewer'))).toMatchObject({ status: 403 });
    expect(await approve(api.theirs.owner)).toMatchObject({ status: 404 });
  });

  it('approved twice at once takes effect once', async () => {
    await patch(accept);
    const answers = await Promise.all([approve(), approve()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('closes the work item when it is approved, not before', async () => {
    const item = await ours.item([id]);
    await patch(accept);
    expect(await ours.read(item.id)).toMatchObject({ status: 'open' });
    await approve();
    expect(await ours.read(item.id)).toMatchObject({ status: 'closed_with_exceptions' });
  });
});

describe('many acceptances under the four-eyes policy', () => {
  const three = async () => [id, await ours.finding(), await ours.finding()] as const;

  it('are requested, found, approved and rejected in bulk', async () => {
    const [one, other, third] = await three();
    const dry = await bulk({ ids: [one, other], change: accept, dry_run: true });
    expect(dry).toMatchObject({ status: 200, body: { counts: { matched: 2, changed: 2 } } });
    expect(await read()).toMatchObject({ version: 1, decisions: [] });
    expect(await bulk({ ids: [one, other], change: accept })).toMatchObject({ body: { counts: { changed: 2, refused: 0 } } });
    expect(await bulk({ ids: [one, other], change: accept })).toMatchObject({ body: { counts: { changed: 0, unchanged: 2 } } });
    expect(await read(other)).toMatchObject({ status: 'open', version: 2, acceptance: { state: 'requested', requested_by: { id: ada.id } } });
    const pending = await ours.list<Shown>('/findings?acceptance_requested=true&limit=200');
    expect(pending.data.map((finding) => finding.id)).toEqual(expect.arrayContaining([one, other]));
    expect(pending.data.map((finding) => finding.id)).not.toContain(third);
    const rest = await ours.list<Shown>('/findings?acceptance_requested=false&limit=200');
    expect(rest.data.map((finding) => finding.id)).toContain(third);

    const change = { acceptance: 'approve', reason: 'agreed' };
    const answer = await bulk({ ids: [one, other, third], change }, grace);
    expect(answer).toMatchObject({ body: { counts: { matched: 3, changed: 2, refused: 1 }, refused: [{ id: third, code: 'conflict' }] } });
    for (const finding of [one, other]) expect(await read(finding)).toMatchObject({ status: 'risk_accepted', acceptance: { state: 'active' }, version: 3 });
    expect((await eventsOf(other)).map(({ type }) => type)).toContain('finding.acceptance_approved');

    await bulk({ ids: [third], change: accept });
    expect(await bulk({ ids: [third], change: { acceptance: 'reject' } }, grace)).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/change/reason' }] },
    });
    expect(await bulk({ ids: [third], change: { acceptance: 'reject', reason: 'fix it' } }, grace)).toMatchObject({ body: { counts: { changed: 1 } } });
    expect(await read(third)).toMatchObject({ status: 'open', acceptance: null, decisions: [{ state: 'rejected' }] });
  });

  it('cannot be answered and changed in one request', async () => {
    const change = { acceptance: 'approve', status: 'open' };
    expect(await bulk({ ids: [id], change })).toMatchObject({ status: 400, body: { errors: [{ path: '/change/status', code: 'misplaced' }] } });
  });

  it('are requested by filter like one by one', async () => {
    const host = { asset: { type: 'host', name: 'alike.example' } };
    const [single, many] = [await ours.finding(host), await ours.finding(host)];
    await send('PATCH', `/findings/${single}`, accept);
    await bulk({ filter: { asset: 'alike.' }, change: accept });
    const decisionOf = async (finding: string) => {
      const { id: _, requested_at, ...decision } = (await read(finding)).decisions[0] ?? {};
      return decision;
    };
    expect(await decisionOf(many)).toEqual(await decisionOf(single));
    expect(await eventsOf(many)).toEqual(await eventsOf(single));
  });
});

describe('without the policy', () => {
  beforeAll(() => fourEyes(false));
  afterAll(() => fourEyes(true));

  it('an acceptance and a false positive are active at once, and end when a person reopens the finding', async () => {
    expect(await patch({ ...accept, scope: 'finding' })).toMatchObject({
      body: {
        status: 'risk_accepted',
        acceptance: { state: 'active', requested_by: { id: ada.id }, approved_by: null, approved_at: null },
        decisions: [{ kind: 'acceptance', state: 'active', scope: 'finding', owner: 'Grace Hopper', expires_at }],
      },
    });
    await patch({ status: 'open' }, grace);
    const dismissed = { status: 'false_positive', justification: 'code_not_present', reason: 'not in the image' };
    expect(await patch(dismissed)).toMatchObject({
      body: {
        decisions: [
          { kind: 'false_positive', state: 'active', justification: 'code_not_present', reason: 'not in the image', scope: 'places' },
          { kind: 'acceptance', state: 'ended', ended_reason: 'by_person' },
        ],
      },
    });
    expect(await patch(dismissed)).toMatchObject({ body: { version: 4 } });
    expect(await patch({ ...dismissed, scope: 'finding' })).toMatchObject({
      body: { version: 5, decisions: [{ state: 'active', scope: 'finding' }, { state: 'ended', ended_reason: 'replaced' }, {}] },
    });
    expect(await bulk({ ids: [id], change: { ...dismissed, scope: 'finding' } })).toMatchObject({ body: { counts: { unchanged: 1 } } });
    expect(await bulk({ ids: [id], change: { ...dismissed, scope: 'places' } })).toMatchObject({ body: { counts: { changed: 1 } } });
    await bulk({ ids: [id], change: { status: 'open', reason: 'it is' } });
    expect(await read()).toMatchObject({ status: 'open', decisions: [{ state: 'ended', ended_reason: 'by_person' }, {}, {}, {}] });
  });

  it('a pending request is void when its finding is accepted directly', async () => {
    await fourEyes(true);
    await patch(accept);
    await fourEyes(false);
    expect(await patch(accept)).toMatchObject({
      body: { status: 'risk_accepted', decisions: [{ state: 'active' }, { state: 'void', ended_reason: 'replaced' }] },
    });
  });
});

describe('verifying a claim', () => {
  it('is forbidden to the person who made it, also with a key made by a key', async () => {
    await patch({ status: 'remediated', reason: 'upgraded' }, adaKeyOfKey);
    for (const own of [adaKey, adaKeyOfKey]) expect(await patch({ status: 'verified' }, own)).toMatchObject({ status: 409 });
    expect(await send('PATCH', `/findings/${id}`, { status: 'verified' }, adaSession)).toMatchObject({ status: 409 });
    expect(await patch({ status: 'verified' }, grace)).toMatchObject({ status: 200, body: { assurance: 'independent' } });
  });
});
