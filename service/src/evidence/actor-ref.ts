import type { Actor } from '../shared/actor.ts';

/** Who did something, as rows and receipts store it. */
export type ActorRef = Pick<Actor, 'type' | 'id' | 'name' | 'person'>;

export function actorRef({ type, id, name, person }: Actor): ActorRef {
  return { type, id, name, person };
}
