import { afterEach, expect, it } from 'vitest';
import type { Json } from '../../core/contract.ts';
import { type FakeVendor, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { wizFake } from './fake.ts';
import { wiz } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor = wizFake) {
  const fake = await serveFake(vendor, { pageSize: 10 });
  running.push(fake);
  return { fake, context: contextOf(wiz, wizFake.settings(fake.origin)) };
}

/** Responds with an error and status 200 this many times. */
function failing(error: Json, data: Json = null, times = Number.POSITIVE_INFINITY): FakeVendor {
  let left = times;
  return {
    ...wizFake,
    answer(options) {
      const answer = wizFake.answer(options);
      return (request) => (request.url.pathname === '/graphql' && left-- > 0 ? { body: { errors: [error], data } } : answer(request));
    },
  };
}

it.each([
  [{ message: 'access denied', extensions: { code: 'UNAUTHENTICATED' } }, 'credentials', 0],
  [{ message: 'Unauthorized: missing scope read:vulnerabilities' }, 'credentials', 0],
  [{ message: 'slow down', extensions: { code: 'RATE_LIMIT_EXCEEDED' } }, 'rate_limited', 4],
  [{ message: 'oops', extensions: { code: 'INTERNAL_SERVER_ERROR' } }, 'unavailable', 4],
  [{ message: 'Cannot query field "score"', extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }, 'invalid_answer', 0],
])('an error in a response with status 200 ends the run: %j', async (error, kind, waits) => {
  const { context } = await started(failing(error));
  await expect(collect(wiz, context)).rejects.toMatchObject({ kind, message: expect.stringContaining(error.message) });
  expect(context.waits).toHaveLength(waits);
});

it('keeps a CVSS score that has no vector', async () => {
  const { context } = await started();
  const [first] = (await collect(wiz, context)).items;
  expect(first && 'observation' in first ? first.observation.cvss : null).toEqual([{ score: expect.any(Number) }]);
});

it('does not use partial data that comes with an error', async () => {
  const data = { vulnerabilityFindings: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } };
  const { context } = await started(failing({ message: 'one shard is missing' }, data));
  await expect(collect(wiz, context)).rejects.toMatchObject({ kind: 'invalid_answer' });
});

it('survives a temporary error', async () => {
  const { context } = await started(failing({ message: 'slow down', extensions: { code: 'RATE_LIMIT_EXCEEDED' } }, null, 2));
  expect(await collect(wiz, context)).toMatchObject({ coverage: 'complete' });
});

it('requests changes with an overlap, including fixed and ignored findings', async () => {
  const { fake, context } = await started();
  const run = await collect(wiz, { ...context, cursor: '2026-11-14T08:00:00.000Z' });
  expect(run).toMatchObject({ coverage: 'changes', cursor: '2026-11-15T08:00:00.000Z' });
  const { variables } = JSON.parse(fake.requests.at(-1)?.body ?? '{}');
  expect(variables.filterBy).toEqual({ status: ['OPEN', 'IN_PROGRESS', 'RESOLVED', 'REJECTED'], updatedAt: { after: '2026-11-14T07:00:00.000Z' } });
  const states = run.items.map((item) => ('observation' in item ? [item.observation.rule, item.observation.present, item.observation.suppressed] : item));
  expect(states).toEqual([
    ['CVE-2025-1018', false, false],
    ['CVE-2025-1019', true, false],
    ['CVE-2025-1020', true, false],
    ['CVE-2025-1021', true, false],
    ['CVE-2025-1022', true, true],
    ['CVE-2025-1023', true, false],
  ]);
});

it('distinguishes machines with the same name and identifies them like other sources', async () => {
  const { context } = await started();
  const { items } = await collect(wiz, context);
  const assets = items.slice(0, 4).map((item) => ('observation' in item ? item.observation.asset : null));
  expect(assets).toMatchObject([
    { type: 'host', name: 'i-0a0f0000000000001', identifiers: expect.arrayContaining([{ kind: 'ip', value: '10.0.0.1' }]) },
    { type: 'host', name: 'web (/subscriptions/7b2f/resourcegroups/shop/providers/microsoft.compute/virtualmachines/web)' },
    {
      type: 'container_image',
      name: `shop/web:1.4@sha256:${'7'.repeat(64)}`,
      identifiers: expect.arrayContaining([{ kind: 'digest', value: `sha256:${'7'.repeat(64)}` }]),
    },
    { type: 'cloud_resource', name: 'arn:aws:lambda:eu-west-1:111122223333:function:orders' },
  ]);
});
