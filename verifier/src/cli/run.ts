import { main } from './cli.ts';

/** The program `rrs-verify`. */
process.exitCode = await main(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  color: process.stdout.isTTY === true && process.stdout.hasColors(),
});
