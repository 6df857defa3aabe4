import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Call, type Command, type Commands, EXIT, type Listed, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { groupHelp, helpOf, overview } from './help.ts';
import { printable, type Terminal } from './terminal.ts';

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
    terminal.out(named.length === 0 ? overview(commands) : await helpFor(named, terminal));
    return EXIT.ok;
  }
  if (['version', '--version', '-V'].includes(first)) {
    const manifest: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
    terminal.out(`${manifest.version}\n`);
    return EXIT.ok;
  }
  if (asksForHelp(args)) {
    terminal.out(await helpFor(args, terminal));
    return EXIT.ok;
  }
  const found = find(args);
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

/** What follows "--" is an argument, and so can be the name of a file. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h');
}

const groupOf = (word: string | undefined): Commands => Object.fromEntries(Object.entries(commands).filter(([name]) => name.startsWith(`${word} `)));

function find(args: readonly string[]): Found {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const listed = commands[name];
    if (listed !== undefined) return { name, listed, rest: args.slice(words) };
  }
  const group = Object.keys(groupOf(args[0]));
  if (group.length > 0) throw new UsageError(`"${args[0]}" needs one of: ${group.map((name) => name.split(' ')[1]).join(', ')}.`);
  throw new UsageError(`There is no command "${args[0]}". Run "rrs help" for a list.`);
}

/** Help for a command, or for those of a group: "rrs findings --help". */
async function helpFor(args: readonly string[], terminal: Pick<Terminal, 'width'>): Promise<string> {
  const [word, second] = args;
  const group = groupOf(word);
  if (Object.keys(group).length > 0 && (second === undefined || second.startsWith('-'))) return groupHelp(group);
  const { name, listed } = find(args);
  return helpOf(name, { summary: listed.summary, ...(await listed.load()) }, terminal);
}

function parse(name: string, { options = {}, arguments: expected }: Command, args: string[]): Pick<Call, 'values' | 'positionals'> {
  const known = Object.fromEntries(Object.entries(options).map(([option, { type, multiple = false }]) => [option, { type, multiple }]));
  try {
    const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true, allowNegative: true });
    if (expected === undefined && positionals.length > 0) throw new UsageError(`Unexpected argument "${positionals[0]}".`);
    return { values, positionals };
  } catch (error) {
    throw new UsageError(`${mistakeIn(error)} Run "rrs ${name} --help" for its options.`);
  }
}

/** Node explains at length, and in other words than we do. */
function mistakeIn(error: unknown): string {
  const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s/);
  const [, option] = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(sentence) ?? [];
  if (option === undefined) return `${sentence.replace(/\.$/, '')}.`;
  return `${option} needs a value. If the value begins with "-", write ${option}=VALUE.`;
}
