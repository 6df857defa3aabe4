import { print } from '../figures.ts';
import { readOptions } from '../options.ts';
import { attack, parts } from './campaign.ts';

const USAGE = `Usage: npm run test:attack -- [options] [part …]

Attacks a running service from outside. Parts: ${parts.join(', ')}. Default: all.

  --every-route <n>  Calls one of so many routes with every role and from the other organization. Default: 1.
  --requests <n>     Requests from the API description. Default: 4000, with --long 100000.
  --skip <n>         Leaves out the first so many of the requests. Default: 0.
  --reports <n>      Mutated reports. Default: 200, with --long 10000.
  --packages <n>     Changed evidence packages. Default: 50, with --long 2000.
  --per-field <n>    Attacks on each field of each report format. Default: 1, with --long all of them.
  --format <format>  Attacks the fields of one report format.
  --minutes <n>      Requests, reports, packages and fields each end after this time, and the figures tell how many there were. Default: 60.
  --seed <n>         Repeats the choices of an earlier run, which printed its seed.
  --long             The long form.
`;

const numberNames = ['every-route', 'requests', 'skip', 'reports', 'packages', 'per-field', 'minutes', 'seed'];
const { numbers, texts, long, positionals } = readOptions(USAGE, { numbers: numberNames, texts: ['format'], positionals: parts });
const chosen = positionals.length === 0 ? parts : parts.filter((part) => positionals.includes(part));
const seed = numbers.seed ?? Date.now() % 1_000_000;
const options = {
  everyRoute: numbers['every-route'] ?? 1,
  requests: numbers.requests ?? (long ? 100_000 : 4_000),
  skip: numbers.skip ?? 0,
  reports: numbers.reports ?? (long ? 10_000 : 200),
  packages: numbers.packages ?? (long ? 2_000 : 50),
  perField: numbers['per-field'] ?? (long ? Number.POSITIVE_INFINITY : 1),
  format: texts.format,
  minutes: numbers.minutes ?? 60,
  seed,
};
process.stdout.write(`seed ${seed}\n`);
print('attack', await attack(chosen, options));
