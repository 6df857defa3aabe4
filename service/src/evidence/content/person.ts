import type { Person } from '@rrs/evidence-format';
import type { ActorRef } from '../actor-ref.ts';

const KINDS = { api_key: 'api_key', member: 'member', oidc: 'member', system: 'system' } as const;

/** An actor in the form that packages use. The type comes from the database, so it may be unknown here. */
export function toPerson({ type, id, name }: Omit<ActorRef, 'type'> & { type: string }): Person {
  return { kind: KINDS[type as keyof typeof KINDS] ?? 'system', id, name: name || 'unnamed' };
}
