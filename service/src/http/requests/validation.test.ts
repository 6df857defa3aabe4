import fc from 'fast-check';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../../testing/http/app.ts';
import type { App } from '../app.ts';
import type { Problem } from '../problems.ts';
import { Id, Nullable, OneOf, Strict, Text } from '../schemas.ts';

let app: App;

beforeAll(async () => {
  ({ app } = await startApp((api) => {
    const config = { access: 'public' } as const;
    const severities = OneOf(['low', 'high'] as const);
    api.patch(
      '/api/v1/things/:id',
      {
        config,
        schema: {
          params: Strict({ id: Id }),
          querystring: Strict({ dry_run: Type.Optional(Type.Boolean()), limit: Type.Integer({ minimum: 1, maximum: 9, default: 3 }) }),
          headers: Type.Object({ 'idempotency-key': Type.Optional(Text(1, 5)) }),
          body: Strict(
            {
              name: Type.Optional(Text(2, 4)),
              severity: Type.Optional(severities),
              expires_at: Type.Optional(Nullable(Type.String({ format: 'date-time' }))),
              owner: Type.Optional(Nullable(severities)),
              tags: Type.Optional(Type.Array(Text(1, 10), { maxItems: 2, uniqueItems: true })),
              inner: Type.Optional(Strict({ deep: Type.String() })),
              'a/b~c': Type.Optional(Type.Integer()),
            },
            { minProperties: 1 },
          ),
        },
      },
      async (request) => ({ params: request.params, query: request.query, body: request.body }),
    );
    const list = Strict({
      severity: Type.Optional(Type.Array(severities)),
      from: Type.Optional(Type.String({ format: 'moment' })),
      sort: OneOf(['a', '-a'], { default: 'a' }),
    });
    api.get('/api/v1/things', { config, schema: { querystring: list } }, async (request) => request.query as object);
    api.get('/api/v1/plain', { config }, async () => ({ ok: true }));
  }));
});
afterAll(() => app?.close());

const ID = '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11';

async function patch(payload: unknown, { id = ID, query = '', headers = {} } = {}) {
  const type = { 'content-type': 'application/merge-patch+json' };
  const response = await app.inject({
    method: 'PATCH',
    url: `/api/v1/things/${id}${query}`,
    headers: { ...type, ...headers },
    payload: JSON.stringify(payload),
  });
  return { status: response.statusCode, body: response.json() };
}

async function errorsOf(payload: unknown, options = {}): Promise<Problem['errors']> {
  const { status, body } = await patch(payload, options);
  expect([status, body.code]).toEqual([400, 'validation_failed']);
  return body.errors;
}

async function list(query: string) {
  const response = await app.inject({ url: `/api/v1/things?${query}` });
  return { status: response.statusCode, body: response.json() };
}

