import { print } from '../figures.ts';
import { readOptions } from '../options.ts';
import { load } from './campaign.ts';

const USAGE = `Usage: npm run test:load -- [options]

Measures the mixed work of quiet organizations, alone and next to a noisy one.

  --organizations <n>  Quiet ones and the noisy one. Default: 20.
  --seconds <n>        Duration of each of the two phases. Default: 10, with --long 120.
  --requests <n>       Requests of each quiet organization in each phase, at most. Default: as many as the time allows.
  --seed <n>           Choice of the requests. Default: 1.
  --long               The long form.
`;

const { numbers, long } = readOptions(USAGE, { numbers: ['organizations', 'seconds', 'requests', 'seed'] });
const { organizations = 20, seconds = long ? 120 : 10, requests = Number.POSITIVE_INFINITY, seed = 1 } = numbers;
print('load', await load({ organizations, seconds, requests, seed }));
