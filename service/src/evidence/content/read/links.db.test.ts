import { beforeAll, expect, it } from 'vitest';
import { usePackages } from '../../../testing/evidence/packages.ts';
import { addPersonWithKey, behindProxy } from '../../../testing/people.ts';
import { readUnlinked, readWorkItemsEver } from './links.ts';
import { personNamer } from './persons.ts';

const world = usePackages({ config: behindProxy });
let ada: { id: string; key: string };
beforeAll(async () => {
  ada = await addPersonWithKey(world.api(), world.api().ours, 'analyst');
});

const inTenant = <T>(run: Parameters<ReturnType<typeof world.api>['db']['withTenant']>[1] extends (tx: infer X) => unknown ? (tx: X) => Promise<T> : never) =>
  world.api().db.withTenant({ orgId: world.api().ours.id }, run);
const found = async (asset: string): Promise<string[]> =>
  (await world.get<{ data: { id: string }[] }>(`/findings?asset=${asset}&sort=created_at`)).data.map(({ id }) => id);
const unlink = async (item: string, finding: string, reason: string): Promise<void> => {
  const answer = await world.api().call('DELETE', `/api/v1/work-items/${item}/findings/${finding}?reason=${encodeURIComponent(reason)}`, { as: ada.key });
  expect(answer).toMatchObject({ status: 204 });
};

it('lists findings that were moved to a follow-up, with their state and who removed them', async () => {
  await world.scan('moved', ['a', 'b', 'c', 'd']);
  const [moved = '', dismissed = '', back = '', stays = ''] = await found('moved');
  const item = await world.workItem('Update', { asset: 'moved' });
  await unlink(item.id, moved, 'next sprint');
  const followUp = await world.post<{ id: string }>('/work-items', { title: 'Follow-up', finding_ids: [moved] }, ada.key);
  await unlink(item.id, dismissed, 'not ours');
  await world.api().call('PATCH', `/api/v1/findings/${dismissed}`, { as: ada.key, body: { status: 'false_positive', justification: 'code_not_present' } });
  await unlink(item.id, back, 'by mistake');
  await world.post(`/work-items/${item.id}/findings`, { finding_ids: [back] }, ada.key);

  const { id: orgId } = world.api().ours;
  const unlinked = await inTenant((tx) => readUnlinked(tx, orgId, item.id, personNamer(new Set())));
  const by = { kind: 'api_key', person: ada.id };
  expect(unlinked).toHaveLength(2);
  expect(unlinked).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: moved, state: 'open', severity: 'high', reason: 'next sprint', by: expect.objectContaining(by) }),
      expect.objectContaining({ id: dismissed, state: 'false_positive', reason: 'not ours', by: expect.objectContaining(by) }),
    ]),
  );
  const ever = await inTenant((tx) => readWorkItemsEver(tx, orgId, item.id));
  expect(ever.get(stays)).toEqual([{ id: item.id, linked_at: expect.any(String), unlinked_at: null }]);
  expect(ever.get(back)?.map(({ unlinked_at }) => unlinked_at === null)).toEqual([false, true]);
  expect(ever.has(moved)).toBe(false);
  const elsewhere = await inTenant((tx) => readWorkItemsEver(tx, orgId, followUp.id));
  expect(elsewhere.get(moved)?.map(({ id, unlinked_at }) => [id, unlinked_at === null])).toEqual([
    [item.id, false],
    [followUp.id, true],
  ]);
});

it('does not list a finding that was merged into one that is still there', async () => {
  await world.scan('joined', ['one', 'two']);
  const [older = '', newer = ''] = await found('joined');
  const item = await world.workItem('Update', { asset: 'joined' });
  await world.post(`/findings/${newer}/merge`, { into: older, reason: 'the same library' }, ada.key);
  const read = () => inTenant((tx) => readUnlinked(tx, world.api().ours.id, item.id, personNamer(new Set())));
  expect(await read()).toEqual([]);
  await unlink(item.id, older, 'not ours');
  expect((await read()).map(({ id }) => id).sort()).toEqual([older, newer].sort());
});
