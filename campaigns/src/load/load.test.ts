import { inject, test } from 'vitest';
import { assertHeld } from '../figures.ts';
import { load } from './campaign.ts';

/** So few requests that no ratio of times is judged. `npm run test:load` measures 20 organizations. */
const size = { organizations: 3, requests: 5, seconds: 60, seed: 1 };

test('quiet organizations get right responses next to a noisy one', async () => {
  const outcome = await load({ ...size, thinkMs: 20, noisyFindings: 200, noisyConnections: 8, used: inject('usedDataDir') });
  assertHeld('load', outcome, `npm run test:load -- --organizations ${size.organizations} --requests ${size.requests} --seconds 60 --seed ${size.seed}`);
}, 300_000);
