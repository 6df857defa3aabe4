import { type Client, createClient } from '@rrs/client';
import { company, PASSWORD, type Person, people } from '../company/names.ts';

type PersonId = keyof typeof people;

/** Who does something: a client with the session of each person, and one with the key of the pipelines. */
export interface Staff {
  as(person: PersonId): Client;
  pipeline: Client;
  /** Signs everybody in again. Sessions do not last for the whole history. */
  signIn(): Promise<void>;
}

/**
 * Names the organization and adds its members. The first owner key is used only for the first owner, because nobody knows who uses it: what it adds could be
 * used by anybody, and nobody could approve work independently.
 */
export async function addStaff(url: string, ownerKey: string): Promise<Staff> {
  const cookies = new Map<string, string>();
  const clientOf = (id: string): Client => sessionClient(url, () => cookies.get(id) ?? '');
  await addMember(createClient({ url, apiKey: ownerKey }), url, people.owner);
  cookies.set('owner', await openSession(url, people.owner.email, PASSWORD));
  const owner = clientOf('owner');
  await owner.call('updateOrganization', {
    body: {
      name: company.name,
      policy: { four_eyes: true, frameworks: ['SOC 2', 'ISO/IEC 27001:2022', 'PCI DSS 4.0.1'], source_ranking: ['trivy', 'nessus'] },
    },
  });
  await Promise.all(Object.values(people).map((person) => (person === people.owner ? null : addMember(owner, url, person))));
  const clients = new Map(Object.keys(people).map((id) => [id, clientOf(id)]));
  const as = (id: PersonId): Client => clients.get(id) ?? clientOf(id);
  const signIn = async (): Promise<void> => {
    for (const id of ['owner', 'analyst', 'secondAnalyst', 'admin'] as const) cookies.set(id, await openSession(url, people[id].email, PASSWORD));
  };
  await signIn();
  const { key } = await as('admin').call('createApiKey', { body: { name: 'Build pipelines', role: 'analyst' } });
  return { pipeline: createClient({ url, apiKey: key }), as, signIn };
}

const GIVEN_PASSWORD = 'given-by-the-owner';

/** Nobody can work with a password that somebody else chose, so the new member chooses another one. */
async function addMember(by: Client, url: string, { name, email, role }: Person): Promise<void> {
  await by.call('addMember', { body: { name, email, role, password: GIVEN_PASSWORD } });
  const cookie = await openSession(url, email, GIVEN_PASSWORD);
  await sessionClient(url, () => cookie).call('changeOwnPassword', { body: { current_password: GIVEN_PASSWORD, new_password: PASSWORD } });
}

/** Returns the cookie of a new session. */
async function openSession(url: string, email: string, password: string): Promise<string> {
  const { response } = await createClient({ url }).callWithResponse('createSession', { body: { email, password } });
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

/** Sends the cookie as a page of the service would. */
function sessionClient(url: string, cookie: () => string): Client {
  return createClient({
    url,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('cookie', cookie());
      headers.set('origin', url);
      return fetch(input, { ...init, headers });
    },
  });
}
