import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../testing/http/api.ts';

let api: TestApi;
let cursor: string;
let query: string;

beforeAll(async () => {
  api = await startApi();
  for (let made = 0; made < 3; made++) for (const organization of [api.ours, api.theirs]) await organization.key('viewer');
  query = 'limit=1&sort=-occurred_at&action=api_key.created,api_key.revoked&occurred_from=2020-01-01';
  cursor = await nextCursor(`/api/v1/audit-events?${query}`);
});
afterAll(() => api?.close());

async function get(path: string, key = api.ours.owner) {
  const response = await api.app.inject({ url: path, headers: { authorization: `Bearer ${key}` } });
  return { status: response.statusCode, body: response.json() };
}

async function nextCursor(path: string, key = api.ours.owner): Promise<string> {
  const { body } = await get(path, key);
  expect(body.page.next_cursor).toBeTypeOf('string');
  return body.page.next_cursor;
}

async function expectRefused(path: string, key = api.ours.owner): Promise<void> {
  const { status, body } = await get(path, key);
  expect.soft([status, body.code], path).toEqual([400, 'invalid_cursor']);
  expect.soft(body.errors).toEqual([expect.objectContaining({ in: 'query', path: '/cursor', code: 'invalid_cursor' })]);
}

describe('a cursor', () => {
  it('is accepted with another `limit` or `total`', async () => {
    const here = `/api/v1/audit-events?${query}&cursor=${cursor}`;
    expect((await get(here)).status).toBe(200);
    expect((await get(`${here.replace('limit=1', 'limit=200')}&total=exact`)).status).toBe(200);
    expect((await get(here.replace('action=api_key.created,api_key.revoked', 'action=api_key.created&action=api_key.revoked'))).status).toBe(200);
    const turned = 'action=api_key.revoked,api_key.created,api_key.revoked';
    expect((await get(here.replace('action=api_key.created,api_key.revoked', turned))).status).toBe(200);
    const parts = query.split('&').reverse().join('&');
    expect((await get(`/api/v1/audit-events?cursor=${cursor}&${parts}`)).status).toBe(200);
  });

  it('is refused if any character is changed', async () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const changed = [...cursor].flatMap((character, index) => {
      const other = alphabet[(alphabet.indexOf(character) + 1) % 64] ?? 'A';
      return `${cursor.slice(0, index)}${other}${cursor.slice(index + 1)}`;
    });
    for (const forged of changed) await expectRefused(`/api/v1/audit-events?${query}&cursor=${forged}`);
    for (const other of alphabet.replace(cursor.at(-1) ?? '', '')) await expectRefused(`/api/v1/audit-events?${query}&cursor=${cursor.slice(0, -1)}${other}`);
  });

  it('is refused if it is truncated or extended', async () => {
    for (let length = 1; length < cursor.length; length++) await expectRefused(`/api/v1/audit-events?${query}&cursor=${cursor.slice(0, length)}`);
    for (const forged of [`${cursor}A`, `${cursor}=`, `${cursor}.`, `${cursor}.A`, `A${cursor}`, `.${cursor}`, '.', 'null', '%F0%9F%98%80', `${cursor}%20`]) {
      await expectRefused(`/api/v1/audit-events?${query}&cursor=${forged}`);
    }
  });

  it('is refused for other filters', async () => {
    const others = [
      query.replace('&occurred_from=2020-01-01', ''),
      query.replace('2020-01-01', '2020-01-02'),
      query.replace(',api_key.revoked', ''),
      `${query}&object_type=api_key`,
      `${query}&request_id=x`,
    ];
    for (const other of others) await expectRefused(`/api/v1/audit-events?${other}&cursor=${cursor}`);
  });

  it('is refused for another sort order', async () => {
    await expectRefused(`/api/v1/audit-events?${query.replace('-occurred_at', 'occurred_at')}&cursor=${cursor}`);
  });

  it('is refused for another list', async () => {
    const keys = await nextCursor('/api/v1/api-keys?limit=1');
    await expectRefused(`/api/v1/members?limit=1&cursor=${keys}`);
    await expectRefused(`/api/v1/audit-events?limit=1&cursor=${keys}`);
    await expectRefused(`/api/v1/api-keys?limit=1&cursor=${cursor}`);
  });

  it('is accepted for any caller of the same organization, and refused for another', async () => {
    await expectRefused(`/api/v1/audit-events?${query}&cursor=${cursor}`, api.theirs.owner);
    expect((await get(`/api/v1/audit-events?${query}&cursor=${cursor}`, await api.ours.key('auditor'))).status).toBe(200);
  });

  it('is a validation error if it is empty or too long', async () => {
    for (const given of ['', 'x'.repeat(2_001)]) {
      const { status, body } = await get(`/api/v1/api-keys?cursor=${given}`);
      expect([status, body.code, body.errors[0].path]).toEqual([400, 'validation_failed', '/cursor']);
    }
  });
});
