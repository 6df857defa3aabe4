import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { useSyncs } from '../../testing/integrations/syncs.ts';
import { dueSyncs } from '../handlers.ts';
import { resealCredentials } from './connections.ts';
import { openKeyRing } from './secrets.ts';

const syncs = useSyncs();
const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;
const SECRET = 'snyk-token-0123456789';

interface ConnectionView {
  id: string;
  version: number;
  config: Record<string, unknown>;
  credentials: Record<string, { set: boolean; hint: string | null }>;
  next_run_at: string | null;
  sync_status: string;
}

describe('the provider catalog', () => {
  it('is public and describes every field of every provider', async () => {
    const answer = await syncs.api().call('GET', '/api/v1/integrations/catalog');
    expect(answer.status).toBe(200);
    const { data } = answer.body as { data: { id: string; config_schema: Schema; credentials_schema: Schema }[] };
    interface Schema {
      $schema: string;
      additionalProperties: boolean;
      properties: Record<string, { title?: string; description?: string; writeOnly?: boolean }>;
    }
    expect(data.map(({ id }) => id)).toContain('snyk');
    for (const { config_schema, credentials_schema } of data) {
      for (const schema of [config_schema, credentials_schema]) {
        expect(schema).toMatchObject({ $schema: expect.stringContaining('2020-12'), additionalProperties: false });
        for (const field of Object.values(schema.properties)) expect(field).toMatchObject({ title: expect.any(String), description: expect.any(String) });
      }
    }
  });
});

