import { str } from './read.ts';

/** `linux/amd64`. Undefined unless the report states the architecture. */
export function platformOf(os: unknown, architecture: unknown): string | undefined {
  const word = (value: unknown): string | undefined => str(value)?.trim().toLowerCase().slice(0, 50);
  const machine = word(architecture);
  return machine ? `${word(os) ?? 'linux'}/${machine}` : undefined;
}
