import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../../testing/http/api.ts';
import { addPersonWithKey, behindProxy } from '../../../testing/people.ts';
import { personNamer } from './persons.ts';
import { readPolicies } from './policies.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ config: behindProxy });
});
afterAll(() => api?.close());

const policies = (from: Date) => api.db.withTenant({ orgId: api.ours.id }, (tx) => readPolicies(tx, api.ours.id, from, personNamer(new Set())));

it('shows a policy that was loosened twice with everybody who loosened it', async () => {
  const [ada, grace] = [await addPersonWithKey(api, api.ours, 'owner'), await addPersonWithKey(api, api.ours, 'owner')];
  const patch = (as: string, policy: object) => api.call('PATCH', '/api/v1/organization', { as, body: { policy } });
  const started = new Date();
  await patch(ada.key, { sla: { critical: 30 }, four_eyes: true });
  const between = new Date();
  await patch(grace.key, { sla: { critical: 3650, high: null }, four_eyes: false });
  await patch(grace.key, { track_days: 20 });
  await patch(ada.key, { brake: { count: 5_000 } });

  const all = await policies(started);
  expect(all.map(({ changed_by, sla, four_eyes, brake }) => [changed_by?.person ?? null, sla.critical, sla.high, four_eyes, brake.findings])).toEqual([
    [null, 15, 30, false, 50],
    [ada.id, 30, 30, true, 50],
    [grace.id, 3650, null, false, 50],
    [grace.id, 3650, null, false, 50],
    [ada.id, 3650, null, false, 5_000],
  ]);
  expect(all[0]?.effective_from && new Date(all[0].effective_from) < started).toBe(true);
  expect(all[2]?.changed_by).toMatchObject({ kind: 'api_key', person: grace.id });
  expect((await policies(between)).map(({ changed_by }) => changed_by?.person)).toEqual([ada.id, grace.id, grace.id, ada.id]);
});

it('has the current policy if it never changed', async () => {
  const orgId = api.theirs.id;
  const unchanged = await api.db.withTenant({ orgId }, (tx) => readPolicies(tx, orgId, new Date(0), personNamer(new Set())));
  expect(unchanged).toMatchObject([{ changed_by: null, sla: { critical: 15 }, four_eyes: false, brake: { findings: 50, share: 0.2 }, source_ranking: [] }]);
});
