import { parseArgs } from 'node:util';
import { RrsConnectionError, RrsError } from '@rrs/client';
import { type Call, type Command, EXIT, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { helpOf, overview } from './help.ts';
import { clientOf } from './settings.ts';
import { printable } from './terminal.ts';

type Surroundings = Pick<Call, 'terminal' | 'env' | 'folder'>;

/** Runs a command and returns the exit status: 0 done or passed, 1 failed, 2 mistake in the command, 3 problem with the service. */
export async function main(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal } = surroundings;
  try {
    return await run(args, surroundings);
  } catch (error) {
    terminal.err(`rrs: ${printable(messageOf(error))}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.service;
  }
}

async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal, env } = surroundings;
  const [first = 'help'] = args;
  if (['help', '--help', '-h'].includes(first)) {
    const [, ...named] = args;
    const command = commands[named.join(' ')];
    terminal.out(command === undefined ? overview(commands) : helpOf(named.join(' '), command));
    return EXIT.ok;
  }
  const { name, command, rest } = find(args);
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.out(helpOf(name, command));
    return EXIT.ok;
  }
  const { values, positionals } = parse(name, command, rest);
  return command.run({ ...surroundings, values, positionals, client: () => clientOf(env) });
}

function find(args: readonly string[]): { name: string; command: Command; rest: string[] } {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const command = commands[name];
    if (command !== undefined) return { name, command, rest: args.slice(words) };
  }
  const group = Object.keys(commands).filter((name) => name.startsWith(`${args[0]} `));
  if (group.length > 0) throw new UsageError(`"${args[0]}" needs one of: ${group.map((name) => name.split(' ')[1]).join(', ')}.`);
  throw new UsageError(`There is no command "${args[0]}". Run "rrs help" for a list.`);
}

function parse(name: string, { options = {}, arguments: expected }: Command, args: string[]): Pick<Call, 'values' | 'positionals'> {
  const known = Object.fromEntries(Object.entries(options).map(([option, { type, multiple = false }]) => [option, { type, multiple }]));
  try {
    const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true });
    if (expected === undefined && positionals.length > 0) throw new UsageError(`Unexpected argument "${positionals[0]}".`);
    return { values, positionals };
  } catch (error) {
    const [sentence = ''] = messageOf(error).split('. ');
    throw new UsageError(`${sentence.replace(/\.$/, '')}. Run "rrs ${name} --help" for its options.`);
  }
}

function messageOf(error: unknown): string {
  if (error instanceof RrsError && error.code === 'unauthenticated') return `${error.message} Run "rrs login", or check RRS_API_KEY.`;
  if (error instanceof RrsError && error.status >= 500 && error.requestId) return `${error.message} Request ${error.requestId}.`;
  if (error instanceof RrsError || error instanceof RrsConnectionError || error instanceof Error) return error.message;
  return String(error);
}
