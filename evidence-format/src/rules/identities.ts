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
  /** A person who added a member or set the password can sign in as that member, unless the member signs in at the organization's identity provider. */
  const makerOf = (id: string): string | null => {
    const person = byId.get(id);
    if (person === undefined || person.signs_in_with === 'sso' || person.credential_from === null) return null;
    return isHuman(byId.get(person.credential_from)) ? person.credential_from : OWNERLESS;
  };
  const identify = (isCredential: boolean, person: string | null): string | null => person ?? (isCredential ? OWNERLESS : null);
  return {
    of: (by) => by && identify(by.kind === 'member' || by.kind === 'api_key', by.person),
    ofActor: ({ type, person }) => identify(type !== 'system' && type !== 'connection', person),
    behind(identity) {
      const chain = new Set<string>();
      for (let at = identity; at !== null && !chain.has(at); at = makerOf(at)) chain.add(at);
      return [...chain];
    },
    nameOf: (person, otherwise) => (person === null ? undefined : byId.get(person)?.name) ?? otherwise,
  };
}

/** A credential without a member has no e-mail address, and nobody knows who uses it. */
function isHuman(person: PersonFacts | undefined): boolean {
  return person !== undefined && person.email !== null;
}
