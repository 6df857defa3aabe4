import { expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { usePackages } from '../../testing/evidence/packages.ts';
import { computeState } from './compute.ts';

const FINDINGS = 10_000;
const world = usePackages();

/** Processor time of the thread that serves HTTP, in milliseconds. Unlike the delay of its event loop, it does not depend on what else the machine does. */
async function costOf<T>(work: () => Promise<T>): Promise<{ result: T; cost: number }> {
  const before = process.threadCpuUsage();
  const result = await work();
  const { user, system } = process.threadCpuUsage(before);
  return { result, cost: (user + system) / 1000 };
}

it(`leaves the thread that serves HTTP free while the state of ${FINDINGS} findings is computed, previewed and approved`, async () => {
  const components = Array.from({ length: FINDINGS }, (_, n) => `lib-${n}`);
  expect(await world.scan('large:1', components)).toMatchObject({ status: 'succeeded', counts: { created: FINDINGS } });
  const { id } = await world.workItem('Update everything', { asset: 'large:1' });
  const { db, ours } = world.api();
  const here = await costOf(() => computeState(db, { actor: systemActor(ours.id, 'test'), workItemId: id, seen: null }));

  const shown = await costOf(() => world.get<{ state_digest: string }>(`/work-items/${id}/state`));
  const { digest: state_digest } = here.result;
  expect(shown.result.state_digest).toBe(state_digest);
  const previewed = await costOf(() => world.post('/riskops-evidence/packages', { work_item_id: id, dry_run: true }));
  expect(previewed.result).toMatchObject({ counts: { findings: FINDINGS } });
  const approved = await costOf(() => world.post(`/work-items/${id}/approvals`, { decision: 'approved', state_digest }));
  expect(approved.result).toMatchObject({ decision: 'approved', state_digest });

  const costs = [shown, previewed, approved].map(({ cost }) => cost);
  expect(Math.max(...costs) / here.cost, `${[here.cost, ...costs].map(Math.round).join(', ')} ms`).toBeLessThan(0.25);
}, 200_000);
