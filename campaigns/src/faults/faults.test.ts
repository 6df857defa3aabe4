import { inject, test } from 'vitest';
import { assertHeld } from '../figures.ts';
import { faults } from './campaign.ts';

/** With this seed, service and database are killed while all kinds of work go on. `npm run test:faults -- --long` strikes 1,000 times. */
const plan = { kills: 1, seed: 745 };

test('nothing is lost, doubled or half done when the service and its database are killed', async () => {
  const outcome = await faults({ ...plan, minutes: 5, used: inject('usedDataDir'), areTicketsAwaited: false, recoverySeconds: 90 });
  assertHeld('faults', outcome, `npm run test:faults -- --kills ${plan.kills} --seed ${plan.seed}`);
}, 300_000);
