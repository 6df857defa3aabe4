import type { Person } from '@rrs/evidence-format';

const KINDS = { api_key: 'api_key', member: 'member', oidc: 'member', system: 'system' } as const;

/** Somebody as packages name them. */
export function toPerson({ type, id, name }: { type: string; id: string | null; name: string }): Person {
  return { kind: KINDS[type as keyof typeof KINDS] ?? 'system', id, name: name || 'unnamed' };
}
