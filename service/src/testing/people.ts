import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
import { addMember } from '../organizations/members/members.ts';
import { hashPassword } from '../organizations/sign-in/passwords.ts';
import { systemActor } from '../shared/actor.ts';
import type { Role } from '../shared/permissions.ts';
import type { ApiAnswer, CallOptions, TestApi, TestOrganization } from './http/api.ts';

export interface Caller {
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
}

export interface Person {
  id: string;
  email: string;
  password: string;
}

/** For an API that trusts the local proxy: each call has its own client address, so that the limit on failures per address is not reached. */
export const behindProxy = { RRS_TRUSTED_PROXIES: '127.0.0.1' };
export function fromRandomAddress(): Record<string, string> {
  return { 'x-forwarded-for': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}` };
}

let people = 0;

/** Adds a member on the command line, so that nobody else knows the password. */
export async function addPerson({ db }: Pick<TestApi, 'db'>, org: Pick<TestOrganization, 'id' | 'slug'>, role: Role): Promise<Person> {
  const { name, email, password } = nextPerson(org);
  const passwordHash = await hashPassword(password);
  const actor = systemActor(org.id, 'command line');
  const { id } = await db.withTenant(actor, (tx) => addMember(tx, actor, { email, name, role, passwordHash }));
  return { id, email, password };
}

function nextPerson({ slug }: Pick<TestOrganization, 'slug'>): { name: string; email: string; password: string } {
  people++;
  return { name: `Person ${people}`, email: `person${people}@${slug}.example`, password: `the password of person ${people}` };
}

/** Adds a member who has not changed the first password yet. */
export async function addNewcomer(api: Caller, org: TestOrganization, role: Role, as = org.owner): Promise<Person> {
  const { name, email, password } = nextPerson(org);
  const answer = await api.call('POST', '/api/v1/members', { as, body: { email, name, role, password } });
  expect(answer).toMatchObject({ status: 201 });
  return { id: (answer.body as { id: string }).id, email, password };
}

export function trySignIn(
  api: Caller,
  email: string,
  password: string,
  extra: { organization?: string; headers?: Record<string, string> } = {},
): Promise<ApiAnswer> {
  const { headers, ...body } = extra;
  return api.call('POST', '/api/v1/sessions', { body: { email, password, ...body }, headers: headers ?? fromRandomAddress() });
}

/** Signs in and returns the header with the session cookie. */
export async function signIn(api: Caller, { email, password }: Pick<Person, 'email' | 'password'>): Promise<{ cookie: string }> {
  const answer = await trySignIn(api, email, password);
  expect(answer).toMatchObject({ status: 201 });
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' };
}

export interface CreatedKey {
  id: string;
  key: string;
  prefix: string;
  role: Role;
}

export async function createKey(api: Caller, by: CallOptions, role: Role, extra: Record<string, unknown> = {}): Promise<CreatedKey> {
  const answer = await api.call('POST', '/api/v1/api-keys', { ...by, body: { name: `a key for ${role}`, role, ...extra } });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as CreatedKey;
}

/** The status of `GET /me` with a credential: 200 or 401. */
export async function statusOf(api: Caller, as: string | { cookie: string }): Promise<number> {
  const who = typeof as === 'string' ? { as, headers: fromRandomAddress() } : { headers: { ...fromRandomAddress(), ...as } };
  return (await api.call('GET', '/api/v1/me', who)).status;
}

/** Adds a member who may create keys, and returns the id with an API key that counts as the member. */
export async function addPersonWithKey(api: Caller & Pick<TestApi, 'db'>, org: TestOrganization, role: Role): Promise<{ id: string; key: string }> {
  const person = await addPerson(api, org, role === 'owner' ? 'owner' : 'admin');
  const { key } = await createKey(api, { headers: await signIn(api, person) }, role);
  return { id: person.id, key };
}
