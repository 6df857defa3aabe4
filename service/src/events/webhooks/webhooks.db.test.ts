import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../testing/eventually.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { isSignedWith, useReceiver, type WebhookBody, webhooksOf } from '../../testing/integrations/webhooks.ts';

let api: TestApi;
let ours: ReturnType<typeof webhooksOf>;
let theirs: ReturnType<typeof webhooksOf>;

beforeAll(async () => {
  api = await startApi({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.1' } });
  ours = webhooksOf(api);
  theirs = webhooksOf(api, api.theirs);
});
afterAll(() => api?.close());

const auditOf = async (id: string) => {
  const { body } = await api.call('GET', `/api/v1/audit-events?object_id=${id}&sort=occurred_at`, { as: api.ours.owner });
  return (body as { data: { action: string; before: unknown; after: unknown; actor: { type: string } }[] }).data;
};

describe('a webhook', () => {
  it('can be created, read, listed, changed and deleted, with an audit event for each change', async () => {
    const created = await ours.call('POST', '/webhooks', { url: 'https://hooks.example.com/a?b=c#d', event_types: ['finding.*'], description: 'chat' });
    expect(created).toMatchObject({ status: 201, body: { url: 'https://hooks.example.com/a?b=c', event_types: ['finding.*'], enabled: true, version: 1 } });
    const { id, secret, secret_hint } = created.body as WebhookBody;
    expect(created.headers.get('location')).toBe(`/api/v1/webhooks/${id}`);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secret_hint).toBe(`…${secret.slice(-5)}`);

    const read = await ours.call('GET', `/webhooks/${id}`);
    expect([read.status, read.headers.get('etag')]).toEqual([200, '"1"']);
    expect(await ours.call('GET', '/webhooks')).toMatchObject({ body: { data: expect.arrayContaining([read.body]) } });

    const stale = await ours.call('PATCH', `/webhooks/${id}`, { description: null }, { 'if-match': '"7"' });
    expect(stale).toMatchObject({ status: 412, body: { code: 'stale_version' } });
    const changed = await ours.call(
      'PATCH',
      `/webhooks/${id}`,
      { description: null, enabled: false, url: 'https://hooks.example.com/other' },
      { 'if-match': '"1"' },
    );
    expect(changed).toMatchObject({ status: 200, body: { description: null, enabled: false, disabled_reason: 'Disabled by owner of ours.', version: 2 } });
    expect(changed.headers.get('etag')).toBe('"2"');
    expect(await ours.call('PATCH', `/webhooks/${id}`, { enabled: true })).toMatchObject({ body: { enabled: true, disabled_reason: null, version: 3 } });
    expect(await ours.call('PATCH', `/webhooks/${id}`, { enabled: true })).toMatchObject({ body: { version: 3 } });

    expect((await ours.call('DELETE', `/webhooks/${id}`)).status).toBe(204);
    expect((await ours.call('GET', `/webhooks/${id}`)).status).toBe(404);
    const audited = await auditOf(id);
    expect(audited.map(({ action }) => action)).toEqual(['webhook.created', 'webhook.updated', 'webhook.updated', 'webhook.deleted']);
    expect(audited[1]).toMatchObject({ before: { enabled: true }, after: { enabled: false, url: 'changed' } });
    expect(JSON.stringify(audited)).not.toContain('b=c');
  });

  it.each([
    ['a scheme other than http and https', 'ftp://example.com/'],
    ['a host name instead of a URL', 'hooks.example.com'],
    ['a URL that contains a password', 'https://name:password@example.com/'],
  ])('is refused with %s', async (_, url) => {
    const answer = await ours.call('POST', '/webhooks', { url, event_types: ['*'] });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: expect.arrayContaining([expect.objectContaining({ path: '/url' })]) },
    });
  });

  it.each([[[]], [['finding.']], [['Finding']], [['.*']], [['finding*']], [['*', '*']], [['bogus.*']], [['finding.typo']], [['finding.created.*']]])(
    'is refused with the event types %j',
    async (event_types) => {
      const answer = await ours.call('POST', '/webhooks', { url: 'https://example.com/', event_types });
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    },
  );

  it('with an unknown event type is rejected with a list of the valid ones', async () => {
    const { id } = await ours.create('https://example.com/');
    for (const [method, path, body] of [
      ['POST', '/webhooks', { url: 'https://example.com/', event_types: ['*', 'finding.typo'] }],
      ['PATCH', `/webhooks/${id}`, { event_types: ['*', 'finding.typo'] }],
      ['GET', '/events?types=*,finding.typo', undefined],
    ] as const) {
      const { status, body: problem } = await ours.call(method, path, body);
      const { errors } = problem as { errors: { path: string; code: string; detail: string }[] };
      expect({ status, errors }).toMatchObject({
        status: 400,
        errors: [{ code: 'not_allowed', detail: expect.stringMatching(/ \*, .*finding\.\*.*finding\.created/) }],
      });
    }
    await ours.call('DELETE', `/webhooks/${id}`);
  });

  it.each(['http://10.1.2.3/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data/', 'http://0x7f.2/'])(
    'cannot be created with or changed to the blocked address %s',
    async (url) => {
      const { id } = await ours.create('https://example.com/');
      for (const answer of [await ours.call('POST', '/webhooks', { url, event_types: ['*'] }), await ours.call('PATCH', `/webhooks/${id}`, { url })])
        expect(answer).toMatchObject({
          status: 400,
          body: {
            errors: [{ in: 'body', path: '/url', code: 'not_allowed', detail: expect.stringMatching(/private or reserved network.*RRS_OUTBOUND_ALLOW/) }],
          },
        });
      await ours.call('DELETE', `/webhooks/${id}`);
    },
  );

  it('is created once per idempotency key, with the same secret', async () => {
    const post = () => ours.call('POST', '/webhooks', { url: 'https://example.com/once', event_types: ['*'] }, { 'idempotency-key': 'one webhook' });
    const [first, again] = [await post(), await post()];
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
    expect(again.body).toEqual(first.body);
    await ours.call('DELETE', `/webhooks/${(first.body as WebhookBody).id}`);
  });

  it('is one of at most 50, also when many are created at once', async () => {
    const { data } = (await theirs.call('GET', '/webhooks')).body as { data: unknown[] };
    const answers = await Promise.all(
      Array.from({ length: 55 - data.length }, () => theirs.call('POST', '/webhooks', { url: 'https://example.com/', event_types: ['*'], enabled: false })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50 - data.length);
    expect(answers.find(({ status }) => status !== 201)).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining('50') } });
    for (const { body, status } of answers) if (status === 201) await theirs.call('DELETE', `/webhooks/${(body as WebhookBody).id}`);
  });
});

