import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, createKey, signIn } from '../../testing/people.ts';
import { allowed, mayMove, type Status, statuses } from '../status.ts';

interface Shown {
  id: string;
  status: Status;
  severity: string;
  due_at: string | null;
  first_seen: string;
  version: number;
  reopen_count: number;
  code: string;
  detail: string;
  errors: { path: string; code: string }[];
}

let api: TestApi;
let admin: pg.Client;
let analyst: string;
let other: string;
let finding: Shown;
let number = 0;

beforeAll(async () => {
  api = await startApi();
  admin = new pg.Client({ connectionString: api.databaseUrl });
  await admin.connect();
  await admin.query('set search_path = rrs');
  [analyst, other] = [await api.ours.key('analyst'), await api.ours.key('analyst')];
});
afterAll(async () => {
  await admin?.end();
  await api?.close();
});
beforeEach(async () => {
  number++;
  const body = { title: `Finding ${number}`, severity: 'high', asset: { type: 'host', name: 'web.example.com' } };
  const created = await api.call('POST', '/api/v1/findings', { as: analyst, body });
  expect(created.status).toBe(201);
  finding = created.body as Shown;
});

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const inAYear = day(365);
async function patch(body: object, { as = analyst, headers = {} }: { as?: string; headers?: Record<string, string> } = {}) {
  const answer = await api.call('PATCH', `/api/v1/findings/${finding.id}`, { as, body, headers });
  return { status: answer.status, etag: answer.headers.get('etag'), body: answer.body as Shown & Record<string, unknown> };
}
const WITH: Record<Status, object> = {
  open: { reason: 'seen again' },
  in_progress: {},
  remediated: { reason: 'upgraded' },
  verified: {},
  risk_accepted: { reason: 'no way in', owner: 'Grace Hopper', expires_at: day(30) },
  false_positive: { justification: 'code_not_reachable' },
  withdrawn: { reason: 'out of scope' },
};
/** Sets the status directly in the database, because the way to it is not under test. */
const bring = (status: Status) =>
  admin.query(
    `update findings set status = $2, status_changed_by = null, status_reason = 'because', assurance = case when $2 in ('remediated', 'verified') then 'declared' end,
       closed_at = case when $2 in ('verified', 'risk_accepted', 'false_positive', 'withdrawn') then now() end, justification = case when $2 = 'false_positive' then 'code_not_reachable' end,
       acceptance_owner = case when $2 = 'risk_accepted' then 'Grace' end, acceptance_expires_at = case when $2 = 'risk_accepted' then now() + interval '1 day' end where id = $1`,
    [finding.id, status],
  );

