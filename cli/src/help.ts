import type { Command, Commands, Option } from './command.ts';
import { type Terminal, wrap } from './terminal.ts';

const INDENT = '  ';

function listed(commands: Commands): string[] {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 2;
  return Object.entries(commands).map(([name, { summary }]) => `${INDENT}${name.padEnd(width)}${summary}`);
}

/** The commands that begin with the same word. */
export function groupHelp(commands: Commands): string {
  return ['Commands:', ...listed(commands), '', 'Run "rrs <command> --help" for its options and examples.', ''].join('\n');
}

/** All commands with what they do. */
export function overview(commands: Commands): string {
  return [
    'rrs: findings, gates and evidence of the Remediation Risk Service',
    '',
    'Commands:',
    ...listed(commands),
    '',
    'Run "rrs <command> --help" for its options and examples, and "rrs --version" for the version.',
    'RRS_URL and RRS_API_KEY take precedence over what "rrs login" stored.',
    '',
    'Exit status: 0 done or passed, 1 failed or refused, 2 mistake in the command, 3 problem with the service.',
    '',
  ].join('\n');
}

type Described = Pick<Command, 'arguments' | 'options' | 'examples' | 'exitStatus'> & { summary: string };

export function helpOf(name: string, { summary, arguments: given, options = {}, examples, exitStatus }: Described, terminal: Pick<Terminal, 'width'>): string {
  const all = Object.entries(options);
  return [
    `Usage: rrs ${name}${given ? ` ${given}` : ''}${all.length > 0 ? ' [options]' : ''}`,
    '',
    `${summary}.`,
    ...section(
      'Options:',
      all.filter(([, { isFilter }]) => !isFilter),
      terminal,
    ),
    ...section(
      'Filters (separate values of a LIST by commas; "--no-" before a name without a value means the opposite):',
      all.filter(([, { isFilter }]) => isFilter),
      terminal,
    ),
    '',
    'Examples:',
    ...examples.map((example) => `${INDENT}${example}`),
    ...(exitStatus === undefined ? [] : ['', `Exit status: ${exitStatus}`]),
    '',
  ].join('\n');
}

function section(title: string, options: readonly (readonly [string, Option])[], terminal: Pick<Terminal, 'width'>): string[] {
  if (options.length === 0) return [];
  const flags = options.map(([name, { value, help, choices, isFilter }]) => ({
    flag: `--${name}${value ? ` ${value}` : ''}`,
    help: isFilter && choices ? `${help.replace(/\.$/, '')}: ${choices.join(', ')}.` : help,
  }));
  const width = Math.max(...flags.map(({ flag }) => flag.length)) + 2;
  return ['', title, ...flags.map(({ flag, help }) => wrap(`${INDENT}${flag.padEnd(width)}`, help, terminal))];
}