describe('a connection', () => {
  it('is refused with all errors, each at its field', async () => {
    const { status, body } = await syncs.ask<{ errors: { path: string; code: string }[] }>('POST', '/integrations', {
      body: { provider: 'snyk', config: { api_url: 'ftp://example.com', org: 'x' }, credentials: { token: 7 } },
    });
    expect(status).toBe(400);
    expect(body.errors.map(({ path }) => path).sort()).toEqual(['/config/api_url', '/config/org', '/config/organization_id', '/credentials/token']);
    expect((await syncs.ask<{ detail: string }>('POST', '/integrations', { body: { provider: 'nobody' } })).body.detail).toContain('snyk');
  });

  it('is tested before it is saved, with the checks of saving, and nothing is stored', async () => {
    const { origin } = await syncs.fake(snyk);
    const stored = await syncs.ask<ConnectionView>('GET', `/integrations/${await syncs.connect(snyk, origin)}`);
    const before = (await syncs.ask<{ data: object[] }>('GET', '/integrations')).body.data.length;
    const given = { provider: 'snyk', config: stored.body.config, credentials: { token: SECRET } };
    const ask = (body: object) => syncs.ask<{ ok: boolean; errors: { path: string }[] }>('POST', '/integrations/test', { body });
    expect(await ask(given)).toMatchObject({ status: 200, body: { ok: true, error: null, requests: [{}] } });
    expect(await ask({ ...given, credentials: { token: 'another' } })).toMatchObject({ status: 200, body: { ok: false, error: { kind: 'credentials' } } });
    expect((await ask({ ...given, config: { api_url: 'ftp://example.com' } })).body.errors.map(({ path }) => path)).toContain('/config/api_url');
    expect((await syncs.ask<{ data: object[] }>('GET', '/integrations')).body.data).toHaveLength(before);
  });

  it('is tested with changed settings before they are saved, and its secrets go nowhere else', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const ask = (changes: object, as = syncs.api().ours.owner) =>
      syncs.api().call('POST', '/api/v1/integrations/test', { as, body: { provider: 'snyk', connection_id: id, ...changes } });
    expect(await ask({})).toMatchObject({ status: 200, body: { ok: true } });
    expect(await ask({ credentials: { token: 'another' } })).toMatchObject({ status: 200, body: { ok: false, error: { kind: 'credentials' } } });
    const elsewhere = await ask({ config: { api_url: 'http://127.0.0.1:9' } });
    expect(elsewhere).toMatchObject({ status: 400, body: { errors: [{ path: '/credentials/token', code: 'required' }] } });
    expect(await ask({ provider: 'wiz' })).toMatchObject({ status: 400, body: { errors: [{ path: '/provider' }] } });
    expect((await ask({}, syncs.api().theirs.owner)).status).toBe(404);
    expect((await syncs.ask<ConnectionView>('GET', `/integrations/${id}`)).body).toMatchObject({ version: 1 });
  });

  it('reveals its secrets in no response, event, audit entry or column', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    await syncs.sync(id);
    const shown = await syncs.ask<ConnectionView>('GET', `/integrations/${id}`);
    expect(shown.body.credentials).toEqual({ token: { set: true, hint: '…6789', updated_at: expect.any(String) } });
    const tested = await syncs.ask('POST', `/integrations/${id}/test`);
    expect(tested.body).toMatchObject({ ok: true, error: null });
    for (const path of ['/integrations', `/integrations/${id}/runs`, '/integrations/health', '/audit-events', '/integrations/catalog'])
      expect(JSON.stringify((await syncs.ask('GET', path)).body)).not.toContain(SECRET);
    const admin = new pg.Client({ connectionString: syncs.api().databaseUrl });
    await admin.connect();
    try {
      const { rows } = await admin.query("select table_name from information_schema.tables where table_schema = 'rrs' and table_type = 'BASE TABLE'");
      for (const { table_name } of rows) {
        const { rows: found } = await admin.query(`select count(*)::int as n from rrs."${table_name}" t where t::text like $1 or t::text like $2`, [
          `%${SECRET}%`,
          `%${Buffer.from(SECRET).toString('hex')}%`,
        ]);
        expect({ table_name, n: found[0].n }).toEqual({ table_name, n: 0 });
      }
    } finally {
      await admin.end();
    }
  });

  it('is changed by a merge patch that honours If-Match', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const changed = await syncs.ask<ConnectionView>('PATCH', `/integrations/${id}`, {
      body: { credentials: { token: 'another-token-9999' }, schedule: { every_minutes: 60 } },
    });
    expect(changed.body).toMatchObject({ version: 2, credentials: { token: { hint: '…9999' } }, schedule: { every_minutes: 60 } });
    expect((await syncs.ask('POST', `/integrations/${id}/test`)).body).toMatchObject({ ok: false, error: { kind: 'credentials' } });
    const stale = await syncs
      .api()
      .call('PATCH', `/api/v1/integrations/${id}`, { as: syncs.api().ours.owner, body: { name: 'x' }, headers: { 'if-match': '"1"' } });
    expect(stale.status).toBe(412);
  });

  it('is invisible to other organizations', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const as = syncs.api().theirs.owner;
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/sync'],
      ['GET', '/runs'],
    ] as const)
      expect((await syncs.ask(method, `/integrations/${id}${path}`, { as, ...(method === 'PATCH' ? { body: { name: 'mine' } } : {}) })).status).toBe(404);
    expect((await syncs.ask<{ data: unknown[] }>('GET', '/integrations', { as })).body.data).toEqual([]);
    expect((await syncs.ask<{ connections: unknown[] }>('GET', '/integrations/health', { as })).body.connections).toEqual([]);
  });

  it('that is deleted does not run any more', async () => {
    const { origin, requests } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const run = await syncs.queue(id);
    expect((await syncs.ask('DELETE', `/integrations/${id}`)).status).toBe(204);
    expect((await syncs.ask('GET', `/integrations/${id}`)).status).toBe(404);
    await syncs.perform(syncs.api().ours.id, run);
    expect(requests).toHaveLength(0);
  });

  it('sends no requests to internal networks', async () => {
    const id = await syncs.connect(snyk, (await syncs.fake(snyk)).origin);
    // As if it was created while the operator still allowed the address.
    const config = JSON.stringify(snyk.settings('http://169.254.169.254').config);
    await syncs.api().db.withSystem((tx) => tx.updateTable('connections').set({ config }).where('id', '=', id).execute());
    const { body } = await syncs.ask<{ error: { message: string } }>('POST', `/integrations/${id}/test`);
    expect(body).toMatchObject({ ok: false, error: { kind: 'unavailable', message: expect.stringContaining('RRS_OUTBOUND_ALLOW') } });
  });

  it('runs on schedule, once per interval, and not while it is paused', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin, { schedule: { every_minutes: 60 } });
    const paused = await syncs.connect(snyk, origin, { schedule: { every_minutes: 60 }, enabled: false });
    const context = { db: syncs.api().db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };
    await Promise.all([dueSyncs.run({}, context), dueSyncs.run({}, context)]);
    const { body } = await syncs.ask<{ data: { trigger: string; status: string }[] }>('GET', `/integrations/${id}/runs`);
    expect(body.data).toMatchObject([{ trigger: 'schedule', status: 'queued' }]);
    const next = Date.parse((await syncs.ask<ConnectionView>('GET', `/integrations/${id}`)).body.next_run_at ?? '') - Date.now();
    expect(next).toBeGreaterThan(50 * 60_000);
    expect(next).toBeLessThan(70 * 60_000);
    expect((await syncs.ask<{ data: unknown[] }>('GET', `/integrations/${paused}/runs`)).body.data).toEqual([]);
    expect((await syncs.ask('POST', `/integrations/${paused}/sync`)).status).toBe(409);
  });

  it('works with a new key after rotation, when the old key is deleted', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const { db, blobFolder } = syncs.api();
    const keys = openKeyRing(`${blobFolder}-keys`);
    const { keyId } = await keys.seal('x', {});
    const rotated = await keys.rotate();
    expect(await db.withSystem((tx) => resealCredentials(tx, keys))).toBeGreaterThan(0);
    await keys.forgetAllBut(rotated);
    expect((await keys.seal('x', {})).keyId).not.toBe(keyId);
    expect((await syncs.ask('POST', `/integrations/${id}/test`)).body).toMatchObject({ ok: true });
  });
});

describe('sync-all', () => {
  it('queues five hundred runs in one request, and says for each connection which run or why none', async () => {
    const as = syncs.api().theirs.owner;
    const { origin } = await syncs.fake(snyk);
    const { config, credentials } = snyk.settings(origin);
    const make = (name: string, more = {}) =>
      syncs.ask<{ id: string }>('POST', '/integrations', { as, body: { provider: 'snyk', name, config, credentials, schedule: null, ...more } });
    const running = (await make('running')).body.id;
    await syncs.ask('POST', `/integrations/${running}/sync`, { as });
    await make('paused', { enabled: false });
    for (let n = 0; n < 498; n += 50) await Promise.all(Array.from({ length: Math.min(50, 498 - n) }, (_, m) => make(`connection ${n + m}`)));
    const started = performance.now();
    const { status, body } = await syncs.ask<{ queued: number; data: { reason: string | null; run_id: string | null }[] }>('POST', '/integrations/sync-all', {
      as,
    });
    const ms = performance.now() - started;
    expect(status).toBe(202);
    expect(body.queued).toBe(498);
    expect(body.data.filter(({ reason }) => reason !== null).map(({ reason }) => reason)).toEqual(['already_running', 'paused']);
    expect(ms).toBeLessThan(5_000);
    expect((await syncs.ask<{ queued: number }>('POST', '/integrations/sync-all', { as })).body.queued).toBe(0);
  }, 120_000);
});
