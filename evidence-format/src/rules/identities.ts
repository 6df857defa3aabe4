import type { TrailEvent } from '../document/decisions.ts';
import type { Person, PersonFacts } from '../document/people.ts';

/** Everybody who uses a key without a member is one identity, because any of them may be the same human. */
export const OWNERLESS = 'ownerless';

/** Tells who is who: all credentials of one human are one identity. Null for the service and for connections. */
export interface Identities {
  of(by: Person | null): string | null;
  ofActor(actor: TrailEvent['actor']): string | null;
  /** Everybody who could have acted as this identity: itself, who made its credential, who made that one's, and so on. */
  behind(identity: string | null): string[];
  /** The name of a person, or the given name. */
  nameOf(person: string | null, otherwise: string): string;
}

export function identitiesOf(people: readonly PersonFacts[]): Identities {
  const byId = new Map(people.map((person) => [person.id, person]));
  const accounts = accountsOf(people);
  /** A person who added a member or set the password can sign in as that member, unless the member signs in at the organization's identity provider. */
  const makersOf = (id: string): string[] =>
    accounts.of(id).flatMap((account) => {
      const person = byId.get(account);
      if (person === undefined || person.signs_in_with === 'sso' || person.credential_from === null) return [];
      return [isHuman(byId.get(person.credential_from)) ? accounts.first(person.credential_from) : OWNERLESS];
    });
  const identify = (isCredential: boolean, person: string | null): string | null =>
    person === null ? (isCredential ? OWNERLESS : null) : accounts.first(person);
  return {
    of: (by) => by && identify(by.kind === 'member' || by.kind === 'api_key', by.person),
    ofActor: ({ type, person }) => identify(type !== 'system' && type !== 'connection', person),
    behind(identity) {
      const chain = new Set(identity === null ? [] : [identity]);
      // The set grows while it is read.
      for (const one of chain) for (const maker of makersOf(one)) chain.add(maker);
      return [...chain];
    },
    nameOf: (person, otherwise) => (person === null ? undefined : byId.get(person)?.name) ?? otherwise,
  };
}

/** A member who was removed and added again has two accounts, and still one e-mail address. The first account stands for all of them. */
function accountsOf(people: readonly PersonFacts[]) {
  const nameOf = ({ id, email }: PersonFacts): string => email?.toLowerCase() ?? id;
  const byName = new Map<string, string[]>(people.map((person) => [nameOf(person), []]));
  for (const person of people.toSorted((a, b) => (a.id < b.id ? -1 : 1))) byName.get(nameOf(person))?.push(person.id);
  const groups = new Map(people.map((person) => [person.id, byName.get(nameOf(person))]));
  const of = (id: string): string[] => groups.get(id) ?? [id];
  return { of, first: (id: string): string => of(id)[0] ?? id };
}

/** A credential without a member has no e-mail address, and nobody knows who uses it. */
function isHuman(person: PersonFacts | undefined): boolean {
  return person !== undefined && person.email !== null;
}
