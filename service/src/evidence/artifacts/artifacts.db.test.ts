import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { EVIDENCE, file, sha256, unique, useArtifacts } from '../../testing/evidence/artifacts.ts';
import type { FormPart } from '../../testing/evidence/evidence.ts';
import type { CallOptions } from '../../testing/http/api.ts';

const LIMIT = 200_000;
const { api, item, newItem, send, upload, get, remove, download, history, erase } = useArtifacts({ RRS_ARTIFACT_LIMIT: String(LIMIT) });
const link = (body: object, options: CallOptions = {}) =>
  api().call('POST', `${EVIDENCE}/work-items/${item()}/artifacts`, { as: api().ours.owner, body, ...options });

describe('adding a file', () => {
  it('stores the bytes unchanged, with hash, size, author and time', async () => {
    const content = randomBytes(100_000);
    const fields = { type: 'screenshot', title: 'Console', description: 'after the patch', occurred_at: '2026-11-01T10:00:00+02:00' };
    const { status, headers, body } = await send({ ...fields, file: { name: 'Prüfung.png', content, type: 'text/html' } });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`${EVIDENCE}/artifacts/${body.id}`);
    expect(body).toEqual({
      id: body.id,
      work_item_id: item(),
      ...fields,
      occurred_at: '2026-11-01T08:00:00.000Z',
      captured: true,
      url: null,
      redactions: [],
      capture: null,
      filename: 'Prüfung.png',
      media_type: 'application/octet-stream',
      size: content.length,
      sha256: sha256(content),
      supersedes: null,
      superseded_by: null,
      removed: null,
      added_at: expect.any(String),
      added_by: { type: 'api_key', id: expect.any(String), name: 'owner of ours' },
    });
    expect((await get(`/artifacts/${body.id}`)).body).toEqual(body);
    expect((await download(body.id)).bytes.equals(content)).toBe(true);
    expect(await history(body.id)).toEqual(['artifact.added', 'artifact.downloaded']);
  });

  it('accepts the file before or after the other fields, and stores equal bytes once', async () => {
    const content = unique();
    const first = await send({ file: file(content), type: 'other', title: 'first' });
    const second = await send({ type: 'other', title: 'second', file: file(content) });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.sha256).toBe(second.body.sha256);
    expect(first.body.id).not.toBe(second.body.id);
  });

  it('rejects a file above the limit and stores nothing', async () => {
    const content = randomBytes(LIMIT + 1);
    const { status, body } = await upload(content);
    expect(status).toBe(413);
    expect(body.detail).toContain('200,000 bytes');
    expect(await api().blobs.stat(sha256(content))).toBeNull();
    expect((await upload(content.subarray(0, LIMIT))).status).toBe(201);
  });

  it.each<[string, Record<string, FormPart>, string[]]>([
    ['no file', { type: 'other', title: 'x' }, ['/file']],
    ['neither title nor type', { file: file('x') }, ['/title', '/type']],
    ['an unknown type', { type: 'secret', title: 'x', file: file('x') }, ['/type']],
    ['an unknown field', { type: 'other', title: 'x', url: 'https://example.com', file: file('x') }, ['/url']],
    ['an invalid time', { type: 'other', title: 'x', occurred_at: 'yesterday', file: file('x') }, ['/occurred_at']],
    ['a title that is too long', { type: 'other', title: 'x'.repeat(301), file: file('x') }, ['/title']],
    ['a character that cannot be stored', { type: 'other', title: 'a\u0000b', file: file('x') }, ['/title']],
    ['a file part with another name', { type: 'other', title: 'x', attachment: file('x') }, ['/attachment']],
  ])('rejects a form with %s', async (_, parts, paths) => {
    const { status, body } = await send(parts);
    expect(status, JSON.stringify(body)).toBe(400);
    expect(body.errors.map(({ path }) => path).sort()).toEqual(paths);
  });

  it('erases the file of a rejected request', async () => {
    const content = unique();
    expect((await send({ type: 'other', file: file(content) })).status).toBe(400);
    expect((await upload(content, { supersedes: newId() })).status).toBe(404);
    await erase();
    expect(await api().blobs.stat(sha256(content))).toBeNull();
  });

  it('rejects a form with two files', async () => {
    const form = new FormData();
    for (const name of ['type', 'title']) form.append(name, 'other');
    for (const content of ['one', 'two']) form.append('file', new Blob([content]), 'x');
    const response = await fetch(`${api().url}${EVIDENCE}/work-items/${item()}/artifacts`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${api().ours.owner}` },
    });
    expect([response.status, ((await response.json()) as { errors: { path: string }[] }).errors[0]?.path]).toEqual([400, '/file']);
  });

  it.each([
    ['a form without a boundary', 'multipart/form-data', 'x'],
    ['a truncated form', 'multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc'],
    ['an empty form', 'multipart/form-data; boundary=x', ''],
  ])('rejects %s', async (_, type, body) => {
    expect((await link({}, { body, headers: { 'content-type': type } })).status).toBe(400);
  });

  it('rejects a body that is neither a form nor JSON', async () => {
    expect((await link({}, { body: 'bytes', headers: { 'content-type': 'application/octet-stream' } })).status).toBe(415);
  });

  it('adds the artifact once per Idempotency-Key', async () => {
    const [content, key] = [unique(), { 'idempotency-key': newId() }];
    const first = await upload(content, {}, { headers: key });
    const again = await upload(content, {}, { headers: key });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await upload(unique(), {}, { headers: key })).status).toBe(422);
  });

  it('accepts artifacts for a closed work item', async () => {
    const closed = await newItem();
    const done = await api().call('PATCH', `/api/v1/work-items/${closed}`, { as: api().ours.owner, body: { status: 'cancelled', reason: 'not needed' } });
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    expect((await upload(unique(), {}, { to: closed })).status).toBe(201);
  });
});

describe('adding a link', () => {
  it('removes secrets from the URL, reports the redactions and stores no content', async () => {
    const url = 'https://ada:hunter2@git.example.com/pulls/17?private_token=hunter2&page=2';
    const { status, body } = await link({ type: 'pull_request', title: 'Fix', url });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      captured: false,
      url: 'https://git.example.com/pulls/17?private_token=REDACTED&page=2',
      redactions: [{ pointer: '/url' }, { pointer: '/url' }],
      sha256: null,
      size: null,
      media_type: null,
      filename: null,
    });
    const { rows } = await api().db.withSystem((tx) =>
      sql<{
        all: string;
      }>`select (select json_agg(a)::text from audit_events a) || (select json_agg(e)::text from events e) || (select json_agg(r)::text from artifacts r) as all`.execute(
        tx,
      ),
    );
    expect(rows[0]?.all).toContain('REDACTED');
    expect(rows[0]?.all).not.toContain('hunter2');
    expect(await get(`/artifacts/${(body as { id: string }).id}/content`)).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('not captured') },
    });
  });

  it.each<[object, string]>([
    [{ type: 'other', title: 'x', url: 'ftp://example.com' }, '/url'],
    [{ type: 'other', title: 'x', url: 'javascript:alert(1)' }, '/url'],
    [{ type: 'other', title: 'x' }, '/url'],
    [{ type: 'other', title: 'x', url: 'https://example.com', file: 'x' }, '/file'],
    [[], ''],
  ])('rejects %j', async (body, path) => {
    const answer = await link(body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  it('adds the artifact once per Idempotency-Key', async () => {
    const [body, headers] = [{ type: 'commit', title: 'x', url: 'https://example.com' }, { 'idempotency-key': newId() }];
    expect((await link(body, { headers })).body).toEqual((await link(body, { headers })).body);
  });
});

describe('superseding an artifact', () => {
  it('replaces an artifact of the same work item, once', async () => {
    const old = (await upload(unique())).body;
    const { status, body } = await upload(unique(), { supersedes: old.id });
    expect(status).toBe(201);
    expect((await get(`/artifacts/${old.id}`)).body).toMatchObject({ superseded_by: body.id });
    expect(await history(old.id)).toEqual(['artifact.added', 'artifact.superseded']);
    expect(await upload(unique(), { supersedes: old.id })).toMatchObject({ status: 409, body: { detail: expect.stringContaining('already superseded') } });
  });

  it('lets only one of two concurrent requests succeed', async () => {
    const old = (await upload(unique())).body;
    const both = await Promise.all([upload(unique(), { supersedes: old.id }), upload(unique(), { supersedes: old.id })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('rejects artifacts of another work item, removed artifacts and those of another organization', async () => {
    const elsewhere = (await upload(unique(), {}, { to: await newItem() })).body;
    expect(await upload(unique(), { supersedes: elsewhere.id })).toMatchObject({ status: 409, body: { detail: expect.stringContaining('another work item') } });
    const gone = (await upload(unique())).body;
    await remove(gone.id);
    expect(await upload(unique(), { supersedes: gone.id })).toMatchObject({ status: 409, body: { detail: expect.stringContaining('removed') } });
    const theirs = (await upload(unique(), {}, { to: await newItem(api().theirs), as: api().theirs.owner })).body;
    expect((await upload(unique(), { supersedes: theirs.id })).status).toBe(404);
  });
});

describe('listing artifacts', () => {
  it('returns pages, newest first, and filters by type, superseded and removed', async () => {
    const to = await newItem();
    const first = (await upload(unique(), { type: 'commit' }, { to })).body;
    const second = (await upload(unique(), { type: 'approval', supersedes: first.id }, { to })).body;
    const third = (await upload(unique(), { type: 'commit' }, { to })).body;
    await remove(third.id);
    const listed = async (query: string) => {
      const { status, body } = await get(`/work-items/${to}/artifacts?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return (body as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    expect(await listed('')).toEqual([third.id, second.id, first.id]);
    expect(await listed('sort=added_at')).toEqual([first.id, second.id, third.id]);
    expect(await listed('type=commit')).toEqual([third.id, first.id]);
    expect(await listed('type=commit,approval&removed=false')).toEqual([second.id, first.id]);
    expect(await listed('superseded=true')).toEqual([first.id]);
    expect(await listed('superseded=false&removed=false')).toEqual([second.id]);
    expect(await listed('removed=true')).toEqual([third.id]);
    const page = (await get(`/work-items/${to}/artifacts?limit=2&total=bounded`)).body as { data: object[]; page: { next_cursor: string; total: object } };
    expect(page.page.total).toEqual({ count: 3, relation: 'exact' });
    expect(await listed(`limit=2&cursor=${page.page.next_cursor}`)).toEqual([first.id]);
    expect((await get(`/work-items/${item()}/artifacts?limit=2&cursor=${page.page.next_cursor}`)).status).toBe(400);
  });

  it.each(['type=secret', 'removed=maybe', 'sort=title', 'color=red'])('rejects %s', async (query) => {
    expect((await get(`/work-items/${item()}/artifacts?${query}`)).status).toBe(400);
  });

  it('returns 404 for an unknown work item and for one of another organization', async () => {
    for (const id of [newId(), await newItem(api().theirs)]) {
      expect((await get(`/work-items/${id}/artifacts`)).status).toBe(404);
      expect((await upload(unique(), {}, { to: id })).status).toBe(404);
    }
  });
});