describe('a change of status', () => {
  it.each(statuses.flatMap((from) => statuses.map((to) => [from, to] as const)))('%s → %s', async (from, to) => {
    await bring(from);
    const answer = await patch({ status: to, ...(from === to ? {} : WITH[to]) });
    if (from === to || mayMove(from, to, 'person')) {
      expect(answer).toMatchObject({ status: 200, body: { status: to } });
      expect(answer.body.version).toBe(from === to ? 1 : 2);
    } else {
      expect(answer).toMatchObject({ status: 409, body: { code: 'invalid_transition' } });
      expect(answer.body.detail).toContain(`A finding that is ${from} cannot become ${to}`);
      for (const way of allowed(from, 'person')) expect(answer.body.detail).toContain(way);
    }
  });

  it.each<[Status, Status, string[]]>([
    ['open', 'remediated', ['/reason']],
    ['open', 'risk_accepted', ['/expires_at', '/owner', '/reason']],
    ['open', 'false_positive', ['/justification']],
    ['open', 'withdrawn', ['/reason']],
    ['verified', 'open', ['/reason']],
    ['withdrawn', 'open', ['/reason']],
  ])('%s → %s reports all missing fields at once', async (from, to, missing) => {
    await bring(from);
    const answer = await patch({ status: to });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(answer.body.errors.map(({ path }) => path).sort()).toEqual(missing);
  });

  it('without anything that changes is refused, because the reason would be lost', async () => {
    expect(await patch({ reason: 'looked at it' })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('together with `status`, `severity` or `tags`'), errors: [{ path: '/reason', code: 'misplaced' }] },
    });
    expect(await patch({ reason: 'looked at it', tags: ['seen'] })).toMatchObject({ status: 200, body: { version: 2 } });
    const history = await api.call('GET', `/api/v1/findings/${finding.id}/history`, { as: analyst });
    expect(history.body).toMatchObject({ data: [{ action: 'updated', reason: 'looked at it' }] });
  });

  it('has a reason code, and its words if a person gave some', async () => {
    expect(await patch({ status: 'in_progress' })).toMatchObject({ body: { reason_code: 'by_person', status_reason: null } });
    expect(await patch({ status: 'remediated', reason: 'upgraded' })).toMatchObject({ body: { reason_code: 'by_person', status_reason: 'upgraded' } });
    const history = await api.call('GET', `/api/v1/findings/${finding.id}/history?limit=1`, { as: analyst });
    expect(history.body).toMatchObject({ data: [{ after: { status: 'remediated', reason_code: 'by_person' }, person: { name: 'analyst of ours' } }] });
    await admin.query(`update findings set status_reason = null, reason_code = 'scan_seen_again' where id = $1`, [finding.id]);
    expect((await api.call('GET', `/api/v1/findings/${finding.id}`, { as: analyst })).body).toMatchObject({
      reason_code: 'scan_seen_again',
      status_reason: 'A scan reports the finding again.',
    });
  });

  it('with a severity reports the missing fields of both', async () => {
    const answer = await patch({ status: 'risk_accepted', severity: 'low', expires_at: day(-1) });
    expect(answer.body.errors.map(({ path, code }) => `${path} ${code}`).sort()).toEqual(['/expires_at in_the_past', '/owner required', '/reason required']);
  });

  it.each([
    { owner: 'Ada' },
    { status: 'in_progress', expires_at: '2100-01-01T00:00:00Z' },
    { status: 'remediated', reason: 'done', justification: 'code_not_present' },
    { status: 'in_progress', scope: 'finding' },
  ])('rejects fields of another status: %j', async (body) => {
    expect(await patch(body)).toMatchObject({ status: 400, body: { errors: [{ code: 'misplaced' }] } });
  });

  it('counts how often the finding was reopened', async () => {
    await bring('verified');
    expect(await patch({ status: 'open', reason: 'it is back' })).toMatchObject({ body: { reopen_count: 1, assurance: null } });
    await patch({ status: 'in_progress' });
    expect(await patch({ status: 'open' })).toMatchObject({ body: { reopen_count: 1 } });
  });

  it('stores an acceptance with owner and end, and deletes it when the finding is reopened', async () => {
    const expires_at = day(30);
    expect(await patch({ status: 'risk_accepted', reason: 'no way in', owner: 'Grace', expires_at })).toMatchObject({
      body: { acceptance: { owner: 'Grace', expires_at }, status_reason: 'no way in' },
    });
    expect(await patch({ status: 'open' })).toMatchObject({ status: 200, body: { acceptance: null } });
  });

  it('accepts a risk for at most two years', async () => {
    const accept = { status: 'risk_accepted', reason: 'no way in', owner: 'Grace' };
    expect(await patch({ ...accept, expires_at: '9999-01-01T00:00:00Z' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: '/expires_at', code: 'too_late', detail: expect.stringContaining('731 days') }] },
    });
    expect(await patch({ ...accept, expires_at: day(732) })).toMatchObject({ status: 400 });
    expect(await patch({ ...accept, expires_at: day(730) })).toMatchObject({ status: 200 });
  });

  it.each<[Status, object, object]>([
    ['risk_accepted', { owner: 'bob' }, { acceptance: { owner: 'bob' } }],
    ['risk_accepted', { reason: 'second' }, { status_reason: 'second' }],
    ['risk_accepted', { expires_at: inAYear }, { acceptance: { expires_at: inAYear } }],
    ['false_positive', { justification: 'code_not_present' }, { justification: 'code_not_present', status_reason: 'because' }],
    ['remediated', { reason: 'second' }, { status_reason: 'second', assurance: 'declared' }],
    ['withdrawn', { reason: 'second' }, { status_reason: 'second' }],
    ['in_progress', { reason: 'second' }, { status_reason: 'second' }],
  ])('%s with other details, %j, is a new decision', async (status, words, shown) => {
    await bring(status);
    const closed = async () => (await admin.query('select closed_at from findings where id = $1', [finding.id])).rows[0].closed_at;
    const before = await closed();
    const body = { status, ...WITH[status], ...words };
    expect(await patch(body)).toMatchObject({ status: 200, body: { status, version: 2, ...shown } });
    expect(await closed()).toEqual(before);
    expect(await patch(body)).toMatchObject({ status: 200, body: { version: 2 } });
    const history = await api.call('GET', `/api/v1/findings/${finding.id}/history`, { as: analyst });
    expect((history.body as { data: unknown[] }).data).toMatchObject([{ action: 'updated', before: { status }, after: { status } }]);
    const { rows } = await admin.query(`select data from events where subject = $1 and type = 'finding.updated'`, [finding.id]);
    expect(rows).toMatchObject([{ data: { from: status, to: status } }]);
  });

  it('with other details follows the same rules', async () => {
    await bring('risk_accepted');
    expect((await patch({ status: 'risk_accepted', owner: 'bob' })).body.errors.map(({ path }) => path)).toEqual(['/reason', '/expires_at']);
    expect(await patch({ status: 'risk_accepted', ...WITH.risk_accepted, expires_at: day(-1) })).toMatchObject({ status: 400 });
    expect(await patch({ status: 'risk_accepted' })).toMatchObject({ status: 200, body: { version: 1 } });
    await bring('verified');
    expect(await patch({ status: 'verified', reason: 'trust me' })).toMatchObject({ status: 409, body: { code: 'invalid_transition' } });
  });

  it('to verified is forbidden to the person who claimed it, with any credential', async () => {
    await patch({ status: 'remediated', reason: 'upgraded' });
    expect(await patch({ status: 'verified' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await patch({ status: 'verified' }, { as: other })).toMatchObject({ status: 200, body: { assurance: 'independent' } });

    const session = await signIn(api, await addPerson(api, api.ours, 'admin'));
    const own = await createKey(api, { headers: session }, 'analyst');
    await patch({ status: 'open', reason: 'not so' });
    const claim = await api.call('PATCH', `/api/v1/findings/${finding.id}`, { headers: session, body: { status: 'remediated', reason: 'upgraded' } });
    expect(claim.status).toBe(200);
    expect(await patch({ status: 'verified' }, { as: own.key })).toMatchObject({ status: 409 });
  });

  it('is recorded in history, audit trail and events, atomically', async () => {
    await patch({ status: 'remediated', reason: 'upgraded' });
    const history = await api.call('GET', `/api/v1/findings/${finding.id}/history`, { as: analyst });
    expect(history.body).toMatchObject({
      data: [{ action: 'status_changed', before: { status: 'open' }, after: { status: 'remediated', assurance: 'declared' }, reason: 'upgraded' }],
    });
    const written = async () =>
      (
        await admin.query(
          `select (select count(*) from audit_events where object_id = $1)::int as audited, (select count(*) from events where subject = $1)::int as told`,
          [finding.id],
        )
      ).rows[0];
    expect(await written()).toEqual({ audited: 2, told: 2 });
    await patch({ status: 'risk_accepted' });
    await patch({ status: 'in_progress' });
    expect(await written()).toEqual({ audited: 2, told: 2 });
  });

  it("of another organization's finding is 404, and viewers may not", async () => {
    expect(await patch({ status: 'in_progress' }, { as: api.theirs.owner })).toMatchObject({ status: 404 });
    expect(await patch({ status: 'in_progress' }, { as: await api.ours.key('viewer') })).toMatchObject({ status: 403 });
  });
});

