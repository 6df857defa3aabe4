import type { RrsError } from '@rrs/client';
import type { Field } from './form/schema.ts';
import { assign } from './form/values.ts';

/** What the API refused, at the fields that it names: those of the provider, and the name of the connection. */
export function problemsOf(fields: readonly Field[], error: RrsError | null): { at: Record<string, string>; rest: { path: string; detail: string }[] } {
  const { at, rest } = assign(fields, error?.errors ?? []);
  const named = rest.find(({ path }) => path === '/name');
  const taken = error?.status === 409 ? error.message : undefined;
  const nameError = named?.detail ?? taken;
  return { at: { ...at, ...(nameError ? { '/name': nameError } : {}) }, rest: rest.filter((problem) => problem !== named) };
}
