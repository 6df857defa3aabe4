import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';

let api: TestApi;
let key: { id: string; name: string; version: number; expires_at: string | null };

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
beforeEach(async () => {
  key = (await api.call('POST', '/api/v1/api-keys', { as: api.ours.owner, body: { name: 'first', role: 'viewer', expires_at: '2100-01-01T00:00:00Z' } }))
    .body as typeof key;
});

async function patch(body: unknown, ifMatch?: string) {
  const headers = { 'content-type': 'application/merge-patch+json', ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }) };
  const answer = await api.call('PATCH', `/api/v1/api-keys/${key.id}`, { as: api.ours.owner, body, headers });
  return { ...answer, etag: answer.headers.get('etag'), key: answer.body as typeof key, code: (answer.body as { code?: string }).code };
}

async function current() {
  const answer = await api.call('GET', `/api/v1/api-keys/${key.id}`, { as: api.ours.owner });
  return { etag: answer.headers.get('etag'), ...(answer.body as typeof key) };
}

describe('the version of a resource', () => {
  it('is its ETag after creation and every change', async () => {
    expect(await current()).toMatchObject({ version: 1, etag: '"1"' });
    expect(await patch({ name: 'second' })).toMatchObject({ status: 200, etag: '"2"', key: { version: 2 } });
    expect(await current()).toMatchObject({ version: 2, etag: '"2"', name: 'second' });
  });

  it('stays the same if nothing changes', async () => {
    expect(await patch({ name: 'first' })).toMatchObject({ status: 200, etag: '"1"' });
  });

  it.each(['/api/v1/organization'])('is the ETag of %s too', async (path) => {
    const read = await api.call('GET', path, { as: api.ours.owner });
    expect(read.headers.get('etag')).toBe(`"${(read.body as { version: number }).version}"`);
    const stale = await api.call('PATCH', path, { as: api.ours.owner, body: { name: 'changed' }, headers: { 'if-match': '"999"' } });
    expect(stale.status).toBe(412);
  });
});

describe('If-Match', () => {
  it.each(['"1"', '*', ' "1" ', '"7", "1"', '"1","2"', '* '])('%s allows the change', async (tag) => {
    expect(await patch({ name: 'second' }, tag)).toMatchObject({ status: 200, key: { name: 'second' } });
  });

  it.each([
    '"2"',
    '"0"',
    '"01"',
    '"01"x',
    'W/"1"',
    '1',
    '"',
    '""',
    '"abc"',
    '"1',
    "'1'",
    '"-1"',
    '"1.0"',
    '"9999999999"',
    ',',
    '"2", "3"',
    '"1" "2"',
    'null',
    '**',
  ])('%s refuses the change', async (tag) => {
    const refused = await patch({ name: 'second' }, tag);
    expect([refused.status, refused.code]).toEqual([412, 'stale_version']);
    expect(await current()).toMatchObject({ version: 1, name: 'first' });
  });

  it('with the previous version is stale', async () => {
    await patch({ name: 'second' }, '"1"');
    const refused = await patch({ name: 'third' }, '"1"');
    expect(refused.status).toBe(412);
    expect((refused.body as { detail: string }).detail).toContain('The current version is "2"');
    expect((await current()).name).toBe('second');
  });

  it('is checked even if the patch would change nothing', async () => {
    expect((await patch({ name: 'first' }, '"2"')).status).toBe(412);
  });

  it('is a validation error if it is too long', async () => {
    expect((await patch({ name: 'second' }, '"1",'.repeat(100))).code).toBe('validation_failed');
  });

  it('allows exactly one of many concurrent changes', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => patch({ name: `writer ${index}` }, '"1"')));
    const winners = answers.filter(({ status }) => status === 200);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(412)]);
    expect(await current()).toMatchObject({ version: 2, name: winners[0]?.key.name });
  });
});

describe('a merge patch', () => {
  it('keeps absent fields and clears null fields', async () => {
    expect((await patch({ name: 'second' })).key).toMatchObject({ name: 'second', expires_at: '2100-01-01T00:00:00.000Z' });
    expect((await patch({ expires_at: null })).key).toMatchObject({ name: 'second', expires_at: null });
    expect((await patch({ expires_at: '2101-06-01T12:00:00+02:00' })).key).toMatchObject({ expires_at: '2101-06-01T10:00:00.000Z' });
  });

  it('cannot clear required fields, and must contain at least one change', async () => {
    for (const body of [{ name: null }, {}, { role: 'owner' }, { name: 'x', id: key.id }]) expect((await patch(body)).status).toBe(400);
    expect(await current()).toMatchObject({ version: 1, name: 'first' });
  });
});
