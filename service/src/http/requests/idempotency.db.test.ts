import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, startApi, type TestApi } from '../../testing/http/api.ts';
import { deleteExpiredResponses } from './idempotency.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface Key {
  id: string;
  name: string;
  key: string;
}

let counter = 0;
const fresh = (what: string): string => `${what}-${++counter}`;

async function create(idempotencyKey: string, body: unknown, options: CallOptions = {}) {
  const answer = await api.call('POST', '/api/v1/api-keys', { as: api.ours.owner, body, ...options, headers: { 'idempotency-key': idempotencyKey } });
  return { ...answer, key: answer.body as Key, code: (answer.body as { code?: string }).code, replayed: answer.headers.get('idempotency-replayed') };
}

async function count(name: string) {
  const { rows } = await api.db.withSystem((tx) =>
    sql<{ keys: number; audits: number; events: number }>`select
      (select count(*)::int from api_keys where name = ${name}) as keys,
      (select count(*)::int from audit_events where action = 'api_key.created' and after->>'name' = ${name}) as audits,
      (select count(*)::int from events where type = 'api_key.created' and data->>'name' = ${name}) as events`.execute(tx),
  );
  return rows[0];
}

describe('a repeated request', () => {
  it('returns the stored response, including secret and headers, and changes nothing', async () => {
    const [key, name] = [fresh('key'), fresh('name')];
    const first = await create(key, { name, role: 'viewer' });
    const second = await create(key, { name, role: 'viewer' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(second.key.key).toMatch(/^rrs_/);
    for (const header of ['location', 'etag']) expect(second.headers.get(header)).toBe(first.headers.get(header));
    expect([first.replayed, second.replayed]).toEqual([null, 'true']);
    expect(await count(name)).toEqual({ keys: 1, audits: 1, events: 1 });
    expect((await api.call('GET', '/api/v1/me', { as: second.key.key })).status).toBe(200);
  });

  it('without a key is a new request', async () => {
    const name = fresh('name');
    for (let time = 0; time < 2; time++) await api.call('POST', '/api/v1/api-keys', { as: api.ours.owner, body: { name, role: 'viewer' } });
    expect(await count(name)).toEqual({ keys: 2, audits: 2, events: 2 });
  });

  it('sent twenty times at once is executed once', async () => {
    const [key, name] = [fresh('key'), fresh('name')];
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(key, { name, role: 'viewer' })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ key: { key } }) => key)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await count(name)).toEqual({ keys: 1, audits: 1, events: 1 });
  });

  it('returns the stored response even if the resource has changed', async () => {
    const [key, name] = [fresh('key'), fresh('name')];
    const first = await create(key, { name, role: 'viewer' });
    await api.call('DELETE', `/api/v1/api-keys/${first.key.id}`, { as: api.ours.owner });
    expect((await create(key, { name, role: 'viewer' })).body).toEqual(first.body);
  });

  it('is recognized for members too, including the password', async () => {
    const body = { email: `${fresh('ada')}@example.com`, name: 'Ada', role: 'viewer', password: 'correct horse battery' };
    const add = (password: string) =>
      api.call('POST', '/api/v1/members', { as: api.ours.owner, body: { ...body, password }, headers: { 'idempotency-key': body.email } });
    const first = await add(body.password);
    expect([first.status, (await add(body.password)).body]).toEqual([201, first.body]);
    expect((await add('another password')).status).toBe(422);
  });
});

