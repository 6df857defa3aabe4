import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../shared/ids.ts';
import { type CallOptions, startApi, type TestApi } from '../testing/http/api.ts';
import { addPerson, behindProxy, createKey, signIn, trySignIn } from '../testing/people.ts';
import { hashToken } from './api-keys/tokens.ts';

let api: TestApi;
let admin: pg.Client;
/** Every token and password that the tests of this file have used. */
const secrets = new Set<string>();

beforeAll(async () => {
  api = await startApi({ config: behindProxy });
  secrets.add(api.ours.owner);
  admin = new pg.Client({ connectionString: api.databaseUrl });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await api?.close();
});

interface Change {
  action: string;
  method: string;
  path: string;
  options: CallOptions;
  actor: { actor_type: string; actor_id: string | null };
  before?: object;
  after?: object;
  /** The table of the object, if the object still exists after the change. */
  table?: 'organizations' | 'members' | 'api_keys' | 'sessions';
}

const asOwner = () => ({ as: api.ours.owner });
const later = '2999-01-01T00:00:00.000Z';

async function ownerActor() {
  const { body } = await api.call('GET', '/api/v1/me', asOwner());
  return { actor_type: 'api_key', actor_id: (body as { id: string }).id };
}

async function person() {
  const someone = await addPerson(api, api.ours, 'viewer');
  const headers = await signIn(api, someone);
  secrets.add(someone.password).add(headers.cookie.split('=')[1] ?? '');
  return { ...someone, headers, actor: { actor_type: 'member', actor_id: someone.id } };
}

async function key() {
  const made = await createKey(api, asOwner(), 'viewer');
  secrets.add(made.key);
  return made;
}

function secret(text: string): string {
  secrets.add(text);
  return text;
}

/** Every operation of this feature that changes something, by operationId. Each call creates what it needs, so it can run twice. */
const changes: Record<string, () => Promise<Change>> = {
  updateOrganization: async () => {
    const { body } = await api.call('GET', '/api/v1/organization', asOwner());
    const [before, after] = [{ name: (body as { name: string }).name }, { name: `Ours ${newId()}` }];
    return {
      action: 'organization.updated',
      method: 'PATCH',
      path: '/organization',
      options: { ...asOwner(), body: after },
      actor: await ownerActor(),
      before,
      after,
      table: 'organizations',
    };
  },
  addMember: async () => {
    const body = { email: `${newId()}@example.com`, name: 'New', role: 'viewer', password: secret('the password of somebody new') };
    const options = { ...asOwner(), body };
    const after = { ...body, password: 'set' };
    return { action: 'member.added', method: 'POST', path: '/members', options, actor: await ownerActor(), after, table: 'members' };
  },
  updateMember: async () => {
    const { id, email } = await person();
    const body = { name: 'Renamed', password: secret('a password given by the owner') };
    const after = { email, name: 'Renamed', role: 'viewer', password: 'changed' };
    const before = { email, name: expect.stringContaining('Person'), role: 'viewer' };
    return {
      action: 'member.updated',
      method: 'PATCH',
      path: `/members/${id}`,
      options: { ...asOwner(), body },
      actor: await ownerActor(),
      before,
      after,
      table: 'members',
    };
  },
  removeMember: async () => {
    const { id, email } = await person();
    return {
      action: 'member.removed',
      method: 'DELETE',
      path: `/members/${id}`,
      options: asOwner(),
      actor: await ownerActor(),
      before: { email, name: expect.any(String), role: 'viewer' },
    };
  },
  inviteMember: async () => {
    const { id, email } = await person();
    const after = { kind: 'password_reset', email, expires_at: expect.any(String) };
    return { action: 'member.invited', method: 'POST', path: `/members/${id}/invitations`, options: asOwner(), actor: await ownerActor(), after };
  },
  endOwnSession: async () => {
    const { headers, actor } = await person();
    const { body } = await api.call('GET', '/api/v1/me/sessions', { headers });
    const [session] = (body as { data: { id: string }[] }).data;
    return { action: 'session.ended', method: 'DELETE', path: `/me/sessions/${session?.id}`, options: { headers }, actor };
  },
  unlinkMember: async () => {
    const { id } = await person();
    const link = { issuer: 'https://login.example.com', subject: newId() };
    await admin.query('insert into rrs.sso_subjects (org_id, issuer, subject, member_id) values ($1, $2, $3, $4)', [
      api.ours.id,
      link.issuer,
      link.subject,
      id,
    ]);
    const path = `/members/${id}/identity-provider-link`;
    return { action: 'member.subject_unlinked', method: 'DELETE', path, options: asOwner(), actor: await ownerActor(), before: link };
  },
  createApiKey: async () => {
    const options = { ...asOwner(), body: { name: 'audited', role: 'analyst', expires_at: later } };
    const after = { name: 'audited', role: 'analyst', expires_at: later, prefix: expect.stringMatching(/^rrs_.{8}$/) };
    return { action: 'api_key.created', method: 'POST', path: '/api-keys', options, actor: await ownerActor(), after, table: 'api_keys' };
  },
  updateApiKey: async () => {
    const { id } = await key();
    const after = { name: 'renamed', expires_at: later };
    const before = { name: 'a key for viewer', expires_at: null };
    return {
      action: 'api_key.updated',
      method: 'PATCH',
      path: `/api-keys/${id}`,
      options: { ...asOwner(), body: after },
      actor: await ownerActor(),
      before,
      after,
      table: 'api_keys',
    };
  },
  revokeApiKey: async () => {
    const { id } = await key();
    const [before, after] = [{ revoked_at: null }, { revoked_at: expect.any(String) }];
    return {
      action: 'api_key.revoked',
      method: 'DELETE',
      path: `/api-keys/${id}`,
      options: asOwner(),
      actor: await ownerActor(),
      before,
      after,
      table: 'api_keys',
    };
  },
  createSession: async () => {
    const { email, password, actor } = await person();
    const after = { method: 'password', expires_at: expect.any(String) };
    return { action: 'session.created', method: 'POST', path: '/sessions', options: { body: { email, password } }, actor, after, table: 'sessions' };
  },
  deleteSession: async () => {
    const { headers, actor } = await person();
    return { action: 'session.ended', method: 'DELETE', path: '/sessions/current', options: { headers }, actor };
  },
  changeOwnPassword: async () => {
    const { email, password, headers, actor } = await person();
    const body = { current_password: password, new_password: secret('chosen by the member alone') };
    const before = { email, name: expect.any(String), role: 'viewer' };
    return {
      action: 'member.updated',
      method: 'PUT',
      path: '/me/password',
      options: { headers, body },
      actor,
      before,
      after: { ...before, password: 'changed' },
      table: 'members',
    };
  },
};

