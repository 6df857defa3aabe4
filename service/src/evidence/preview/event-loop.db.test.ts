import { expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { usePackages } from '../../testing/evidence/packages.ts';
import { longestTurn } from '../../testing/longest-turn.ts';
import { computeState } from './compute.ts';

const FINDINGS = 2_500;
const world = usePackages({ inChildren: true });

it(`leaves the thread that serves HTTP free while the state of ${FINDINGS} findings is computed, previewed, approved and sealed`, async () => {
  const components = Array.from({ length: FINDINGS }, (_, n) => `lib-${n}`);
  expect(await world.scan('large:1', components)).toMatchObject({ status: 'succeeded', counts: { created: FINDINGS } });
  const { id } = await world.workItem('Update everything', { asset: 'large:1' });
  const { db, ours } = world.api();
  const here = await longestTurn(() => computeState(db, { actor: systemActor(ours.id, 'test'), workItemId: id, seen: null }));

  const shown = await longestTurn(() => world.get<{ state_digest: string }>(`/work-items/${id}/state`));
  const { digest: state_digest } = here.result;
  expect(shown.result.state_digest).toBe(state_digest);
  const previewed = await longestTurn(() => world.post('/riskops-evidence/packages', { work_item_id: id, dry_run: true }));
  expect(previewed.result).toMatchObject({ counts: { findings: FINDINGS } });
  const approved = await longestTurn(() => world.post(`/work-items/${id}/approvals`, { decision: 'approved', state_digest }));
  expect(approved.result).toMatchObject({ decision: 'approved', state_digest });
  const sealed = await longestTurn(() => world.seal(id));
  expect(sealed.result).toMatchObject({ status: 'ready', counts: { findings: FINDINGS } });

  const turns = [shown, previewed, approved, sealed].map(({ ms }) => ms);
  // How fast a processor is differs. Without a child process, each of them would take as long as computing the state here.
  expect(Math.max(...turns), `${[here.ms, ...turns].map(Math.round).join(', ')} ms`).toBeLessThan(here.ms / 2);
}, 200_000);
