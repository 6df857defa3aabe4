import type { Operations } from './api.ts';

export type OperationName = keyof Operations;
export type ResultOf<Name extends OperationName> = Operations[Name]['response'];

interface CallOptions {
  signal?: AbortSignal;
  /** Makes a repeated POST safe. Default: a new key for each call. */
  idempotencyKey?: string;
}
export type InputOf<Name extends OperationName> = Omit<Operations[Name], 'response'> & CallOptions;

/** The input can be left out if nothing in it is required. */
export type Arguments<Name extends OperationName> =
  Record<never, never> extends Omit<Operations[Name], 'response'> ? [input?: InputOf<Name>] : [input: InputOf<Name>];

/** The operations that return a page of a list. */
export type ListName = {
  [Name in OperationName]: ResultOf<Name> extends { data: unknown[]; page: { next_cursor: string | null } } ? Name : never;
}[OperationName];
export type ItemOf<Name extends ListName> = ResultOf<Name> extends { data: (infer Item)[] } ? Item : never;

/** The parts of a request in a form that suits every operation. */
export interface AnyInput extends CallOptions {
  path?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
  header?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
}
