import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const DAY = 86_400_000;

it('counts the findings of the organization and no others', async () => {
  const as = { as: api.ours.owner };
  const empty = await api.call('GET', '/api/v1/findings/stats', as);
  expect(empty).toMatchObject({ status: 200, body: { total: 0, active: 0, by_source: [], mean_days_to_remediate: { all: null, high: null } } });
  const create = async (severity: string, daysAgo: number, key = as) => {
    const first_seen = new Date(Date.now() - daysAgo * DAY - 60_000).toISOString();
    const answer = await api.call('POST', '/api/v1/findings', {
      ...key,
      body: { title: 'weak', severity, asset: { type: 'host', name: 'a.example' }, first_seen },
    });
    return (answer.body as { id: string }).id;
  };
  await create('critical', 0);
  await create('critical', 20);
  await create('info', 400);
  await create('high', 1, { as: api.theirs.owner });
  const done = await create('high', 10);
  await api.call('PATCH', `/api/v1/findings/${done}`, { ...as, body: { status: 'remediated', reason: 'patched' } });
  await api.call('PATCH', `/api/v1/findings/${done}`, { as: await api.ours.key('analyst'), body: { status: 'verified' } });
  const { body } = await api.call('GET', '/api/v1/findings/stats', as);
  expect(body).toMatchObject({
    total: 4,
    active: 3,
    overdue: 1,
    by_status: { open: 3, verified: 1, withdrawn: 0 },
    by_severity: { critical: { active: 2, overdue: 1 }, high: { active: 0, overdue: 0 }, info: { active: 1, overdue: 0 } },
    by_age: [{ count: 1 }, { from_days: 7, to_days: 30, count: 1 }, { count: 0 }, { count: 0 }, { from_days: 180, to_days: null, count: 1 }],
    by_source: [{ kind: 'manual', provider: 'manual', count: 4 }],
    mean_days_to_remediate: { all: 10, high: 10, critical: null },
  });
  const { per_day } = body as { per_day: { date: string; opened: number; closed: number }[] };
  expect(per_day).toHaveLength(30);
  expect(per_day.at(-1)).toEqual({ date: new Date().toISOString().slice(0, 10), opened: 4, closed: 1 });
});

it('counts only the findings that the filters match, and only listed ones', async () => {
  const stats = async (query: string) => (await api.call('GET', `/api/v1/findings/stats?${query}`, { as: api.ours.owner })).body;
  expect(await stats('severity=critical')).toMatchObject({
    total: 2,
    active: 2,
    overdue: 1,
    by_status: { open: 2, verified: 0 },
    by_source: [{ provider: 'manual', count: 2 }],
    mean_days_to_remediate: { all: null },
  });
  expect(await stats('status=verified')).toMatchObject({ total: 1, active: 0, mean_days_to_remediate: { all: 10, high: 10 } });
  const { per_day } = (await stats('status=verified')) as { per_day: object[] };
  expect(per_day.at(-1)).toMatchObject({ opened: 1, closed: 1 });
  expect(await stats('q=nothing-like-this')).toMatchObject({ total: 0, by_source: [{ count: 0 }] });
  await api.db.withTenant({ orgId: api.ours.id }, (tx) => tx.updateTable('findings').set({ listed: false }).where('severity', '=', 1).execute());
  expect(await stats('')).toMatchObject({ total: 3, active: 2, by_severity: { info: { active: 0 } }, by_source: [{ count: 3 }] });
  expect(await stats('source=manual')).toMatchObject({ total: 3, by_source: [{ count: 3 }] });
});
