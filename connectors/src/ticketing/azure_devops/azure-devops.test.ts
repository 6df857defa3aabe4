import { afterEach, expect, it } from 'vitest';
import type { Ticket } from '../../core/contract.ts';
import { type FakeVendor, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf } from '../../testing/host.ts';
import { azureDevopsFake } from './fake.ts';
import { azureDevops } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor = azureDevopsFake, pageSize = 5) {
  const fake = await serveFake(vendor, { pageSize });
  running.push(fake);
  return { fake, context: contextOf(azureDevops, vendor.settings(fake.origin)) };
}

it('misses no change when a work item changes between query and read', async () => {
  let batches = 0;
  const busy: FakeVendor = {
    ...azureDevopsFake,
    answer(options) {
      const answer = azureDevopsFake.answer(options);
      return async (request) => {
        if (!request.url.pathname.endsWith('/workitemsbatch') || ++batches > 3) return answer(request);
        const [, second] = (JSON.parse(request.body) as { ids: number[] }).ids;
        const url = new URL(request.url.href.replace('workitemsbatch', `workitems/${second}`));
        const body = JSON.stringify([{ op: 'add', path: '/fields/System.Title', value: 'Changed meanwhile' }]);
        await answer({ method: 'PATCH', url, headers: { ...request.headers, 'content-type': 'application/json-patch+json' }, body });
        return answer(request);
      };
    },
  };
  const { context } = await started(busy);
  const seen: Ticket[] = [];
  for await (const page of azureDevops.changedSince(context, new Date(0))) seen.push(...page);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(23);
  expect(seen.filter(({ title }) => title === 'Changed meanwhile')).toHaveLength(3);
  expect(seen.every(({ updatedAt }, index) => index === 0 || updatedAt >= (seen[index - 1]?.updatedAt ?? updatedAt))).toBe(true);
});

it('sets only fields of the type and marks rejection with a tag if needed', async () => {
  const { context } = await started();
  const bugs = { ...context, config: { ...context.config, work_item_type: 'Bug' } };
  const draft = { key: 'k', title: 'T', body: ['<b>'], priority: 'low', dueDate: null, url: 'https://rrs.example/1' } as const;
  const bug = await azureDevops.create(bugs, draft);
  expect(bug.raw).toMatchObject({ fields: { 'Microsoft.VSTS.TCM.ReproSteps': '<p>&lt;b&gt;</p>', 'System.Tags': 'rrs; rrs-k' } });
  const rejected = await azureDevops.update(bugs, bug.id, { state: 'rejected' });
  expect(rejected.raw).toMatchObject({ fields: { 'System.State': 'Closed', 'System.Tags': 'rrs; rrs-k; rejected' } });
  const done = await azureDevops.update(bugs, bug.id, { state: 'done' });
  expect(done.raw).toMatchObject({ fields: { 'System.State': 'Closed', 'System.Tags': 'rrs; rrs-k' } });
});

it('names a work item type that does not exist', async () => {
  const { context } = await started();
  const wrong = { ...context, config: { ...context.config, work_item_type: 'Epos' } };
  await expect(azureDevops.check(wrong)).rejects.toMatchObject({ kind: 'configuration', message: expect.stringContaining('Epos') });
});

it('finds the id in the message for a new work item', () => {
  const settings = azureDevopsFake.settings('http://x');
  const authorization = `Basic ${Buffer.from('any:azure-secret-0123456789').toString('base64')}`;
  const created = { headers: { authorization }, body: Buffer.from('{"eventType":"workitem.created","resource":{"id":7}}') };
  expect(azureDevops.inbound?.(settings, created)).toEqual({ ticket: '7' });
  expect(azureDevops.inbound?.(settings, { ...created, headers: { authorization: 'Bearer azure-secret-0123456789' } })).toBeNull();
});
