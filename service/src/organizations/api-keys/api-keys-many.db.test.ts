import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, type CreatedKey, createKey, signIn, statusOf } from '../../testing/people.ts';
import { createKeyUse } from './key-use.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi({ config: behindProxy, poolSize: 4, acquireMs: 60_000 });
});
afterAll(() => api?.close());

const MANY = 200;
const asOwner = () => ({ as: api.ours.owner });
const revoke = (id: string) => api.call('DELETE', `/api/v1/api-keys/${id}`, asOwner());
const countOf = (values: readonly unknown[], value: unknown): number => values.filter((each) => each === value).length;

async function eventsOf(action: string): Promise<{ audit: string[]; outgoing: string[] }> {
  return api.db.withSystem(async (tx) => ({
    audit: (await tx.selectFrom('audit_events').select('object_id').where('action', '=', action).execute()).map((row) => row.object_id),
    outgoing: (await tx.selectFrom('events').select('subject').where('type', '=', action).execute()).map((row) => row.subject),
  }));
}

async function lastUse(id: string): Promise<Date | null> {
  const row = await api.db.withSystem((tx) => tx.selectFrom('api_keys').select('last_used_at').where('id', '=', id).executeTakeFirstOrThrow());
  return row.last_used_at;
}

describe(`${MANY} keys at once`, () => {
  it('can be created, used and revoked while in use, with 4 database connections', async () => {
    const earlier = { created: await eventsOf('api_key.created'), revoked: await eventsOf('api_key.revoked') };
    const keys = await Promise.all(Array.from({ length: MANY }, (): Promise<CreatedKey> => createKey(api, asOwner(), 'viewer')));
    expect(new Set(keys.map(({ key }) => key)).size).toBe(MANY);

    const used = await Promise.all(keys.map(({ key }) => statusOf(api, key)));
    expect(countOf(used, 200)).toBe(MANY);

    const [revoked, meanwhile] = await Promise.all([Promise.all(keys.map(({ id }) => revoke(id))), Promise.all(keys.map(({ key }) => statusOf(api, key)))]);
    expect(revoked.filter(({ status }) => status === 204)).toHaveLength(MANY);
    expect(countOf(meanwhile, 200) + countOf(meanwhile, 401)).toBe(MANY);

    const refused = await Promise.all(keys.map(({ key }) => statusOf(api, key)));
    expect(countOf(refused, 401)).toBe(MANY);

    const ids = keys.map(({ id }) => id).toSorted();
    for (const [action, before] of [
      ['api_key.created', earlier.created],
      ['api_key.revoked', earlier.revoked],
    ] as const) {
      const now = await eventsOf(action);
      expect(now.audit.filter((id) => !before.audit.includes(id)).toSorted()).toEqual(ids);
      expect(now.outgoing.filter((id) => !before.outgoing.includes(id)).toSorted()).toEqual(ids);
    }
    expect(api.db.stats()).toMatchObject({ tenant: { waiting: 0 }, system: { waiting: 0 } });
  });

  it('are revoked once when they are the same key', async () => {
    const { id } = await createKey(api, asOwner(), 'viewer');
    const answers = await Promise.all(Array.from({ length: 10 }, () => revoke(id)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
    const { audit, outgoing } = await eventsOf('api_key.revoked');
    expect([countOf(audit, id), countOf(outgoing, id)]).toEqual([1, 1]);
  });

  it('are one key when they are requested with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'twenty times the same' };
    const made = await Promise.all(Array.from({ length: 20 }, () => createKey(api, { ...asOwner(), headers }, 'viewer')));
    expect(new Set(made.map(({ key }) => key)).size).toBe(1);
  });
});

describe('a member who is removed while creating keys', () => {
  it('leaves no usable key', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await addPerson(api, api.ours, 'admin');
      const { key } = await createKey(api, { headers: await signIn(api, person) }, 'admin');
      const [removed, ...made] = await Promise.all([
        api.call('DELETE', `/api/v1/members/${person.id}`, asOwner()),
        ...Array.from({ length: 8 }, () => api.call('POST', '/api/v1/api-keys', { as: key, body: { name: 'to outlive me', role: 'admin' } })),
      ]);
      expect(removed.status).toBe(204);
      const given = made.flatMap(({ status, body }) => (status === 201 ? [(body as CreatedKey).key] : []));
      const statuses = await Promise.all([key, ...given].map((each) => statusOf(api, each)));
      expect(new Set(statuses)).toEqual(new Set([401]));
    }
  });
});

describe('the last use of a key', () => {
  it('is written at shutdown for the keys that were used', async () => {
    const [used, unused] = [await createKey(api, asOwner(), 'viewer'), await createKey(api, asOwner(), 'viewer')];
    const before = Date.now();
    expect(await statusOf(api, used.key)).toBe(200);
    expect(await lastUse(used.id)).toBeNull();
    await api.keyUse.close();
    expect((await lastUse(used.id))?.getTime()).toBeGreaterThanOrEqual(before);
    expect(await lastUse(unused.id)).toBeNull();
    expect(await api.call('GET', `/api/v1/api-keys/${used.id}`, asOwner())).toMatchObject({ body: { last_used_at: expect.any(String), version: 1 } });
  });

  it('never moves back in time, whichever replica writes last', async () => {
    const { id } = await createKey(api, asOwner(), 'viewer');
    const [early, late] = [createKeyUse(api.db, () => {}), createKeyUse(api.db, () => {})];
    early.note(api.ours.id, id, new Date('2026-11-15T09:00:00Z'));
    late.note(api.ours.id, id, new Date('2026-11-15T09:00:01Z'));
    await late.close();
    const written = await lastUse(id);
    expect(written).toBeInstanceOf(Date);
    await early.close();
    expect(await lastUse(id)).toEqual(written);
  });

  it('is skipped for a key that is locked and written for the others', async () => {
    const [busy, free] = [await createKey(api, asOwner(), 'viewer'), await createKey(api, asOwner(), 'viewer')];
    const other = new pg.Client({ connectionString: api.databaseUrl });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('begin');
    await other.query('select from rrs.api_keys where id = $1 for update', [busy.id]);
    const use = createKeyUse(api.db, () => {});
    use.note(api.ours.id, busy.id);
    use.note(api.ours.id, free.id);
    await use.close();
    expect([await lastUse(busy.id), await lastUse(free.id)]).toEqual([null, expect.any(Date)]);
    await other.query('rollback');
  });

  it('is written only for keys of the given organization', async () => {
    const { id } = await createKey(api, asOwner(), 'viewer');
    const use = createKeyUse(api.db, () => {});
    use.note(api.theirs.id, id);
    await use.close();
    expect(await lastUse(id)).toBeNull();
  });
});
