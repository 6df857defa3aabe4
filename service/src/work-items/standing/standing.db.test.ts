import { expect, it } from 'vitest';
import { usePackages } from '../../testing/evidence/packages.ts';

const ALONE = 20;
const TOGETHER = 1_000;
const world = usePackages();

it(`scans verify work items of one finding and one of ${TOGETHER}`, async () => {
  const components = Array.from({ length: TOGETHER }, (_, n) => `lib-${n}`);
  await world.scan('many:1', components);
  const all = await world.workItem('All', { asset: 'many:1' });
  const alone = await Promise.all(components.slice(-ALONE).map((component) => world.workItem(component, { asset: 'many:1', component })));
  const isVerified = async ({ id }: { id: string }) => (await world.get<{ status: string }>(`/work-items/${id}`)).status === 'verified';

  expect(await world.scan('many:1', components.slice(0, -1))).toMatchObject({ status: 'succeeded', counts: { closed: 1 } });
  expect(await Promise.all([all, ...alone].map(isVerified))).toEqual([false, ...alone.map((_, n) => n === ALONE - 1)]);

  const { id, status } = await world.scan('many:1', []);
  // So many closures have to be confirmed.
  expect(status).toBe('needs_confirmation');
  await world.post(`/imports/${id}/confirm`, {});
  expect(await world.get(`/work-items/${all.id}`)).toMatchObject({ status: 'verified', findings: { verified: TOGETHER } });
  expect(await Promise.all(alone.map(isVerified))).toEqual(alone.map(() => true));
}, 120_000);
