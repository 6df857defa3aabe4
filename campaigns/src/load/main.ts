import { print } from '../figures.ts';
import { readOptions } from '../options.ts';
import { load } from './campaign.ts';

const USAGE = `Usage: npm run test:load -- [options]

Measures the mixed work of quiet organizations, alone and next to a noisy one.

  --organizations <n>  Quiet ones and the noisy one. Default: 20.
  --seconds <n>        Duration of each of the two phases. Default: 10, with --long 120.
  --seed <n>           Choice of the requests. Default: 1.
  --long               The long form.
`;

const { numbers, long } = readOptions(USAGE, { numbers: ['organizations', 'seconds', 'seed'] });
print('load', await load({ organizations: numbers.organizations ?? 20, seconds: numbers.seconds ?? (long ? 120 : 10), seed: numbers.seed ?? 1 }));
