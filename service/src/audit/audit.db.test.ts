import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../db/connection/with-client.ts';
import { systemActor } from '../shared/actor.ts';
import { newId } from '../shared/ids.ts';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { recordAudit } from './record.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

interface AuditEvent {
  id: string;
  occurred_at: string;
  actor: { type: string; id: string | null; name: string };
  person: { id: string; name: string } | null;
  action: string;
  object: { type: string; id: string; name: string | null };
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  request_id: string | null;
  address: string | null;
}

async function events(query: string, key = api.ours.owner): Promise<AuditEvent[]> {
  const { status, body } = await api.call('GET', `/api/v1/audit-events?${query}`, { as: key });
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { data: AuditEvent[] }).data;
}

const objects = (found: AuditEvent[]): string[] => found.map(({ object }) => object.id).sort();

describe('a change', () => {
  it('writes one audit event with actor, action, object, before, after and request', async () => {
    const me = (await api.call('GET', '/api/v1/me', { as: api.ours.owner })).body as { id: string; name: string };
    const made = (await api.call('POST', '/api/v1/api-keys', { as: api.ours.owner, body: { name: 'ci', role: 'viewer' }, headers: { 'x-request-id': 'make' } }))
      .body as {
      id: string;
      key: string;
      prefix: string;
    };
    await api.call('PATCH', `/api/v1/api-keys/${made.id}`, { as: api.ours.owner, body: { name: 'cd' }, headers: { 'x-request-id': 'change' } });
    await api.call('DELETE', `/api/v1/api-keys/${made.id}`, { as: api.ours.owner, headers: { 'x-request-id': 'revoke' } });
    await api.call('DELETE', `/api/v1/api-keys/${made.id}`, { as: api.ours.owner, headers: { 'x-request-id': 'revoke again' } });
    const found = await events(`object_id=${made.id}&sort=occurred_at`);
    const person = { id: me.id, name: me.name };
    const common = { actor: { type: 'api_key', id: me.id, name: me.name }, person, object: { type: 'api_key', id: made.id, name: 'cd' }, address: '127.0.0.1' };
    expect(found).toEqual([
      {
        ...times(found[0]),
        ...common,
        action: 'api_key.created',
        request_id: 'make',
        before: null,
        after: { name: 'ci', role: 'viewer', prefix: made.prefix, expires_at: null },
      },
      {
        ...times(found[1]),
        ...common,
        action: 'api_key.updated',
        request_id: 'change',
        before: { name: 'ci', expires_at: null },
        after: { name: 'cd', expires_at: null },
      },
      {
        ...times(found[2]),
        ...common,
        action: 'api_key.revoked',
        request_id: 'revoke',
        before: { revoked_at: null },
        after: { revoked_at: expect.any(String) },
      },
    ]);
    expect(JSON.stringify(found)).not.toContain(made.key);
  });

  const times = (event: AuditEvent | undefined) => ({ id: event?.id, occurred_at: event?.occurred_at });

  it('is committed together with its audit event and its event', async () => {
    const { id } = (await api.call('POST', '/api/v1/api-keys', { as: api.ours.owner, body: { name: 'one', role: 'viewer' } })).body as { id: string };
    const { rows } = await api.db.withSystem((tx) =>
      sql<{ at: string }>`select xmin::text as at from api_keys where id = ${id}
        union all select xmin::text from audit_events where object_id = ${id}
        union all select xmin::text from events where subject = ${id}`.execute(tx),
    );
    expect(rows).toHaveLength(3);
    expect(new Set(rows.map(({ at }) => at)).size).toBe(1);
  });

  it('that fails or has no effect writes no audit event', async () => {
    const before = (await events('limit=200')).length;
    await api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { name: 'stale' }, headers: { 'if-match': '"99"' } });
    await api.call('PATCH', '/api/v1/organization', { as: api.ours.owner, body: { name: 'ours' } });
    await api.call('POST', '/api/v1/members', { as: api.ours.owner, body: { email: 'x' } });
    const actor = systemActor(api.ours.id, 'test');
    await expect(
      api.db.withTenant(actor, async (tx) => {
        await recordAudit(tx, actor, { action: 'asset.updated', objectType: 'asset', objectId: 'undone' });
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await api.db.withTenant(actor, (tx) => recordAudit(tx, actor));
    expect(await events('limit=200')).toHaveLength(before);
  });

  it('of a password or with a session does not expose it', async () => {
    const password = 'a password of some length';
    const { id } = (
      await api.call('POST', '/api/v1/members', { as: api.ours.owner, body: { email: 'ada@example.com', name: 'Ada', role: 'viewer', password } })
    ).body as {
      id: string;
    };
    await api.call('PATCH', `/api/v1/members/${id}`, { as: api.ours.owner, body: { password: `${password} 2` } });
    const session = await api.call('POST', '/api/v1/sessions', { body: { email: 'ada@example.com', password: `${password} 2` } });
    expect(session.status).toBe(201);
    const cookie = String(session.headers.get('set-cookie')).split(/[=;]/)[1] ?? '';
    const { rows } = await api.db.withSystem((tx) =>
      sql<{ all: string }>`select (select json_agg(a)::text from audit_events a) || (select json_agg(e)::text from events e) as all`.execute(tx),
    );
    const text = rows[0]?.all ?? '';
    expect(text).toContain('"password": "changed"');
    for (const secret of [password, 'argon2id', cookie]) expect(text).not.toContain(secret);
  });
});

describe('the list', () => {
  const day = (text: string): Date => new Date(text);

  beforeAll(async () => {
    const actor = systemActor(api.ours.id, 'test');
    await api.db.withTenant(actor, (tx) =>
      tx
        .insertInto('audit_events')
        .values(
          ['2024-05-01T00:00:00.000Z', '2024-05-01T23:59:59.999Z', '2024-05-02T00:00:00.000Z', '2024-05-02T12:00:00.000Z'].map((at, index) => ({
            org_id: api.ours.id,
            id: newId(),
            occurred_at: day(at),
            actor_type: 'system' as const,
            actor_id: index % 2 ? 'odd' : 'even',
            actor_name: 'test',
            action: `test.${index}`,
            object_type: 'test',
            object_id: `o${index}`,
            request_id: index < 2 ? 'early' : null,
          })),
        )
        .execute(),
    );
  });

  it('is newest first by default', async () => {
    expect((await events('object_type=test')).map(({ object }) => object.id)).toEqual(['o3', 'o2', 'o1', 'o0']);
    expect((await events('object_type=test&sort=occurred_at')).map(({ object }) => object.id)).toEqual(['o0', 'o1', 'o2', 'o3']);
  });

  it.each([
    ['occurred_from=2024-05-02', ['o2', 'o3']],
    ['occurred_to=2024-05-02', ['o0', 'o1']],
    ['occurred_from=2024-05-01&occurred_to=2024-05-02', ['o0', 'o1']],
    ['occurred_from=2024-05-01T23:59:59.999Z&occurred_to=2024-05-02T12:00:00Z', ['o1', 'o2']],
    ['occurred_from=2024-05-02T02:00:00%2B02:00', ['o2', 'o3']],
    ['occurred_from=2024-05-03&occurred_to=2024-05-01', []],
    ['actor_id=odd', ['o1', 'o3']],
    ['action=test.0', ['o0']],
    ['action=test.0,test.3', ['o0', 'o3']],
    ['action=test.0&action=test.3', ['o0', 'o3']],
    ['object_id=o2', ['o2']],
    ['request_id=early', ['o0', 'o1']],
    ['request_id=early&actor_id=odd&action=test.1,test.2', ['o1']],
    ['object_id=O2', []],
    ['object_id=o%25', []],
    ["object_id=o2'%20or%20'1'='1", []],
  ])('returns the events that match all filters: %s', async (query, expected) => {
    expect(objects(await events(`object_type=test&${query}`))).toEqual(expected);
  });

  it.each(['occurred_from=2024-02-30', 'occurred_from=yesterday', 'action=', `action=${'a,'.repeat(20)}a`, 'actor=x', 'sort=action', 'limit=0', 'limit=201'])(
    'refuses %s',
    async (query) => {
      expect((await api.call('GET', `/api/v1/audit-events?${query}`, { as: api.ours.owner })).status).toBe(400);
    },
  );

  it('contains nothing of another organization, even by id', async () => {
    expect(await events('object_type=test', api.theirs.owner)).toEqual([]);
    expect(await events('object_id=o1', api.theirs.owner)).toEqual([]);
  });
});

describe('an export of the audit trail', () => {
  const download = (query: string, as = api.ours.owner) => api.call('GET', `/api/v1/audit-events/export?${query}`, { as });

  it('has all events that match, oldest first, in both formats', async () => {
    await api.db.withTenant({ orgId: api.ours.id }, async (tx) => {
      for (const n of [1, 2, 3])
        await recordAudit(tx, systemActor(api.ours.id, 'exporter'), {
          action: 'view.created',
          objectType: 'exported',
          objectId: `e${n}`,
          after: { name: `=${n}+1, "x"` },
        });
    });
    const listed = await events('object_type=exported&sort=occurred_at');
    const ndjson = await download('format=ndjson&object_type=exported');
    expect(ndjson.headers.get('content-disposition')).toMatch(/^attachment; filename="audit-trail-[\d-]+\.ndjson"$/);
    expect(
      String(ndjson.body)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(listed.map(({ object: { name: _now, ...object }, ...event }) => ({ ...event, object })));
    const [head, first, ...rest] = String((await download('object_type=exported')).body).split('\r\n');
    expect(head?.split(',').slice(0, 5)).toEqual(['id', 'occurred_at', 'action', 'object_type', 'object_id']);
    expect(first).toContain('view.created,exported,e1');
    expect(rest).toHaveLength(3);
  });

  it('has every event once, however many there are', async () => {
    const ids = Array.from({ length: 650 }, (_, n) => `p${n}`);
    await api.db.withTenant({ orgId: api.ours.id }, (tx) =>
      recordAudit(
        tx,
        systemActor(api.ours.id, 'exporter'),
        ...ids.map((objectId) => ({ action: 'view.created' as const, objectType: 'paged', objectId, after: { name: objectId } })),
      ),
    );
    const lines = String((await download('format=ndjson&object_type=paged')).body)
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).object.id)).toEqual(ids);
  });

  it('contains nothing of another organization, and is refused for those who may not read the trail', async () => {
    expect((await download('format=ndjson&object_type=exported', api.theirs.owner)).body).toBeNull();
    expect((await download('', await api.ours.key('analyst'))).status).toBe(403);
  });
});

describe('an audit event or event', () => {
  it.each([
    'update rrs.audit_events set action = $$forged$$',
    'delete from rrs.audit_events',
    'truncate rrs.audit_events',
    'update rrs.events set type = $$x$$',
  ])('cannot be changed or deleted, not even by the database owner: %s', async (statement) => {
    await withClient(api.databaseUrl, async (client) => {
      await expect(client.query(statement)).rejects.toThrow('accepts only inserts');
      for (const role of ['rrs_app', 'rrs_system']) {
        await client.query(`set role ${role}`);
        await expect(client.query(`begin; set local app.org_id = '${api.ours.id}'; ${statement}`)).rejects.toMatchObject({ code: '42501' });
        await client.query('rollback; reset role');
      }
    });
  });

  it('is an event that the application cannot delete: only retention does, in the system role', async () => {
    await withClient(api.databaseUrl, async (client) => {
      await client.query('set role rrs_app');
      await expect(client.query(`begin; set local app.org_id = '${api.ours.id}'; delete from rrs.events`)).rejects.toMatchObject({ code: '42501' });
    });
  });
});
