import { fieldOf, type Person, type TrailEvent } from '@rrs/evidence-format';
import type { Fault } from '../fault.ts';
import type { Known } from '../references.ts';

/** What the audit trail calls a person, and which credentials the person used. */
interface Actor {
  names: Set<string>;
  /** Kind and ID. */
  credentials: Set<string>;
}

/** By person. */
export type Actors = Map<string, Actor>;

/** Who signs in at an identity provider acts as a member, and has an ID of the provider. */
const KINDS: ReadonlyMap<string, string> = new Map([['oidc', 'member']]);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Adds the next event. */
export function addActor(actors: Actors, { actor, object, before, after }: TrailEvent): void {
  if (actor.person !== null) {
    const known = actorOf(actors, actor.person);
    const kind = KINDS.get(actor.type) ?? actor.type;
    known.names.add(actor.name);
    known.credentials.add(`${kind} ${uuidOr(actor.id)}`);
  }
  if (object.type !== 'member') return;
  for (const value of [before, after]) {
    const name = fieldOf(value, 'name');
    if (typeof name === 'string') actorOf(actors, object.id).names.add(name);
  }
}

/** An identity provider has IDs of its own, which packages leave out. */
function uuidOr(id: string | null): string | null {
  return id !== null && UUID.test(id) ? id : null;
}

function actorOf(actors: Actors, person: string): Actor {
  const known = actors.get(person) ?? { names: new Set(), credentials: new Set() };
  actors.set(person, known);
  return known;
}

/** Checks that somebody who acted is called as everywhere else, and used a credential of that person. */
export function* actorFaults(by: Person | null, file: string, { people, actors }: { people: Known['people']; actors: Actors }): Generator<Fault> {
  if (by === null || by.person === null) return;
  const { kind, id, name, person } = by;
  const known = actors.get(person);
  // Somebody may act only through others, such as whoever made a credential long ago.
  if (known === undefined) return;
  const fault = (what: string): Fault => ({ code: 'recorded_otherwise', file, detail: `The audit trail records another ${what} of the person ${person}.` });
  if (name !== people.get(person) && !known.names.has(name)) yield { ...fault('name'), expected: [...known.names].slice(0, 5).join(', '), actual: name };
  const isOwn = kind === 'member' && id === uuidOr(person);
  if (!isOwn && !known.credentials.has(`${kind} ${id}`)) yield { ...fault('credential'), actual: `${kind} ${id}` };
}
