import { afterEach, expect, it } from 'vitest';
import { type FakeVendor, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf } from '../../testing/host.ts';
import { servicenowFake } from './fake.ts';
import { servicenow } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor = servicenowFake, pageSize = 100) {
  const fake = await serveFake(vendor, { pageSize });
  running.push(fake);
  return { fake, context: contextOf(servicenow, vendor.settings(fake.origin)) };
}

it('ignores foreign records when ServiceNow drops conditions of the query', async () => {
  const careless: FakeVendor = {
    ...servicenowFake,
    answer(options) {
      const answer = servicenowFake.answer(options);
      return (request) => {
        const url = new URL(request.url);
        url.searchParams.delete('sysparm_query');
        return answer({ ...request, url });
      };
    },
  };
  const { context } = await started(careless);
  await expect(servicenow.find(context, 'nobody')).resolves.toBeNull();
  const seen: string[] = [];
  for await (const page of servicenow.changedSince(context, new Date(0))) seen.push(...page.map(({ title }) => title));
  expect(seen).toHaveLength(23);
  const small = await started(careless, 10);
  await expect(async () => {
    for await (const _ of servicenow.changedSince(small.context, new Date(0)));
  }).rejects.toMatchObject({ kind: 'incomplete' });
});

it('treats 404 as an empty list where ServiceNow means that', async () => {
  const older = (message: string): FakeVendor => ({
    ...servicenowFake,
    answer: () => () => ({ status: 404, body: { error: { message, detail: '' }, status: 'failure' } }),
  });
  const empty = await started(older('No Record found'));
  await expect(servicenow.find(empty.context, 'k')).resolves.toBeNull();
  const wrong = await started(older('Requested URI does not represent any resource'));
  await expect(servicenow.find(wrong.context, 'k')).rejects.toMatchObject({ kind: 'configuration' });
});

it('recognizes links to classic pages and workspaces', async () => {
  const { fake, context } = await started();
  const ticket = await servicenow.find(context, 'seed-1');
  const id = ticket?.id ?? '';
  for (const path of [
    `incident.do?sys_id=${id}`,
    `nav_to.do?uri=incident.do?sys_id=${id}`,
    `nav_to.do?uri=%2Fincident.do%3Fsys_id%3D${id}%26sysparm_view%3D`,
    `now/nav/ui/classic/params/target/incident.do%3Fsys_id%3D${id}`,
    `now/sow/record/incident/${id}`,
  ])
    await expect(servicenow.capture?.(context, `${fake.origin}/${path}`), path).resolves.toMatchObject({
      description: 'ServiceNow incident INC0000001: Weakness 1',
    });
  for (const path of [`problem.do?sys_id=${id}`, `incident_list.do?sys_id=${id}`, `xincident.do?sys_id=${id}`, 'incident.do?sys_id=1', '%E0%A4%A'])
    await expect(servicenow.capture?.(context, `${fake.origin}/${path}`), path).resolves.toBeNull();
});

it('explains an invalid priority and escapes code tags', async () => {
  const { fake, context } = await started();
  const ticket = await servicenow.find(context, 'seed-1');
  const wrong = { ...context, config: { ...context.config, priorities: { low: 'P4' } } };
  await expect(servicenow.update(wrong, ticket?.id ?? '', { priority: 'low' })).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining('P4'),
  });
  await servicenow.comment(context, ticket?.id ?? '', 'a [code]<script>[/code]');
  expect(fake.requests.at(-1)?.body).not.toMatch(/\[\/?code\]/);
});
