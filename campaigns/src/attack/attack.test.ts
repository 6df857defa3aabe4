import { inject, test } from 'vitest';
import { assertHeld } from '../figures.ts';
import { attack } from './campaign.ts';

/** `npm run test:attack -- --long` attacks every route, with 100,000 requests and 10,000 reports. */
const size = { everyRoute: 40, requests: 120, reports: 6, packages: 3, seed: 1 };
const parts = ['access', 'requests', 'reports', 'hostile', 'verify'] as const;

test('no attack ends the service, keeps others waiting, or shows data of another organization', async () => {
  const outcome = await attack(parts, { ...size, share: 1 / 64, perField: 0, minutes: 5, used: inject('usedDataDir') });
  const options = `--every-route ${size.everyRoute} --requests ${size.requests} --reports ${size.reports} --packages ${size.packages} --seed ${size.seed}`;
  assertHeld('attack', outcome, `npm run test:attack -- ${options} ${parts.join(' ')}`);
}, 300_000);