describe('a request with errors', () => {
  it('gets all of them at once, from all parts of the request', async () => {
    const options = { id: 'seven', query: '?dry_run=perhaps&limit=10&verbose=1', headers: { 'idempotency-key': 'too long' } };
    const { body } = await patch({ name: 'x', severity: 'medium', color: 'red', inner: { deep: 1, other: 2 } }, options);
    expect(body.errors).toEqual([
      { in: 'path', path: '/id', code: 'wrong_format', detail: 'must be a UUID' },
      { in: 'query', path: '/verbose', code: 'unknown_parameter', detail: 'is an unknown parameter (allowed: dry_run, limit)' },
      { in: 'query', path: '/dry_run', code: 'wrong_type', detail: 'must be of type boolean' },
      { in: 'query', path: '/limit', code: 'out_of_range', detail: 'must be between 1 and 9' },
      { in: 'header', path: '/idempotency-key', code: 'too_long', detail: 'must have at most 5 characters' },
      { in: 'body', path: '/color', code: 'unknown_field', detail: 'is an unknown field (allowed: name, severity, expires_at, owner, tags, inner, a/b~c)' },
      { in: 'body', path: '/name', code: 'too_short', detail: 'must have at least 2 characters' },
      { in: 'body', path: '/severity', code: 'not_allowed', detail: 'must be one of: low, high' },
      { in: 'body', path: '/inner/other', code: 'unknown_field', detail: 'is an unknown field (allowed: deep)' },
      { in: 'body', path: '/inner/deep', code: 'wrong_type', detail: 'must be of type string' },
    ]);
    expect(body.detail).toMatch(/^The request has 10 errors: \/id: must be a UUID; .*; and 7 more\.$/);
  });

  it.each([
    [{ tags: ['a', 'a'] }, '/tags', 'repeated'],
    [{ tags: ['a', 'b', 'c'] }, '/tags', 'too_long'],
    [{ tags: 'a' }, '/tags', 'wrong_type'],
    [{ tags: ['a', 7] }, '/tags/1', 'wrong_type'],
    [{ 'a/b~c': 'x' }, '/a~1b~0c', 'wrong_type'],
    [{ 'a/b~c': 1.5 }, '/a~1b~0c', 'wrong_type'],
    [{ inner: {} }, '/inner/deep', 'required'],
    [{ '~/': 1 }, '/~0~1', 'unknown_field'],
    [{}, '', 'too_short'],
    [[], '', 'wrong_type'],
    ['text', '', 'wrong_type'],
    [null, '', 'wrong_type'],
    [{ name: 'a\u0000b' }, '/name', 'invalid_character'],
    [{ name: 'a\ud800' }, '/name', 'invalid_character'],
    [{ tags: ['\udc00'] }, '/tags/0', 'invalid_character'],
    [{ name: '😀' }, '/name', 'too_short'],
  ])('gets the path of each error: %j', async (body, path, code) => {
    expect(await errorsOf(body)).toContainEqual(expect.objectContaining({ in: 'body', path, code }));
  });

  it('is not repaired by coercing types in the body', async () => {
    for (const body of [{ name: 12 }, { name: true }, { 'a/b~c': '1' }, { expires_at: 0 }, { inner: 'deep' }, { severity: ['low'] }]) {
      expect((await errorsOf(body))?.map(({ code }) => code)).toContain('wrong_type');
    }
  });

  it('gets a response of limited size', async () => {
    const long = await patch({ ['k'.repeat(500_000)]: 1 });
    expect(JSON.stringify(long.body).length).toBeLessThan(2_000);
    const many = await patch(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, '\u0000'])));
    expect(many.body.errors).toHaveLength(100);
    expect(many.body.detail).toContain('and');
  });
});

describe('a merge patch', () => {
  it('keeps absent fields and accepts null for nullable fields', async () => {
    expect((await patch({ expires_at: null })).body.body).toEqual({ expires_at: null });
    expect((await patch({ owner: null, name: 'ab' })).body.body).toEqual({ owner: null, name: 'ab' });
  });

  it('refuses null for other fields', async () => {
    expect(await errorsOf({ name: null, severity: null })).toEqual(
      expect.arrayContaining([
        { in: 'body', path: '/name', code: 'wrong_type', detail: 'must be of type string' },
        { in: 'body', path: '/severity', code: 'wrong_type', detail: 'must be of type string' },
      ]),
    );
    expect(await errorsOf({ owner: 'x' })).toContainEqual(expect.objectContaining({ detail: 'must be one of: low, high, null' }));
  });
});