interface Row {
  [column: string]: unknown;
}

async function all(table: string, columns = '*', where = 'true', ...values: unknown[]): Promise<Row[]> {
  return (await admin.query<Row>(`select ${columns} from rrs.${table} where ${where} order by 1`, values)).rows;
}

/** Everything that is stored, except the count of failed sign-ins, which has its own transaction. */
async function everything(): Promise<string> {
  const rows: Row[][] = [await all('members', 'id, org_id, email, name, role, password_hash, version, updated_at')];
  // The time of the last use of a key is written in the background.
  rows.push((await all('api_keys')).map(({ last_used_at: _, ...key }) => key));
  for (const table of ['organizations', 'sessions', 'audit_events', 'events']) rows.push(await all(table));
  // An updated row moves to another place of its table.
  return JSON.stringify(rows.map((table) => table.map((row) => JSON.stringify(row)).sort()));
}

async function perform({ method, path, options }: Change, requestId: string) {
  const headers = { ...options.headers, 'x-request-id': requestId, 'x-forwarded-for': '192.0.2.7' };
  const answer = await api.call(method, `/api/v1${path}`, { ...options, headers });
  const given = (answer.body as { key?: string } | null)?.key;
  if (given) secrets.add(given);
  const link = (answer.body as { url?: string } | null)?.url?.split('=')[1];
  if (link) secrets.add(link);
  const cookie = answer.headers.get('set-cookie')?.match(/^rrs_session=([^;]+)/)?.[1];
  if (cookie) secrets.add(cookie);
  return answer;
}

