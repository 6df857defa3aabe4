import type { TrailEvent } from '@rrs/evidence-format';
import { expect, it } from 'vitest';
import { usePackages } from '../../../testing/evidence/packages.ts';
import { addPersonWithKey, behindProxy } from '../../../testing/people.ts';
import { readSnapshot } from '../snapshot.ts';

const world = usePackages({ config: behindProxy });

it('has everything that people did to the findings, their assets, scans and policy, and to the credentials of those who did it', async () => {
  const { ours } = world.api();
  const [ada, grace, stranger] = [
    await addPersonWithKey(world.api(), ours, 'admin'),
    await addPersonWithKey(world.api(), ours, 'owner'),
    await addPersonWithKey(world.api(), ours, 'analyst'),
  ];
  const call = async (method: string, path: string, as: string, { body, id }: { body?: object; id?: string } = {}) => {
    const answer = await world.api().call(method, `/api/v1${path}`, { as, ...(body ? { body } : {}), headers: id ? { 'x-request-id': id } : {} });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  };
  const components = Array.from({ length: 80 }, (_, n) => `lib-${n}`);
  await world.scan('trail', components, { as: ada.key });
  await world.scan('elsewhere', ['x'], { as: stranger.key });
  const item = await world.workItem('Update', { asset: 'trail' }, ada.key);
  const { data } = await world.get<{ data: { id: string }[] }>('/findings?asset=trail&limit=200');
  const [removed = '', lowered = '', other = ''] = data.map(({ id }) => id);
  await call('DELETE', `/work-items/${item.id}/findings/${removed}?reason=later`, ada.key);
  await call('PATCH', `/findings/${removed}`, ada.key, { body: { status: 'false_positive', justification: 'code_not_present' } });
  await call('POST', '/findings/bulk', ada.key, {
    body: { ids: [lowered, other], change: { severity: 'low', reason: 'behind a firewall' } },
    id: 'lower-both',
  });
  const held = await world.scan('trail', [], { as: ada.key });
  expect(held.status).toBe('needs_confirmation');
  await call('POST', `/imports/${held.id}/confirm`, ada.key, { body: {} });
  await call('PATCH', '/organization', grace.key, { body: { policy: { sla: { high: 3650 } } } });
  const assets = await world.get<{ data: { id: string }[] }>('/assets?name=trail');
  await call('PATCH', `/assets/${assets.data[0]?.id}`, ada.key, { body: { criticality: 'low' } });
  await call('PATCH', `/members/${ada.id}`, grace.key, { body: { password: 'what Ada does not know at all' } });

  const row = { org_id: ours.id, id: item.id, work_item_id: item.id, sequence: 1 };
  const snapshot = await world.api().db.withTenant({ orgId: ours.id }, (tx) => readSnapshot(tx, row as Parameters<typeof readSnapshot>[1]));
  const events = Buffer.concat(snapshot.trail.pieces)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TrailEvent);
  const of = (action: string, id: string) => events.filter((event) => event.action === action && event.object.id === id);

  expect(of('finding.status_changed', removed)).toMatchObject([
    { actor: { person: ada.id }, after: { status: 'false_positive' }, request_id: expect.any(String) },
  ]);
  expect(of('finding.severity_changed', lowered)).toMatchObject([
    { request_id: 'lower-both', reason: 'behind a firewall', after: { severity_override: 'low' } },
  ]);
  expect(of('finding.severity_changed', other)).toMatchObject([{ request_id: 'lower-both' }]);
  expect(of('work_item.finding_unlinked', item.id)).toHaveLength(1);
  expect(of('import.confirmed', held.id)).toMatchObject([{ actor: { person: ada.id } }]);
  expect(events.filter(({ action }) => action === 'import.created')).toHaveLength(2);
  expect(of('organization.updated', ours.id)).toMatchObject([{ actor: { person: grace.id }, after: { policy: { sla: { high: 3650 } } } }]);
  expect(of('asset.updated', assets.data[0]?.id ?? '')).toMatchObject([{ before: { criticality: 'medium' }, after: { criticality: 'low' } }]);
  expect(of('member.updated', ada.id)).toMatchObject([{ actor: { person: grace.id }, after: { password: 'changed' } }]);
  // The members were added on the command line, so nobody is known to have done it.
  expect(of('member.added', ada.id)).toMatchObject([{ actor: { type: 'system', person: null } }]);
  expect(events.some(({ object }) => object.id === stranger.id)).toBe(false);
  expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort());

  expect(snapshot.people.filter(({ id }) => id === ada.id)).toMatchObject([{ role: 'admin', signs_in_with: 'password', credential_from: grace.id }]);
  expect(snapshot.createdBy).toMatchObject({ kind: 'api_key', person: ada.id });
  expect(snapshot.policies.map(({ sla, changed_by }) => [sla.high, changed_by?.person ?? null])).toEqual([
    [30, null],
    [3650, grace.id],
  ]);
  expect(snapshot.unlinked).toMatchObject([{ id: removed, state: 'false_positive', by: { person: ada.id } }]);
  expect(snapshot.scans).toHaveLength(2);
  expect(snapshot.assets).toMatchObject([{ name: 'trail', criticality: 'low' }]);
});