describe('a severity override', () => {
  const daysOn = (days: number): string => new Date(Date.parse(finding.first_seen) + days * 86_400_000).toISOString();

  it('needs a reason, changes deadline and risk, and is removed by null', async () => {
    expect(await patch({ severity: 'low' })).toMatchObject({ status: 400, body: { errors: [{ path: '/reason' }] } });
    expect(finding.due_at).toBe(daysOn(30));
    const lowered = await patch({ severity: 'low', reason: 'behind a firewall' });
    expect(lowered.body).toMatchObject({
      severity: 'low',
      due_at: daysOn(180),
      severity_override: { severity: 'low', source_severity: 'high', reason: 'behind a firewall' },
    });
    expect(await patch({ severity: 'info', reason: 'harmless' })).toMatchObject({ body: { due_at: null } });
    expect(await patch({ severity: null })).toMatchObject({ body: { severity: 'high', severity_override: null, due_at: daysOn(30), version: 4 } });
    expect(await patch({ severity: null })).toMatchObject({ body: { version: 4 } });
  });

  it('is in the history even if it equals the severity of the source', async () => {
    await patch({ severity: 'high', reason: 'looked at it' });
    const history = await api.call('GET', `/api/v1/findings/${finding.id}/history`, { as: analyst });
    expect(history.body).toMatchObject({ data: [{ action: 'severity_changed', before: { severity_override: null }, after: { severity_override: 'high' } }] });
  });
});

