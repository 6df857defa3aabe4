import { SEVERITIES } from '../document/states.ts';

/** A field of an object in the audit trail, whose form depends on the action. */
export function fieldOf(value: unknown, name: string): unknown {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

export function textOf(value: unknown, name: string): string | null {
  const field = fieldOf(value, name);
  return typeof field === 'string' && field !== '' ? field : null;
}

/** Higher is worse. `unknown` ranks lowest. */
export function severityRank(severity: unknown): number {
  const at = (SEVERITIES as readonly unknown[]).indexOf(severity);
  return at === -1 ? 0 : SEVERITIES.length - 1 - at;
}

const LEVELS: readonly unknown[] = ['low', 'medium', 'high', 'critical'];

/** Rank of a criticality. -1 if it is not known. */
export function criticalityRank(criticality: unknown): number {
  return LEVELS.indexOf(criticality);
}

/** Whether a time or an absence of one, which means never, is later than another. */
export function isLater(after: unknown, before: unknown): boolean {
  const at = (value: unknown): number => (typeof value === 'string' ? Date.parse(value) : Number.POSITIVE_INFINITY);
  return at(after) > at(before);
}
