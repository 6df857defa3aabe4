import { attacksOn, slowness, targets } from './attacks.ts';

/** Tries every attack on every string field of every format. `npm run test:attacks`; a format's id limits it to that format. */
const [only] = process.argv.slice(2);
const chosen = targets().filter(({ format }) => only === undefined || format.id === only);
let tried = 0;
let format = '';
for (const [index, target] of chosen.entries()) {
  if (target.format.id !== format) process.stdout.write(`${target.format.id}\n`);
  format = target.format.id;
  for (const attack of attacksOn(target, index)) {
    const found = await slowness(attack);
    tried++;
    if (found === null) continue;
    process.stdout.write(`✘ ${found}\n`);
    process.exitCode = 1;
  }
}
process.stdout.write(`${tried} attacks on ${chosen.length} fields\n`);