describe('tags', () => {
  const found = async (tag: string) =>
    ((await api.call('GET', `/api/v1/findings?tag=${encodeURIComponent(tag)}`, { as: analyst })).body as { data: Shown[] }).data.map(({ id }) => id);

  it('are found by the filter immediately, and no longer after removal', async () => {
    const [own, next] = [`Tag-${number}`, `ärger-${number}`];
    await patch({ tags: [own] });
    expect(await found(own.toLowerCase())).toEqual([finding.id]);
    await patch({ tags: [next] });
    expect([await found(own), await found(next)]).toEqual([[], [finding.id]]);
  });
});

describe('concurrent changes', () => {
  it('of the same version: one succeeds, the other returns 412', async () => {
    const headers = { 'if-match': '"1"' };
    const answers = await Promise.all([patch({ status: 'in_progress' }, { headers }), patch({ status: 'remediated', reason: 'done' }, { headers })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(answers.find(({ status }) => status === 200)?.etag).toBe('"2"');
  });

  it('without a version are serialized, and none is lost', async () => {
    const answers = await Promise.all([
      patch({ tags: ['a'] }),
      patch({ severity: 'low', reason: 'harmless' }),
      patch({ status: 'in_progress' }),
      patch({ tags: ['b'] }),
    ]);
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4, 5]);
    const { body } = await api.call('GET', `/api/v1/findings/${finding.id}`, { as: analyst });
    expect(body).toMatchObject({ severity: 'low', status: 'in_progress', version: 5 });
  });
});

describe('the database', () => {
  it.each([
    `status = 'fixed'`,
    `status = 'risk_accepted', closed_at = now()`,
    `status = 'risk_accepted', closed_at = now(), acceptance_expires_at = now(), acceptance_owner = 'x'`,
    `status = 'false_positive', closed_at = now()`,
    `status = 'verified', closed_at = now()`,
    `status = 'verified', assurance = 'scan_only'`,
    `status = 'remediated'`,
    `assurance = 'declared'`,
    `closed_at = now()`,
    `acceptance_expires_at = now()`,
    `severity = 1`,
    `severity_override = 1`,
    `severity = 6, source_severity = 6`,
    `risk_score = 101`,
  ])('rejects %s', async (change) => {
    await expect(admin.query(`update findings set ${change} where id = $1`, [finding.id])).rejects.toMatchObject({ code: '23514' });
  });

  it('rejects changes of the history', async () => {
    await expect(admin.query('update finding_history set reason = null')).rejects.toThrow();
  });
});
