import { randomInt } from 'node:crypto';
import { expect } from 'vitest';
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

/** Adds a member with a password that the member chose. */
export async function addPerson(api: Caller & Pick<TestApi, 'db'>, org: TestOrganization, role: Role, as = org.owner): Promise<Person> {
  const person = await addNewcomer(api, org, role, as);
  await api.db.withTenant({ orgId: org.id }, (tx) => tx.updateTable('members').set({ password_chosen_by: null }).where('id', '=', person.id).execute());
  return person;
}

/** Adds a member who has not changed the first password yet. */
export async function addNewcomer(api: Caller, org: TestOrganization, role: Role, as = org.owner): Promise<Person> {
  people++;
  const email = `person${people}@${org.slug}.example`;
  const password = `the password of person ${people}`;
  const answer = await api.call('POST', '/api/v1/members', { as, body: { email, name: `Person ${people}`, role, password } });
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
