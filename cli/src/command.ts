import type { Client } from '@rrs/client';
import type { Terminal } from './terminal.ts';

export interface Option {
  type: 'string' | 'boolean';
  /** Can be given more than once. */
  multiple?: boolean;
  /** What stands for the value in the help: `FILE`. */
  value?: string;
  help: string;
}

export interface Call {
  values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  positionals: readonly string[];
  /** Connects with the settings of the person or of the pipeline. */
  client(): Client;
  terminal: Terminal;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the command was started. */
  folder: string;
}

export interface Command {
  summary: string;
  /** What follows the name of the command: `FILE…`. */
  arguments?: string;
  options?: Readonly<Record<string, Option>>;
  examples: readonly string[];
  /** Returns the exit status. */
  run(call: Call): Promise<number>;
}

export const EXIT = { ok: 0, failed: 1, usage: 2, service: 3 } as const;

/** A mistake in what was typed. */
export class UsageError extends Error {}

export const JSON_OPTION = { json: { type: 'boolean', help: 'Print JSON for programs.' } } as const satisfies Record<string, Option>;

export function textOf({ values }: Pick<Call, 'values'>, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** The values of an option that can be repeated or separated by commas. */
export function listOf({ values }: Pick<Call, 'values'>, name: string): string[] {
  return [values[name] ?? []]
    .flat()
    .flatMap((value) => String(value).split(','))
    .filter((value) => value !== '');
}

/** The values, if all of them are allowed. */
export function choicesOf<const Choice extends string>(call: Pick<Call, 'values'>, name: string, allowed: readonly Choice[]): Choice[] {
  return listOf(call, name).map((value) => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new UsageError(`--${name} cannot be "${value}". Allowed: ${allowed.join(', ')}.`);
    return found;
  });
}

export function printJson({ terminal }: Pick<Call, 'terminal'>, value: unknown): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}
