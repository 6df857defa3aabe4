import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { acceptanceExpiry, slaChange } from './expire-acceptances.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const as = () => ({ as: api.ours.owner });
const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString();
const defaults = {
  sla: { critical: 15, high: 30, medium: 90, low: 180, info: null, unknown: 90, kev: 14 },
  four_eyes: false,
  brake: { share: 0.2, count: 50 },
  track_names: [],
};
const DAY = 86_400_000;

interface Finding {
  id: string;
  first_seen: string;
  due_at: string | null;
}

const patch = (policy: unknown) => api.call('PATCH', '/api/v1/organization', { ...as(), body: { policy } });
const finding = async (severity: string): Promise<Finding> => {
  const body = { title: 'weak', severity, asset: { type: 'host', name: 'sla.example' }, first_seen: '2026-01-01T00:00:00Z' };
  return (await api.call('POST', '/api/v1/findings', { ...as(), body })).body as Finding;
};
const read = async (id: string) => (await api.call('GET', `/api/v1/findings/${id}`, as())).body as Finding & { status: string; version: number };
const context = () => ({ db: api.db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false });

it('the policy is shown with defaults, patched by part, and can be reset', async () => {
  expect(await api.call('GET', '/api/v1/organization', as())).toMatchObject({ status: 200, body: { policy: defaults } });
  expect(await patch({ sla: { critical: 7, high: null }, four_eyes: true })).toMatchObject({
    status: 200,
    body: { policy: { ...defaults, sla: { ...defaults.sla, critical: 7, high: null }, four_eyes: true }, version: 2 },
  });
  expect(await patch({ sla: { critical: 7 } })).toMatchObject({ body: { version: 2 } });
  expect(await patch({ brake: { count: 10 } })).toMatchObject({ body: { policy: { brake: { share: 0.2, count: 10 }, sla: { critical: 7 } } } });
  expect(await patch({ sla: null, four_eyes: null, brake: { count: null } })).toMatchObject({ body: { policy: defaults } });
  for (const wrong of [{ sla: { critical: 0 } }, { sla: { urgent: 1 } }, { brake: { share: 2 } }, { four_eyes: 'yes' }, null])
    expect(await patch(wrong)).toMatchObject({ status: 400 });
  const { body } = await api.call('GET', '/api/v1/audit-events?limit=1&sort=-occurred_at', as());
  expect(body).toMatchObject({ data: [{ action: 'organization.updated', before: { policy: { brake: { count: 10 } } }, after: { policy: defaults } }] });
});

it('a change of the SLA changes the deadlines of active findings only', async () => {
  const [high, info, closed] = [await finding('high'), await finding('info'), await finding('high')];
  await api.call('PATCH', `/api/v1/findings/${closed.id}`, { ...as(), body: { status: 'false_positive', justification: 'inaccurate_finding' } });
  await patch({ sla: { high: 3, info: 365 } });
  await slaChange.run({ org_id: api.ours.id }, context());
  const days = (found: Finding) => (Date.parse(found.due_at ?? '') - Date.parse(found.first_seen)) / DAY;
  const moved = await read(high.id);
  expect([days(moved), days(await read(info.id)), days(await read(closed.id))]).toEqual([3, 365, 30]);
  await slaChange.run({ org_id: api.ours.id }, context());
  expect((await read(high.id)).version).toBe(moved.version);
});

it('a change of the SLA queues a job', async () => {
  await patch({ sla: { low: 100 } });
  const admin = new pg.Client({ connectionString: api.databaseUrl });
  await admin.connect();
  const { rows } = await admin.query(
    "select payload from graphile_worker._private_jobs job join graphile_worker._private_tasks task on task.id = job.task_id where identifier = 'apply_sla'",
  );
  await admin.end();
  expect(rows).toEqual([{ payload: { org_id: api.ours.id } }]);
});

it('expired acceptances end in every organization, with history and event', async () => {
  const [due, later] = [await finding('high'), await finding('high')];
  for (const { id } of [due, later]) {
    await api.call('PATCH', `/api/v1/findings/${id}`, {
      ...as(),
      body: { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: inAMonth },
    });
  }
  await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
    tx
      .updateTable('findings')
      .set({ acceptance_expires_at: new Date(Date.now() - 1) })
      .where('id', '=', due.id)
      .execute(),
  );
  await acceptanceExpiry(api.follower).run({}, context());
  expect(await read(due.id)).toMatchObject({
    status: 'open',
    status_reason: 'The risk acceptance expired.',
    reason_code: 'acceptance_expired',
    acceptance: null,
    decisions: [{ kind: 'acceptance', state: 'ended', ended_reason: 'acceptance_expired' }],
  });
  expect(await read(later.id)).toMatchObject({ status: 'risk_accepted' });
  const { body } = await api.call('GET', `/api/v1/findings/${due.id}/history?limit=1`, as());
  expect(body).toMatchObject({
    data: [{ actor: { type: 'system' }, before: { status: 'risk_accepted', acceptance_owner: 'ada' }, after: { status: 'open' } }],
  });
  const events = await api.db.withSystem((tx) => tx.selectFrom('events').select('data').where('subject', '=', due.id).orderBy('id', 'desc').execute());
  expect(events[0]?.data).toMatchObject({ from: 'risk_accepted', to: 'open' });
  expect(acceptanceExpiry(api.follower).schedule).toBe('* * * * *');
});

it('an acceptance that expires after every source has shown the absence of the finding leaves it verified', async () => {
  const [gone, unsure, seen] = [await finding('high'), await finding('high'), await finding('high')];
  for (const { id } of [gone, unsure, seen]) {
    const accept = { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at: inAMonth };
    expect(await api.call('PATCH', `/api/v1/findings/${id}`, { ...as(), body: accept })).toMatchObject({ status: 200 });
  }
  const ids = [gone.id, unsure.id, seen.id];
  await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    for (const [id, states] of [
      [gone.id, ['absent', 'absent']],
      [unsure.id, ['absent', 'unknown']],
      [seen.id, ['absent', 'present']],
    ] as const) {
      await sql`update sightings set state = ${states[0]}, absence = 'gone', absent_at = now() where finding_id = ${id}`.execute(tx);
      await sql`
        insert into sightings select copied.* from sightings s
        cross join jsonb_populate_record(s, ${JSON.stringify({ source_id: newId(), state: states[1], ...(states[1] === 'absent' ? {} : { absence: null, absent_at: null }) })}::jsonb) copied
        where s.finding_id = ${id}`.execute(tx);
    }
    await sql`update findings set acceptance_expires_at = now() - interval '1 second' where id = any(${ids}::uuid[])`.execute(tx);
  });
  await acceptanceExpiry(api.follower).run({}, context());
  expect(await read(gone.id)).toMatchObject({
    status: 'verified',
    assurance: 'scan_only',
    reason_code: 'acceptance_fixed',
    acceptance: null,
    decisions: [{ state: 'ended', ended_reason: 'acceptance_fixed' }],
  });
  for (const { id } of [unsure, seen]) expect(await read(id)).toMatchObject({ status: 'open', assurance: null, reason_code: 'acceptance_expired' });
  const { body } = await api.call('GET', '/api/v1/audit-events?action=finding.acceptances_expired&limit=1', as());
  expect(body).toMatchObject({ data: [{ after: { reopened: 2, verified: 1 }, person: null }] });
});
