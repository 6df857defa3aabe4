import { fieldOf, type Person, type TrailEvent } from '@rrs/evidence-format';
import { type Fault, TRAIL } from '../fault.ts';
import { hidden } from '../names.ts';
import type { Known } from '../references.ts';

/** What the audit trail calls a person, and which credentials the person used. */
interface Actor {
  names: Set<string>;
  /** Kind and ID. */
  credentials: Set<string>;
}

export interface Actors {
  /** By person. */
  persons: Map<string, Actor>;
  /** By kind and ID of a credential: the names that events about it give it. */
  named: Map<string, Set<string>>;
  /** By kind and ID of a credential: the names with which it acts, and the first event of each. */
  used: Map<string, Map<string, number>>;
}

export function emptyActors(): Actors {
  return { persons: new Map(), named: new Map(), used: new Map() };
}

/** What has a name of its own. A pipeline or an identity provider can state another name with every token. */
const NAMED: ReadonlySet<string> = new Set(['member', 'api_key']);

/** Who signs in at an identity provider acts as a member, and has an ID of the provider. */
const KINDS: ReadonlyMap<string, string> = new Map([['oidc', 'member']]);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Adds the next event. */
export function addActor({ persons, named, used }: Actors, { actor, object, before, after }: TrailEvent, seq: number): void {
  if (NAMED.has(actor.type)) {
    const names = entryOf(used, `${actor.type} ${actor.id}`, () => new Map<string, number>());
    if (!names.has(actor.name)) names.set(actor.name, seq);
  }
  if (actor.person !== null) {
    const known = entryOf(persons, actor.person, unknownActor);
    const kind = KINDS.get(actor.type) ?? actor.type;
    // A key has a name of its own.
    if (actor.type !== 'api_key') known.names.add(actor.name);
    known.credentials.add(`${kind} ${uuidOr(actor.id)}`);
  }
  if (!NAMED.has(object.type)) return;
  for (const value of [before, after]) {
    const name = fieldOf(value, 'name');
    if (typeof name !== 'string') continue;
    entryOf(named, `${object.type} ${object.id}`, () => new Set<string>()).add(name);
    if (object.type === 'member') entryOf(persons, object.id, unknownActor).names.add(name);
  }
}

/** An identity provider has IDs of its own, which packages leave out. */
function uuidOr(id: string | null): string | null {
  return id !== null && UUID.test(id) ? id : null;
}

function unknownActor(): Actor {
  return { names: new Set(), credentials: new Set() };
}

function entryOf<T>(entries: Map<string, T>, key: string, make: () => T): T {
  const known = entries.get(key) ?? make();
  entries.set(key, known);
  return known;
}

/** Checks that members and keys act with a name that they had. Events keep the name of their time, and the trail shows every change of it. */
export function* actingNameFaults({ named, used }: Actors, people: Known['people']): Generator<Fault> {
  for (const [credential, names] of used) {
    for (const name of names.keys()) yield* hidden(TRAIL, `the ${credential.replace('_', ' ')}`, name);
    const current = people.get(credential.replace(/^member /, ''));
    const known = new Set([...(named.get(credential) ?? []), ...(current === undefined ? [] : [current])]);
    if (known.size === 0) continue;
    for (const [name, seq] of names)
      if (!known.has(name))
        yield {
          code: 'recorded_otherwise',
          file: TRAIL,
          detail: `Event ${seq} has a name of the ${credential.replace('_', ' ')} that the package gives it nowhere else.`,
          expected: [...known].slice(0, 5).join(', '),
          actual: name,
        };
  }
}

/** Checks that somebody who acted is called as everywhere else, and used a credential of that person. */
export function* actorFaults(by: Person | null, file: string, { people, actors }: { people: Known['people']; actors: Actors }): Generator<Fault> {
  if (by === null || by.person === null) return;
  const { kind, id, name, person } = by;
  const known = actors.persons.get(person);
  // Somebody may act only through others, such as whoever made a credential long ago.
  if (known === undefined) return;
  const fault = (what: string): Fault => ({ code: 'recorded_otherwise', file, detail: `The audit trail records another ${what} of the person ${person}.` });
  if (name !== people.get(person) && !known.names.has(name)) yield { ...fault('name'), expected: [...known.names].slice(0, 5).join(', '), actual: name };
  const isOwn = kind === 'member' && id === uuidOr(person);
  if (!isOwn && !known.credentials.has(`${kind} ${id}`)) yield { ...fault('credential'), actual: `${kind} ${id}` };
}
