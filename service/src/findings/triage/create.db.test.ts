import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const hours = (count: number): string => new Date(Date.now() + count * 3_600_000).toISOString();
const create = (extra: object) => {
  const body = { title: 'Weak', severity: 'high', asset: { type: 'host', name: 'web.example.com' }, ...extra };
  return api.call('POST', '/api/v1/findings', { as: api.ours.owner, body });
};

it.each([
  ['/asset/name', { asset: { type: 'host', name: '  ' } }],
  ['/asset/name', { asset: { type: 'host', name: '\u200b\u2060' } }],
  ['/title', { title: ' \n ' }],
  ['/first_seen', { first_seen: '2099-01-01T00:00:00Z' }],
  ['/first_seen', { first_seen: hours(25) }],
])('rejects a finding with an invalid %s: %j', async (path, extra) => {
  const { status, body } = await create(extra);
  const { code, errors } = body as { code: string; errors: { path: string }[] };
  expect([status, code, ...new Set(errors.map((error) => error.path))]).toEqual([400, 'validation_failed', path]);
});

it.each([{ first_seen: hours(23) }, { first_seen: hours(-23) }, { asset: { type: 'host', name: '/' } }, { asset: { type: 'host', name: '服务器' } }])(
  'a finding is created with %j, and was never first seen in the future',
  async (extra) => {
    const { status, body } = await create(extra);
    expect(status).toBe(201);
    expect(Date.parse((body as { first_seen: string }).first_seen)).toBeLessThanOrEqual(Date.now());
  },
);
