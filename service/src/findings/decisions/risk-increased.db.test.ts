import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { idsSql } from '../follower.ts';
import { knowledgeChange } from '../handlers.ts';
import { reopenRiskIncreased } from './risk-increased.ts';

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi();
  ours = workItemsOf(api);
});
afterAll(() => api?.close());

const accept = { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() };
const dismiss = { status: 'false_positive', justification: 'code_not_present' };
const withCve = (n: number) => ours.finding({ cves: [`CVE-2024-${n}`], severity: 'medium' });
const learn = async (n: number, kev: boolean) => {
  await api.db.withSystem((tx) =>
    sql`insert into vulnerabilities (id, kev) values (${`CVE-2024-${n}`}, ${kev}) on conflict (id) do update set kev = excluded.kev`.execute(tx),
  );
  const context = { db: api.db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };
  await knowledgeChange(api.follower).run({ org_id: api.ours.id }, context);
};
const historyOf = async (id: string) => (await ours.list<Record<string, unknown>>(`/findings/${id}/history`)).data;

it('an accepted finding that is listed as exploited later is reopened, with its deadline, history, event and work item', async () => {
  const id = await withCve(10_001);
  const item = await ours.item([id]);
  await ours.patchFinding(id, accept);
  expect(await ours.read(item.id)).toMatchObject({ status: 'closed_with_exceptions', followed_by: null });
  await learn(10_001, true);
  const reopened = await ours.readFinding(id);
  expect(reopened).toMatchObject({
    status: 'open',
    reason_code: 'risk_increased',
    status_reason: expect.stringContaining('listed as exploited'),
    acceptance: null,
    decisions: [{ kind: 'acceptance', state: 'ended', ended_reason: 'risk_increased', kev: false }],
  });
  const { due_at = '', first_seen = '' } = reopened as { due_at?: string; first_seen?: string };
  expect((Date.parse(due_at) - Date.parse(first_seen)) / 86_400_000).toBe(14);
  expect((await historyOf(id))[0]).toMatchObject({
    actor: { type: 'system' },
    person: null,
    before: { status: 'risk_accepted', acceptance_owner: 'ada' },
    after: { status: 'open', reason_code: 'risk_increased' },
  });
  const [event] = await api.db.withSystem((tx) => tx.selectFrom('events').select(['type', 'data']).where('subject', '=', id).orderBy('id', 'desc').execute());
  expect(event).toMatchObject({ type: 'finding.status_changed', data: { from: 'risk_accepted', to: 'open', reason_code: 'risk_increased' } });
  expect((await ours.read(item.id)).followed_by).not.toBeNull();
});

it('an acceptance that was made of an exploited vulnerability stays, and so does one whose KEV listing ends', async () => {
  const id = await withCve(10_002);
  await learn(10_002, true);
  await ours.patchFinding(id, accept);
  await learn(10_002, false);
  await learn(10_002, true);
  expect(await ours.readFinding(id)).toMatchObject({ status: 'risk_accepted', decision_outdated: false, decisions: [{ state: 'active', kev: true }] });
});

it('a false positive stays, but its decision is marked as outdated', async () => {
  const id = await withCve(10_003);
  await ours.patchFinding(id, dismiss);
  expect(await ours.readFinding(id)).toMatchObject({ decision_outdated: false });
  await learn(10_003, true);
  expect(await ours.readFinding(id)).toMatchObject({ status: 'false_positive', decision_outdated: true, decisions: [{ state: 'active' }] });
});

it('a higher severity reopens an accepted finding, a lower one does not', async () => {
  const [id, other] = [await ours.finding({ severity: 'medium' }), await ours.finding({ severity: 'medium' })];
  await ours.patchFinding(id, accept);
  await ours.patchFinding(other, accept);
  expect(await ours.patchFinding(id, { severity: 'low', reason: 'harmless' })).toMatchObject({ status: 'risk_accepted' });
  expect(await ours.patchFinding(id, { severity: 'high', reason: 'not harmless' })).toMatchObject({ status: 'open', reason_code: 'risk_increased' });
  const change = { severity: 'critical', reason: 'crown jewels' };
  expect((await ours.call('POST', '/findings/bulk', { ids: [id, other], change })).body).toMatchObject({ counts: { changed: 2 } });
  expect(await ours.readFinding(other)).toMatchObject({ status: 'open', severity: 'critical', reason_code: 'risk_increased' });
  expect(await ours.patchFinding(other, accept)).toMatchObject({ status: 'risk_accepted', decisions: [{ severity: 'critical' }, { severity: 'medium' }] });
});

it('only the selected findings are reopened, once, and not if every source has shown them to be gone', async () => {
  const [risen, gone, unselected] = (await ours.findings(3, { severity: 'medium' })) as [string, string, string];
  for (const id of [risen, gone, unselected]) await ours.patchFinding(id, accept);
  const reopened = await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    await sql`update findings set severity = 5, source_severity = 5 where id = any(${[risen, gone, unselected]}::uuid[])`.execute(tx);
    await sql`update sightings set state = 'absent', absence = 'gone', absent_at = now() where finding_id = ${gone}`.execute(tx);
    const scope = { ids: idsSql([risen, gone]), sla: { critical: 7, high: 7, medium: 7, low: 7, info: 7, unknown: 7, kev: null } };
    return [await reopenRiskIncreased(tx, systemActor(api.ours.id, 'test'), scope), await reopenRiskIncreased(tx, systemActor(api.ours.id, 'test'), scope)];
  });
  expect(reopened).toEqual([[risen], []]);
  for (const id of [gone, unselected]) expect(await ours.readFinding(id)).toMatchObject({ status: 'risk_accepted', decision_outdated: true });
});
