import { createApiKey } from '../../organizations/api-keys/api-keys.ts';
import { addMember } from '../../organizations/members/members.ts';
import { createOrganization } from '../../organizations/organization.ts';
import { hashPassword } from '../../organizations/sign-in/passwords.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import type { Role } from '../../shared/permissions.ts';
import type { TestApi } from '../http/api.ts';
import { signIn } from '../people.ts';

/** Everybody of a case, each a member of their own who was added on the command line. */
const ROLES = { owner: 'owner', lead: 'admin', worker: 'analyst', scanner: 'analyst', approver: 'analyst' } as const satisfies Record<string, Role>;
export type PersonName = keyof typeof ROLES;

export interface Team {
  orgId: string;
  slug: string;
  /** An API key of each person. */
  keys: Readonly<Record<PersonName, string>>;
  members: Readonly<Record<PersonName, { id: string; email: string }>>;
}

const PASSWORD = 'a password that only its owner knows';
/** Hashing is slow, and the cases do not test it. */
const passwordHash = hashPassword(PASSWORD);

/** A new organization with five people, so that the cases do not affect each other. */
export async function createTeam({ db }: Pick<TestApi, 'db'>): Promise<Team> {
  const slug = `case-${newId().slice(-12)}`;
  const { id: orgId } = await db.withSystem((tx) => createOrganization(tx, 'test', { slug, name: slug }));
  const hash = await passwordHash;
  const system = systemActor(orgId, 'command line');
  const people = await db.withTenant(system, async (tx) => {
    const made: [PersonName, { id: string; email: string; key: string }][] = [];
    for (const name of Object.keys(ROLES) as PersonName[]) {
      const email = `${name}@${slug}.example`;
      const { id } = await addMember(tx, system, { email, name, role: ROLES[name], passwordHash: hash });
      const member: Actor = { ...system, type: 'member', id, name, role: ROLES[name], memberId: id, person: { id, name } };
      const { token } = await createApiKey(tx, member, { name: `key of ${name}`, role: ROLES[name] });
      made.push([name, { id, email, key: token }]);
    }
    return made;
  });
  const mapped = <T>(of: (person: { id: string; email: string; key: string }) => T) =>
    Object.fromEntries(people.map(([name, person]) => [name, of(person)])) as Record<PersonName, T>;
  return { orgId, slug, keys: mapped(({ key }) => key), members: mapped(({ id, email }) => ({ id, email })) };
}

/** Signs in with a password that somebody else chose and replaces it, as the service demands before anything else can be done. */
export async function signInAndChange(api: TestApi, email: string, password: string): Promise<{ cookie: string }> {
  const session = await signIn(api, { email, password });
  const body = { current_password: password, new_password: PASSWORD };
  const { status } = await api.call('PUT', '/api/v1/me/password', { headers: session, body });
  if (status >= 300) throw new Error(`the password was not changed: ${status}`);
  return signIn(api, { email, password: PASSWORD });
}