describe('the signing secret', () => {
  it('appears only in the response that creates it, and in no row or event', async () => {
    const { id, secret } = await ours.create('https://example.com/');
    const rotated = (await ours.call('POST', `/webhooks/${id}/rotate-secret`)).body as WebhookBody;
    expect(rotated.secret).not.toBe(secret);
    const secrets = [secret, rotated.secret].map((each) => each.replace('whsec_', ''));
    const answers = [
      await ours.call('GET', `/webhooks/${id}`),
      await ours.call('GET', '/webhooks'),
      await ours.call('PATCH', `/webhooks/${id}`, { description: 'x' }),
    ];
    const tables = await api.db.withSystem((tx) =>
      sql<{ rows: string }>`
        select concat((select jsonb_agg(w) from webhooks w), (select jsonb_agg(e) from events e), (select jsonb_agg(a) from audit_events a),
          (select string_agg(encode(secret, 'escape') || encode(previous_secret, 'escape'), '') from webhooks where id = ${id})) as rows`.execute(tx),
    );
    for (const text of [JSON.stringify(answers), JSON.stringify(tables.rows)]) {
      expect(text).toContain(id);
      for (const each of secrets) {
        expect(text).not.toContain(each);
        expect(text).not.toContain(Buffer.from(each, 'base64').toString('hex'));
      }
    }
    await ours.call('DELETE', `/webhooks/${id}`);
  });

  it('also signs for a day after it was rotated', async () => {
    const receiver = await useReceiver();
    const { id, secret } = await ours.create(receiver.url, ['finding.created']);
    const rotated = await ours.call('POST', `/webhooks/${id}/rotate-secret`);
    expect(rotated).toMatchObject({ status: 200, body: { secret_hint: expect.stringMatching(/^….{5}$/), version: 2 } });
    const next = (rotated.body as WebhookBody).secret;
    await ours.change();
    await ours.deliver();
    expect(receiver.received.map((one) => [isSignedWith(secret, one), isSignedWith(next, one)])).toEqual([[true, true]]);
    await api.db.withSystem((tx) => sql`update webhooks set previous_secret_until = now() where id = ${id}`.execute(tx));
    await ours.change();
    await ours.deliver();
    expect(receiver.received.slice(1).map((one) => [isSignedWith(secret, one), isSignedWith(next, one)])).toEqual([[false, true]]);
    expect((await auditOf(id)).map(({ action }) => action)).toEqual(['webhook.created', 'webhook.secret_rotated']);
    await ours.call('DELETE', `/webhooks/${id}`);
  });
});

