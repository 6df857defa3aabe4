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
  const { trend } = body as { trend: object[] };
  expect(trend).toHaveLength(30);
  expect(trend.at(-1)).toMatchObject({
    from: new Date().toISOString().slice(0, 10),
    opened: 4,
    closed: 1,
    opened_by_severity: { critical: 2, high: 1, info: 1 },
    closed_by_severity: { critical: 0, high: 1 },
    mean_days_to_remediate: 10,
  });
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
  const { trend } = (await stats('status=verified&days=365&interval=month')) as { trend: { from: string; to: string; opened: number }[] };
  expect([12, 13]).toContain(trend.length);
  expect(trend.at(-1)).toMatchObject({ opened: 1, closed: 1, from: `${new Date().toISOString().slice(0, 7)}-01` });
  for (const [at, { from }] of trend.entries()) if (at > 0) expect(from).toBe(trend[at - 1]?.to);
  const weeks = ((await stats('days=30&interval=week')) as { trend: { from: string; sla: object }[] }).trend;
  expect(new Set(weeks.map(({ from }) => new Date(from).getUTCDay()))).toEqual(new Set([1]));
  expect(await stats('q=nothing-like-this')).toMatchObject({ total: 0, by_source: [{ count: 0 }] });
  await api.db.withTenant({ orgId: api.ours.id }, (tx) => tx.updateTable('findings').set({ listed: false }).where('severity', '=', 1).execute());
  expect(await stats('')).toMatchObject({ total: 3, active: 2, by_severity: { info: { active: 0 } }, by_source: [{ count: 3 }] });
  expect(await stats('source=manual')).toMatchObject({ total: 3, by_source: [{ count: 3 }] });
});

it('counts deadlines in the interval that they are in', async () => {
  const sla = async () => {
    const { trend } = (await api.call('GET', '/api/v1/findings/stats?q=deadline&days=7', { as: api.ours.owner })).body as {
      trend: { sla: { due: number; met: number; missed: number } }[];
    };
    return trend.reduce((sum, each) => ({ due: sum.due + each.sla.due, met: sum.met + each.sla.met, missed: sum.missed + each.sla.missed }), {
      due: 0,
      met: 0,
      missed: 0,
    });
  };
  const create = async (title: string) => {
    const body = { title: `deadline ${title}`, severity: 'high', asset: { type: 'host', name: 'due.example' } };
    return ((await api.call('POST', '/api/v1/findings', { as: api.ours.owner, body })).body as { id: string }).id;
  };
  const [met, missed, late] = [await create('met'), await create('missed'), await create('late')];
  await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    const day = (days: number) => new Date(Date.now() + days * DAY);
    const closed = { status: 'withdrawn' as const, status_reason: 'x' };
    await tx
      .updateTable('findings')
      .set({ due_at: day(-1), closed_at: day(-2), ...closed })
      .where('id', '=', met)
      .execute();
    await tx
      .updateTable('findings')
      .set({ due_at: day(-2), closed_at: day(-1), ...closed })
      .where('id', '=', late)
      .execute();
    await tx
      .updateTable('findings')
      .set({ due_at: day(-3) })
      .where('id', '=', missed)
      .execute();
  });
  expect(await sla()).toEqual({ due: 3, met: 1, missed: 2 });
});
