import type { Command } from './command.ts';

const INDENT = '  ';

/** All commands with what they do. */
export function overview(commands: Readonly<Record<string, Command>>): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 2;
  return [
    'rrs: findings, gates and evidence of the Remediation Risk Service',
    '',
    'Commands:',
    ...Object.entries(commands).map(([name, { summary }]) => `${INDENT}${name.padEnd(width)}${summary}`),
    '',
    'Run "rrs <command> --help" for its options and examples.',
    'RRS_URL and RRS_API_KEY come before what "rrs login" stored.',
    '',
    'Exit status: 0 done or passed, 1 failed, 2 mistake in the command, 3 problem with the service.',
    '',
  ].join('\n');
}

export function helpOf(name: string, { summary, arguments: given, options = {}, examples }: Command): string {
  const flags = Object.entries(options).map(([option, { value, help }]) => [`--${option}${value ? ` ${value}` : ''}`, help] as const);
  const width = Math.max(0, ...flags.map(([flag]) => flag.length)) + 2;
  return [
    `Usage: rrs ${name}${given ? ` ${given}` : ''}${flags.length > 0 ? ' [options]' : ''}`,
    '',
    `${summary}.`,
    ...(flags.length > 0 ? ['', 'Options:', ...flags.map(([flag, help]) => `${INDENT}${flag.padEnd(width)}${help}`)] : []),
    '',
    'Examples:',
    ...examples.map((example) => `${INDENT}${example}`),
    '',
  ].join('\n');
}
