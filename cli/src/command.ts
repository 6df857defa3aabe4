import type { Client } from '@rrs/client';
import type { Terminal } from './terminal.ts';

export interface Option {
  type: 'string' | 'boolean';
  /** Can be given more than once. */
  multiple?: boolean;
  /** What stands for the value in the help: `FILE`. */
  value?: string;
  help: string;
  /** The values that shells complete. */
  choices?: readonly string[];
  /** Is shown below the other options. */
  isFilter?: boolean;
}
export type Options = Readonly<Record<string, Option>>;

export interface Call {
  values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  positionals: readonly string[];
  /** The arguments after the name of the command, as they were given. */
  args: readonly string[];
  /** Connects with the settings of the person or of the pipeline. */
  client(): Client;
  /** The address of the service, without a slash at the end. */
  url(): string;
  terminal: Terminal;
  env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the command was started. */
  folder: string;
}

export interface Command {
  /** What follows the name of the command: `FILE…`. */
  arguments?: string;
  options?: Options;
  examples: readonly string[];
  /** What the exit status means, if it differs from that of other commands. */
  exitStatus?: string;
  /** The command reads its arguments itself. */
  isRaw?: boolean;
  /** Returns the exit status. */
  run(call: Call): Promise<number>;
}

/** A command in the overview. Its module is loaded when it is needed, so that the program starts fast. */
export interface Listed {
  summary: string;
  load(): Promise<Command>;
}
export type Commands = Readonly<Record<string, Listed>>;

export const EXIT = { ok: 0, failed: 1, usage: 2, service: 3 } as const;

/** A mistake in what was typed. */
export class UsageError extends Error {}
