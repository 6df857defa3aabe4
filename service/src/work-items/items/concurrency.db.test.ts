import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { takeImportLock } from '../../findings/import-lock.ts';
import { stray, workItemsOf } from '../../testing/findings/work-items.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';

let api: TestApi;
let ours: ReturnType<typeof workItemsOf>;
let other: ReturnType<typeof workItemsOf>;
beforeAll(async () => {
  api = await startApi({ poolSize: 10 });
  ours = workItemsOf(api);
  other = workItemsOf(api, await api.ours.key('analyst'));
});
afterEach(async () => expect(await stray(api)).toEqual([]));
afterAll(() => api?.close());

const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: count }, (_, n) => make(n)));
const all = async (answers: Promise<{ status: number; body: unknown }[]>): Promise<void> => {
  for (const { status, body } of await answers) expect(status, JSON.stringify(body)).toBeLessThan(300);
};

it('concurrent requests link each finding once', async () => {
  const ids = await ours.findings(6);
  const { id } = await ours.item([]);
  const answers = await times(8, (n) => ours.call('POST', `/work-items/${id}/findings`, { finding_ids: n % 2 === 0 ? ids : ids.toReversed() }));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(answers.reduce((sum, { body }) => sum + (body as { linked: number }).linked, 0)).toBe(6);
  expect((await ours.read(id)).findings.total).toBe(6);
});

it('concurrent changes of single findings close the work item once', async () => {
  const ids = await ours.findings(8);
  const { id } = await ours.item(ids);
  await all(times(8, (n) => ours.call('PATCH', `/findings/${ids[n]}`, { status: 'remediated', reason: 'patched' })));
  expect(await ours.read(id)).toMatchObject({ status: 'awaiting_verification' });
  await all(times(8, (n) => other.call('PATCH', `/findings/${ids[n]}`, { status: 'verified' })));
  expect(await ours.read(id)).toMatchObject({ status: 'verified', findings: { verified: 8 } });
});

it('findings that come back concurrently share one follow-up work item', async () => {
  const ids = await ours.findings(8);
  const { id } = await ours.item(ids);
  await ours.call('POST', '/findings/bulk', { ids, change: { status: 'false_positive', justification: 'inaccurate_finding' } });
  expect(await ours.read(id)).toMatchObject({ status: 'closed_with_exceptions' });
  await all(times(8, (n) => ours.call('PATCH', `/findings/${ids[n]}`, { status: 'open' })));
  const { followed_by } = await ours.read(id);
  expect(await ours.read(followed_by ?? '')).toMatchObject({ findings: { total: 8, open: 8 } });
  expect((await ours.list(`/work-items?follows=${id}`)).data).toHaveLength(1);
});

it('concurrent linking and closing leave the work item with the correct status', async () => {
  for (let round = 0; round < 10; round++) {
    const [finding] = (await ours.findings(1)) as [string];
    const { id } = await ours.item([]);
    await all(
      Promise.all([
        ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [finding] }),
        ours.call('PATCH', `/findings/${finding}`, { status: 'false_positive', justification: 'inaccurate_finding' }),
      ]),
    );
    expect(await ours.read(id)).toMatchObject({ status: 'closed_with_exceptions', findings: { total: 1, excepted: 1 } });
  }
});

it('concurrent imports, triage, bulk changes, links and updates do not deadlock and leave correct statuses', async () => {
  const image = (n: number) => `busy-${n}:1`;
  // The scans close many findings on purpose.
  await ours.call('PATCH', '/organization', { policy: { brake: { share: 1 } } });
  const cves = Array.from({ length: 30 }, (_, n) => n + 1);
  await times(3, (n) => ours.scan(image(n), cves));
  const findings = (await times(3, (n) => ours.ofImage(image(n)))).flat();
  expect(findings).toHaveLength(90);
  const items = await times(6, (n) => ours.item(findings.filter((_, at) => at % 6 === n)));
  const id = (n: number) => (items[n % items.length] as { id: string }).id;
  // Refusals are fine. Internal errors, such as deadlocks, are not.
  const answered = async (answer: Promise<{ status: number; body: unknown }>): Promise<void> => {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).toBeLessThan(500);
  };
  for (let round = 0; round < 3; round++) {
    const seen = cves.filter((n) => n % 3 !== round);
    await Promise.all([
      times(3, (n) => ours.scan(image(n), seen)),
      times(12, (n) => answered(ours.call('PATCH', `/findings/${findings[(n * 7 + round) % 90]}`, { status: 'in_progress' }))),
      times(4, (n) =>
        answered(ours.call('POST', '/findings/bulk', { ids: findings.slice(n * 20, n * 20 + 20), change: { status: 'remediated', reason: 'patched' } })),
      ),
      times(6, (n) => answered(ours.call('POST', `/work-items/${id(n)}/findings`, { finding_ids: findings.slice(n * 10, n * 10 + 10).toReversed() }))),
      times(6, (n) => answered(ours.patch(id(n), n % 2 === 0 ? { status: 'in_progress' } : { status: 'awaiting_verification', reason: 'patched' }))),
      times(6, (n) => answered(ours.call('DELETE', `/work-items/${id(n)}/findings/${findings[n * 6 + round]}`))),
    ]);
    expect(await stray(api)).toEqual([]);
  }
});

it('a running import does not block triage, links and updates of work items', async () => {
  const [one, two] = (await ours.findings(2)) as [string, string];
  const { id } = await ours.item([one]);
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const importing = api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
    await takeImportLock(tx, api.ours.id);
    started.resolve();
    await finish.promise;
  });
  await started.promise;
  try {
    await all(
      Promise.all([
        ours.call('PATCH', `/findings/${one}`, { status: 'in_progress' }),
        ours.call('POST', `/work-items/${id}/findings`, { finding_ids: [two] }),
        ours.patch(id, { title: 'meanwhile' }),
        ours.call('POST', '/work-items', { title: 'another', filter: { q: 'weak' } }),
      ]),
    );
  } finally {
    finish.resolve();
  }
  await importing;
  expect(await ours.read(id)).toMatchObject({ title: 'meanwhile', status: 'in_progress', findings: { total: 2, in_progress: 1 } });
});