describe('a test', () => {
  it('sends a signed event to that receiver only and returns its response', async () => {
    const [receiver, other] = [await useReceiver(), await useReceiver()];
    receiver.answer((response) => response.writeHead(202).end(`thank you ${'x'.repeat(5_000)}`));
    const { id, secret } = await ours.create(receiver.url, ['finding.created'], { enabled: false });
    const bystander = await ours.create(other.url);
    const answer = await ours.call('POST', `/webhooks/${id}/test`);
    expect(answer).toMatchObject({ status: 200, body: { event_type: 'webhook.test', status: 'succeeded', attempts: 1, response_status: 202, error: null } });
    expect((answer.body as { response_excerpt: string }).response_excerpt).toMatch(/^thank you x{1014}$/);
    expect(receiver.received).toMatchObject([{ event: { type: 'webhook.test', subject: id, source: `${api.url}/organizations/${api.ours.id}` } }]);
    expect(receiver.received.every((one) => isSignedWith(secret, one))).toBe(true);
    await ours.deliver();
    expect(other.types()).not.toContain('webhook.test');
    expect(await ours.deliveries(id)).toMatchObject([answer.body as object]);
    for (const one of [id, bystander.id]) await ours.call('DELETE', `/webhooks/${one}`);
  });

  it('of a blocked address explains that and sends nothing', async () => {
    const closed = await startApi();
    const webhooks = webhooksOf(closed);
    try {
      const receiver = await useReceiver();
      for (const url of [receiver.url, receiver.url.replace('127.0.0.1', 'localhost'), 'http://169.254.169.254/latest/meta-data/', 'http://[::1]/']) {
        const { id } = await webhooks.create('https://example.com/');
        // As if the webhook had been created while the operator still allowed the address.
        await closed.db.withSystem((tx) => tx.updateTable('webhooks').set({ url }).where('id', '=', id).execute());
        const { body } = await webhooks.call('POST', `/webhooks/${id}/test`);
        expect(body).toMatchObject({
          status: 'failed',
          response_status: null,
          error: expect.stringMatching(/private or reserved network.*RRS_OUTBOUND_ALLOW/),
        });
      }
      await webhooks.change();
      await webhooks.deliver();
      expect(receiver.received).toEqual([]);
    } finally {
      await closed.close();
    }
  });

  it('does not follow redirects', async () => {
    const [receiver, elsewhere] = [await useReceiver(), await useReceiver()];
    receiver.answer((response) => response.writeHead(307, { location: elsewhere.url }).end());
    const { id } = await ours.create(receiver.url, ['organization.created']);
    expect(await ours.call('POST', `/webhooks/${id}/test`)).toMatchObject({
      body: { status: 'failed', response_status: 307, error: expect.stringContaining('redirect') },
    });
    expect(elsewhere.received).toEqual([]);
    await ours.call('DELETE', `/webhooks/${id}`);
  });

  it('is sent once per idempotency key', async () => {
    const receiver = await useReceiver();
    const { id } = await ours.create(receiver.url, ['organization.created']);
    const post = () => ours.call('POST', `/webhooks/${id}/test`, undefined, { 'idempotency-key': 'one test' });
    const [first, again] = [await post(), await post()];
    expect(again.body).toEqual(first.body);
    expect(receiver.received).toHaveLength(1);
    await ours.call('DELETE', `/webhooks/${id}`);
  });
});

describe('another organization', () => {
  it('can neither see a webhook nor receive its events', async () => {
    const [receiver, alien] = [await useReceiver(), await useReceiver()];
    const { id } = await ours.create(receiver.url, ['finding.created']);
    const { id: other } = await theirs.create(alien.url);
    await ours.change('ours');
    await theirs.change('theirs');
    await ours.deliver();
    await eventually(() => [receiver.received.length, alien.types().filter((type) => type === 'finding.created').length]).toEqual([1, 1]);
    expect(receiver.received.map(({ event }) => event.data.title)).toEqual(['ours']);
    expect(alien.received.map(({ body }) => body).join()).not.toContain(api.ours.id);
    const [delivery] = await ours.deliveries(id);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${delivery?.id}/replay`],
    ] as const) {
      expect((await theirs.call(method, `/webhooks/${id}${path}`, method === 'PATCH' ? { enabled: false } : undefined)).status).toBe(404);
    }
    expect((await theirs.call('POST', `/webhooks/${other}/deliveries/${delivery?.id}/replay`)).status).toBe(404);
    expect(JSON.stringify((await theirs.call('GET', '/webhooks')).body)).not.toContain(id);
    await ours.call('DELETE', `/webhooks/${id}`);
    await theirs.call('DELETE', `/webhooks/${other}`);
  });
});
