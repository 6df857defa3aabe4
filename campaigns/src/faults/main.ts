import { print } from '../figures.ts';
import { readOptions } from '../options.ts';
import { faults } from './campaign.ts';

const USAGE = `Usage: npm run test:faults -- [options]

Kills the service and its database at random moments of its work, and checks all invariants after the kills.

  --kills <n>    Number of kills. Default: 10, with --long 1000.
  --minutes <n>  No further kills after this time. Default: a quarter of a minute for each kill.
  --seed <n>     Repeats the choices of an earlier run, which printed its seed.
  --long         The long form.
`;

const { numbers, long } = readOptions(USAGE, { numbers: ['kills', 'minutes', 'seed'] });
const kills = numbers.kills ?? (long ? 1_000 : 10);
const seed = numbers.seed ?? Date.now() % 1_000_000;
process.stdout.write(`seed ${seed}\n`);
const onKill = (line: string): void => void process.stdout.write(`${line}\n`);
print('faults', await faults({ kills, seed, minutes: numbers.minutes ?? kills / 4, onKill }));