describe('every operation that changes something', () => {
  it('is covered by this test', () => {
    const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
      paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
    };
    const tags = ['Organization', 'Members and keys'];
    const mutating = Object.values(paths).flatMap((methods) =>
      Object.entries(methods).flatMap(([method, { operationId, tags: own }]) =>
        method !== 'get' && own?.some((tag) => tags.includes(tag)) ? [operationId] : [],
      ),
    );
    // These change the member and open a session: two changes in one transaction. sign-in/invitations.db.test.ts covers them, pipelines.db.test.ts the trusts.
    const elsewhere = ['acceptInvitation', 'setUp', 'createPipelineTrust', 'updatePipelineTrust', 'deletePipelineTrust'];
    const covered = [...Object.keys(changes), ...elsewhere];
    expect(mutating.toSorted()).toEqual(covered.toSorted());
  });

  it.each(Object.keys(changes))('writes one audit event and one event in the transaction of the change: %s', async (operation) => {
    const change = await changes[operation]?.();
    if (!change) throw new Error('unknown operation');
    const requestId = `audited-${newId()}`;
    const eventsBefore = (await all('events', 'id')).length;
    const answer = await perform(change, requestId);
    expect(answer.status).toBeLessThan(300);

    const { action, actor, before = null, after = null, table } = change;
    const audit = await all('audit_events', '*, xmin::text as tx', 'request_id = $1', requestId);
    expect(audit).toEqual([
      expect.objectContaining({ org_id: api.ours.id, action, ...actor, actor_name: expect.any(String), address: '192.0.2.7', before, after }),
    ]);
    const [{ object_id, tx } = {}] = audit;

    expect(await all('events', 'id')).toHaveLength(eventsBefore + 1);
    expect(await all('events', '*', 'xmin::text = $1', tx)).toMatchObject([{ org_id: api.ours.id, type: action, subject: object_id }]);
    if (table) expect(await all(table, 'xmin::text as tx', 'id = $1', object_id)).toEqual([{ tx }]);
  });

  it.each(Object.keys(changes))('leaves nothing behind when the transaction fails at commit: %s', async (operation) => {
    const change = await changes[operation]?.();
    if (!change) throw new Error('unknown operation');
    const before = await everything();
    await admin.query(`
      create function rrs.too_late() returns trigger language plpgsql as $$ begin raise exception 'too late'; end $$;
      create constraint trigger too_late after insert on rrs.events deferrable initially deferred for each row execute function rrs.too_late()`);
    try {
      expect(await perform(change, newId())).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    } finally {
      await admin.query('drop function rrs.too_late cascade');
    }
    expect(await everything()).toBe(before);
  });
});

describe('a request that changes nothing', () => {
  it('writes nothing: refused, stale, missing, or already in that state', async () => {
    const [member, viewer] = [await person(), await api.ours.key('viewer')];
    secrets.add(viewer);
    const { body } = await api.call('GET', `/api/v1/members/${member.id}`, asOwner());
    const before = await everything();
    const calls: [number, string, string, CallOptions][] = [
      [403, 'PATCH', '/organization', { as: viewer, body: { name: 'Mine' } }],
      [403, 'POST', '/api-keys', { as: viewer, body: { name: 'x', role: 'viewer' } }],
      [404, 'DELETE', `/members/${newId()}`, asOwner()],
      [404, 'PATCH', `/members/${member.id}`, { as: api.theirs.owner, body: { role: 'owner' } }],
      [409, 'POST', '/members', { ...asOwner(), body: { email: member.email, name: 'x', role: 'viewer' } }],
      [412, 'PATCH', `/members/${member.id}`, { ...asOwner(), headers: { 'if-match': '"7"' }, body: { name: 'Stale' } }],
      [400, 'POST', '/api-keys', { ...asOwner(), body: { name: 'x', role: 'emperor' } }],
      [200, 'PATCH', `/members/${member.id}`, { ...asOwner(), body: { name: (body as { name: string }).name, role: 'viewer' } }],
    ];
    for (const [status, method, path, options] of calls) expect(await api.call(method, `/api/v1${path}`, options)).toMatchObject({ status });
    expect(await everything()).toBe(before);
  });

  it('is recorded once when an Idempotency-Key repeats it', async () => {
    const headers = { 'idempotency-key': newId() };
    const keys = [await createKey(api, { ...asOwner(), headers }, 'viewer'), await createKey(api, { ...asOwner(), headers }, 'viewer')];
    secrets.add(keys[0]?.key ?? '');
    expect(keys[0]).toEqual(keys[1]);
    expect(await all('audit_events', 'id', 'object_id = $1', keys[0]?.id)).toHaveLength(1);
  });

  it('records a wrong password without the guess', async () => {
    const { id, email } = await person();
    await trySignIn(api, email, secret('a guess that is nearly right'), { headers: { 'x-forwarded-for': '192.0.2.8' } });
    expect(await all('audit_events', 'actor_id, address, before, after', `action = 'session.refused' and object_id = $1`, id)).toEqual([
      { actor_id: id, address: '192.0.2.8', before: null, after: null },
    ]);
  });
});

describe('the audit trail and the events', () => {
  it('contain none of the tokens, passwords and hashes of the tests above', async () => {
    const stored = JSON.stringify([await all('audit_events'), await all('events')]);
    expect(secrets.size).toBeGreaterThan(30);
    expect(stored).toContain('api_key.created');
    for (const each of secrets) {
      expect(stored).not.toContain(each.startsWith('rrs_') ? each.slice(12) : each);
      for (const encoding of ['hex', 'base64', 'base64url'] as const) expect(stored).not.toContain(hashToken(each).toString(encoding));
    }
    expect(stored).not.toMatch(/argon2|token_hash|password_hash/);
  });
});
