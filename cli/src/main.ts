import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Call, type Command, EXIT, type Listed, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { helpOf, overview } from './help.ts';
import { printable } from './terminal.ts';

type Surroundings = Pick<Call, 'terminal' | 'env' | 'folder'>;

/** Runs a command and returns the exit status: 0 done or passed, 1 failed or refused, 2 mistake in the command, 3 problem with the service. */
export async function main(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal } = surroundings;
  try {
    return await run(args, surroundings);
  } catch (error) {
    const { messageOf, statusOf } = await import('./problems.ts');
    terminal.err(`rrs: ${printable(messageOf(error))}\n`);
    return statusOf(error);
  }
}

async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal, env } = surroundings;
  const [first = 'help', ...named] = args;
  if (['help', '--help', '-h'].includes(first)) {
    terminal.out(named.length === 0 ? overview(commands) : await helpFor(find(named)));
    return EXIT.ok;
  }
  if (['version', '--version', '-V'].includes(first)) {
    const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    terminal.out(`${manifest.version}\n`);
    return EXIT.ok;
  }
  const found = find(args);
  if (found.rest.includes('--help') || found.rest.includes('-h')) {
    terminal.out(await helpFor(found));
    return EXIT.ok;
  }
  const command = await found.listed.load();
  const parsed = command.isRaw ? { values: {}, positionals: [] } : parse(found.name, command, found.rest);
  const { clientOf, urlOf } = await import('./settings.ts');
  return command.run({ ...surroundings, ...parsed, args: found.rest, client: () => clientOf(env), url: () => urlOf(env) });
}

interface Found {
  name: string;
  listed: Listed;
  rest: string[];
}

function find(args: readonly string[]): Found {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const listed = commands[name];
    if (listed !== undefined) return { name, listed, rest: args.slice(words) };
  }
  const group = Object.keys(commands).filter((name) => name.startsWith(`${args[0]} `));
  if (group.length > 0) throw new UsageError(`"${args[0]}" needs one of: ${group.map((name) => name.split(' ')[1]).join(', ')}.`);
  throw new UsageError(`There is no command "${args[0]}". Run "rrs help" for a list.`);
}

async function helpFor({ name, listed }: Found): Promise<string> {
  return helpOf(name, listed.summary, await listed.load());
}

function parse(name: string, { options = {}, arguments: expected }: Command, args: string[]): Pick<Call, 'values' | 'positionals'> {
  const known = Object.fromEntries(Object.entries(options).map(([option, { type, multiple = false }]) => [option, { type, multiple }]));
  try {
    const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true, allowNegative: true });
    if (expected === undefined && positionals.length > 0) throw new UsageError(`Unexpected argument "${positionals[0]}".`);
    return { values, positionals };
  } catch (error) {
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new UsageError(`${sentence.replace(/\.$/, '')}. Run "rrs ${name} --help" for its options.`);
  }
}
