import type { Person, PersonFacts } from '@rrs/evidence-format';
import type { TenantTx } from '../../../db/database.ts';
import { readPersons } from '../../../organizations/members/person-facts.ts';
import { isUuid } from '../../../shared/ids.ts';

/** Who acted, as tables store it. Some store the person with a name. */
export interface StoredActor {
  type: string;
  id: string | null;
  name: string;
  person?: string | { id: string; name: string } | null | undefined;
  person_name?: string | null | undefined;
}

export type ToPerson = (actor: StoredActor) => Person;

const KINDS = { api_key: 'api_key', member: 'member', oidc: 'member', connection: 'connection', system: 'system' } as const;

/** Names people as packages do. Anybody may use a key without a member, so no person stands behind it. */
export function personNamer(ownerlessKeys: ReadonlySet<string>): ToPerson {
  return ({ type, id, name, person, person_name }) => {
    const stored = typeof person === 'string' ? { id: person, name: person_name ?? null } : (person ?? null);
    return {
      kind: KINDS[type as keyof typeof KINDS] ?? 'system',
      // An identity provider has ids of its own. They name a person, and no member, key or connection.
      id: id !== null && isUuid(id) ? id : null,
      name: stored?.name || name || 'unnamed',
      person: stored === null || ownerlessKeys.has(stored.id) ? null : stored.id,
    };
  };
}

/** Somebody of whom only the person is known. */
export function knownPerson(ownerlessKeys: ReadonlySet<string>, { person, name }: { person: string | null; name: string }): StoredActor {
  if (person === null) return { type: 'system', id: null, name };
  return { type: ownerlessKeys.has(person) ? 'api_key' : 'member', id: person, name, person, person_name: name };
}

/** Everybody of `acting`, by person with the last known name, and the owners and admins. */
export async function readPeople(tx: TenantTx, orgId: string, acting: ReadonlyMap<string, string>): Promise<PersonFacts[]> {
  const rows = await readPersons(tx, orgId, [...acting.keys()]);
  return rows.map(({ name, ...facts }) => ({ ...facts, name: name || acting.get(facts.id) || 'unnamed' }));
}