describe('another request with the same key', () => {
  it('is refused and not executed', async () => {
    const [key, name, other] = [fresh('key'), fresh('name'), fresh('other')];
    await create(key, { name, role: 'viewer' });
    const refused = await create(key, { name: other, role: 'viewer' });
    expect([refused.status, refused.code, refused.replayed]).toEqual([422, 'idempotency_key_reused', null]);
    expect(JSON.stringify(refused.body)).not.toContain('rrs_');
    expect(await count(other)).toEqual({ keys: 0, audits: 0, events: 0 });
  });

  it('is independent for another credential, organization or URL', async () => {
    const [key, name] = [fresh('key'), fresh('name')];
    const first = await create(key, { name, role: 'viewer' });
    const callers = [await api.ours.key('owner'), api.theirs.owner];
    for (const as of callers) {
      const own = await create(key, { name, role: 'viewer' }, { as });
      expect([own.status, own.replayed]).toEqual([201, null]);
      expect(own.key.id).not.toBe(first.key.id);
    }
    const member = { email: `${fresh('eve')}@example.com`, name, role: 'viewer' };
    expect((await api.call('POST', '/api/v1/members', { as: api.ours.owner, body: member, headers: { 'idempotency-key': key } })).status).toBe(201);
  });
});

describe('a refusal', () => {
  it('does not consume the key', async () => {
    const admin = await api.ours.key('admin');
    const [key, name] = [fresh('key'), fresh('name')];
    expect((await create(key, { name, role: 'owner' }, { as: admin })).status).toBe(403);
    expect((await create(key, { name: '', role: 'viewer' }, { as: admin })).status).toBe(400);
    const done = await create(key, { name, role: 'viewer' }, { as: admin });
    expect([done.status, done.replayed]).toEqual([201, null]);

    const email = `${fresh('ada')}@example.com`;
    const add = (idempotencyKey: string, as: string) =>
      api.call('POST', '/api/v1/members', { as, body: { email, name: 'Ada', role: 'viewer' }, headers: { 'idempotency-key': idempotencyKey } });
    const added = await add(fresh('key'), admin);
    const again = fresh('key');
    expect((await add(again, admin)).status).toBe(409);
    await api.call('DELETE', `/api/v1/members/${(added.body as { id: string }).id}`, { as: admin });
    const later = await add(again, admin);
    expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([201, null]);
  });

  it.each(['', 'x'.repeat(256)])('is returned for a key that is empty or too long', async (key) => {
    const name = fresh('name');
    const refused = await create(key, { name, role: 'viewer' });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ code: 'validation_failed', errors: [{ in: 'header', path: '/idempotency-key' }] });
    expect(await count(name)).toEqual({ keys: 0, audits: 0, events: 0 });
    expect((await create('x'.repeat(255), { name, role: 'viewer' })).status).toBe(201);
    await api.db.withSystem((tx) => tx.deleteFrom('idempotency_keys').execute());
  });
});

describe('the stored response', () => {
  const kept = () => api.db.withSystem((tx) => tx.selectFrom('idempotency_keys').selectAll().execute());

  it('reveals neither response, key nor request', async () => {
    await api.db.withSystem((tx) => tx.deleteFrom('idempotency_keys').execute());
    const [key, name] = [fresh('a key that is known'), fresh('name')];
    const { key: created } = await create(key, { name, role: 'viewer' });
    const rows = await kept();
    expect(rows).toHaveLength(1);
    const stored = Buffer.concat(rows.flatMap(({ key_hash, request_hash, response }) => [key_hash, request_hash, response ?? Buffer.alloc(0)]));
    expect(stored.length).toBeGreaterThan(300);
    for (const secret of [created.key, created.key.slice(4, 20), created.id, name, key]) {
      expect(stored.includes(secret)).toBe(false);
      expect(stored.includes(Buffer.from(secret).toString('base64'))).toBe(false);
    }
  });

  it('is deleted after 24 hours and not before', async () => {
    const [key, name] = [fresh('key'), fresh('name')];
    await create(key, { name, role: 'viewer' });
    const age = (interval: string) =>
      api.db.withSystem(async (tx) => {
        await sql`update idempotency_keys set created_at = now() - ${interval}::interval`.execute(tx);
        await deleteExpiredResponses(tx);
      });
    await age('23 hours 59 minutes');
    expect((await create(key, { name, role: 'viewer' })).replayed).toBe('true');
    await age('24 hours 1 minute');
    expect(await kept()).toEqual([]);
    expect((await create(key, { name, role: 'viewer' })).replayed).toBeNull();
    expect((await count(name))?.keys).toBe(2);
  });
});