describe('a parameter', () => {
  it('is converted from text, or set to its default', async () => {
    expect((await patch({ name: 'ab' }, { query: '?dry_run=true&limit=7' })).body.query).toEqual({ dry_run: true, limit: 7 });
    expect((await patch({ name: 'ab' })).body.query).toEqual({ limit: 3 });
  });

  it.each(['', 'x', '1.5', '-1', '0', '10', '99999999999999999999', 'null', '[1]', 'Infinity'])('is refused outside of its range (limit=%s)', async (limit) => {
    expect((await errorsOf({ name: 'ab' }, { query: `?limit=${limit}` }))?.map(({ path }) => path)).toContain('/limit');
  });

  it('with a single value must not be repeated', async () => {
    expect(await errorsOf({ name: 'ab' }, { query: '?limit=1&limit=2' })).toEqual([
      { in: 'query', path: '/limit', code: 'repeated', detail: 'must not be repeated' },
    ]);
    expect((await list('sort=a&sort=-a')).status).toBe(400);
  });

  it('with several values accepts commas or repetition', async () => {
    const answers = await Promise.all(['severity=low,high', 'severity=low&severity=high', 'severity=low%2Chigh'].map(list));
    for (const { body } of answers) expect(body).toEqual({ severity: ['low', 'high'], sort: 'a' });
    expect((await list('severity=high')).body.severity).toEqual(['high']);
    expect((await list('severity=low,urgent')).body.errors).toEqual([
      { in: 'query', path: '/severity/1', code: 'not_allowed', detail: 'must be one of: low, high' },
    ]);
  });

  it.each(['x=1', '__proto__=1', 'constructor=1', 'toString=1', 'severity%00=low'])('is refused if it is unknown (%s)', async (query) => {
    const { status, body } = await list(query);
    expect(status).toBe(400);
    expect(body.errors).toContainEqual(
      expect.objectContaining({ in: 'query', code: 'unknown_parameter', detail: 'is an unknown parameter (allowed: severity, from, sort)' }),
    );
  });

  it('is refused if the route has none', async () => {
    const response = await app.inject({ url: '/api/v1/plain?a=1' });
    expect(response.json().errors).toEqual([{ in: 'query', path: '/a', code: 'unknown_parameter', detail: 'is an unknown parameter (none are allowed)' }]);
  });
});

describe('a date or date-time', () => {
  it.each(['2026-11-15', '2028-02-29', '2026-11-15T09:30:00Z', '2026-11-15t09:30:00.123456z', '2026-11-15T09:30:00+02:00', '0001-01-01'])(
    'is %s',
    async (text) => {
      expect((await list(`from=${encodeURIComponent(text)}`)).status).toBe(200);
    },
  );

  it.each([
    '2026-02-30',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-1-1',
    '20261115',
    '2026-11-15T25:00:00Z',
    '2026-11-15T09:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-11-15T09:30:00',
    '2026-11-15T09:30:00+2',
    '2026-11-15T09:30:00+02',
    '2026-11-15 09:30:00Z',
    '2026-02-30T00:00:00+14:00',
    '+002026-11-15',
    'yesterday',
    '',
    '1763199000',
  ])('is not %j', async (text) => {
    expect((await list(`from=${encodeURIComponent(text)}`)).body.errors?.[0]).toMatchObject({ path: '/from', code: 'wrong_format' });
    expect((await errorsOf({ expires_at: text }))?.[0]).toMatchObject({ path: '/expires_at', code: 'wrong_format' });
  });

  it('is refused without a time where a date-time is required', async () => {
    expect((await errorsOf({ expires_at: '2026-11-15' }))?.[0]?.detail).toBe('must be a date-time with an offset (2026-11-15T09:30:00Z)');
  });

  it('is accepted only if Date parses it as the same day', async () => {
    const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'));
    const moments = fc.tuple(fc.integer({ min: 0, max: 9999 }), two(13), two(32), two(25), two(61));
    await fc.assert(
      fc.asyncProperty(moments, async ([year, month, day, hour, minute]) => {
        const text = `${String(year).padStart(4, '0')}-${month}-${day}T${hour}:${minute}:00Z`;
        const date = new Date(text);
        const real = !Number.isNaN(date.getTime()) && new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
        expect((await list(`from=${text}`)).status).toBe(real ? 200 : 400);
      }),
      { numRuns: 100 },
    );
  });
});
