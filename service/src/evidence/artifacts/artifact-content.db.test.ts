import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { EVIDENCE, file, sha256, unique, useArtifacts } from '../../testing/evidence/artifacts.ts';
import { recordSealedArtifacts } from './artifacts.ts';

const { api, newItem, send, upload, get, remove, download, history, erase } = useArtifacts();

describe('downloading an artifact', () => {
  const content = Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`).join('');
  let id: string;
  beforeAll(async () => {
    id = (await send({ type: 'other', title: 'x', file: file(content, 'Bericht (1); ä.txt') })).body.id;
  });

  it('sends an attachment that browsers do not run, with its hash', async () => {
    const { status, headers, bytes } = await download(id);
    expect([status, bytes.toString()]).toEqual([200, content]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(content.length),
      'content-disposition': `attachment; filename="Bericht (1)_ _.txt"; filename*=UTF-8''Bericht%20%281%29%3B%20%C3%A4.txt`,
      'content-security-policy': expect.stringContaining('sandbox'),
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag: `"${sha256(content)}"`,
      'repr-digest': `sha-256=:${createHash('sha256').update(content).digest('base64')}:`,
    });
  });

  it.each([
    ['<!doctype html><script>alert(1)</script>', 'text/plain; charset=utf-8'],
    ['<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'text/plain; charset=utf-8'],
    ['{"a": 1}', 'application/json'],
  ])('serves %s as %s', async (body, type) => {
    const { body: added } = await send({ type: 'other', title: 'x', file: { name: 'x.html', content: body, type: 'text/html' } });
    const { headers } = await download(added.id);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-disposition')).toMatch(/^attachment;/);
  });

  it.each<[string, number, number]>([
    ['bytes=0-99', 0, 99],
    ['bytes=1000-', 1000, content.length - 1],
    ['bytes=-10', content.length - 10, content.length - 1],
  ])('returns the range %s', async (range, start, end) => {
    const { status, headers, bytes } = await download(id, { range });
    expect(status).toBe(206);
    expect(headers.get('content-range')).toBe(`bytes ${start}-${end}/${content.length}`);
    expect(headers.get('content-length')).toBe(String(end - start + 1));
    expect(bytes.toString()).toBe(content.slice(start, end + 1));
  });

  it('returns the complete content in consecutive ranges', async () => {
    const parts: Buffer[] = [];
    for (let start = 0; start < content.length; start += 7_000) parts.push((await download(id, { range: `bytes=${start}-${start + 6_999}` })).bytes);
    expect(sha256(Buffer.concat(parts))).toBe(sha256(content));
  });

  it('returns 416 with the size for a range beyond the end', async () => {
    const { status, headers } = await download(id, { range: `bytes=${content.length}-` });
    expect([status, headers.get('content-range')]).toEqual([416, `bytes */${content.length}`]);
  });

  it('honours If-Range only with a matching strong ETag, and ignores unsupported ranges', async () => {
    const range = 'bytes=5-9';
    expect((await download(id, { range, 'if-range': `"${sha256(content)}"` })).status).toBe(206);
    for (const other of ['"other"', `W/"${sha256(content)}"`, 'Sun, 15 Nov 2026 00:00:00 GMT']) {
      expect((await download(id, { range, 'if-range': other })).status).toBe(200);
    }
    for (const odd of ['bytes=0-1,3-4', 'bytes=9-1', 'lines=1-2']) expect((await download(id, { range: odd })).status).toBe(200);
  });

  it('returns 304 for a matching If-None-Match and audits only full downloads', async () => {
    const before = (await history(id)).length;
    for (const tag of [`"${sha256(content)}"`, `"x", W/"${sha256(content)}"`, '*']) {
      const { status, bytes, headers } = await download(id, { 'if-none-match': tag });
      expect([status, bytes.length, headers.get('etag')]).toEqual([304, 0, `"${sha256(content)}"`]);
    }
    expect((await download(id, {}, 'HEAD')).status).toBe(200);
    expect(await history(id)).toHaveLength(before);
    expect((await download(id, { 'if-none-match': '"other"' })).status).toBe(200);
    expect(await history(id)).toHaveLength(before + 1);
  });

  it('answers HEAD with the size and no body', async () => {
    const { status, headers, bytes } = await download(id, { range: 'bytes=0-1' }, 'HEAD');
    expect([status, headers.get('content-length'), bytes.length]).toEqual([200, String(content.length), 0]);
  });

  it('supports empty files', async () => {
    const { body } = await upload('');
    expect(body).toMatchObject({ size: 0, media_type: 'application/octet-stream' });
    expect(await download(body.id)).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    expect((await download(body.id, { range: 'bytes=0-' })).status).toBe(416);
  });

  it('returns 404 to other organizations', async () => {
    expect((await get(`/artifacts/${id}/content`, { as: api().theirs.owner })).status).toBe(404);
    expect((await get(`/artifacts/${id}/content`, { as: await api().ours.key('auditor') })).status).toBe(200);
  });
});

describe('removing an artifact', () => {
  it('keeps who removed it and why, and erases the bytes', async () => {
    const content = unique();
    const { id } = (await upload(content)).body;
    const { status, body } = await remove(id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      sha256: sha256(content),
      removed: { reason: 'wrong file', by: { name: 'owner of ours' }, at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) },
    });
    expect((await get(`/artifacts/${id}`)).body).toEqual(body);
    expect(await get(`/artifacts/${id}/content`)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('wrong file') } });
    expect(await api().blobs.stat(sha256(content))).not.toBeNull();
    await erase();
    expect(await api().blobs.stat(sha256(content))).toBeNull();
    const again = await api().call('DELETE', `${EVIDENCE}/artifacts/${id}?reason=again`, { as: api().ours.owner });
    expect(again).toMatchObject({ status: 200, body: { removed: { reason: 'wrong file' } } });
    expect(await history(id)).toEqual(['artifact.added', 'artifact.removed']);
  });

  it('keeps bytes that an artifact of any organization still has', async () => {
    const content = unique();
    const ours = (await upload(content)).body;
    const theirs = (await upload(content, {}, { to: await newItem(api().theirs), as: api().theirs.owner })).body;
    await remove(ours.id);
    await erase();
    expect((await get(`/artifacts/${theirs.id}/content`, { as: api().theirs.owner })).body).toBe(content);
    await remove(theirs.id, { as: api().theirs.owner });
    await erase();
    expect(await api().blobs.stat(sha256(content))).toBeNull();
  });

  it('keeps bytes that were sealed in a package or belong to an import', async () => {
    const [sealed, imported] = [unique(), unique()];
    const { id } = (await upload(sealed)).body;
    const actor = systemActor(api().ours.id, 'test');
    await api().db.withTenant(actor, (tx) => recordSealedArtifacts(tx, actor.orgId, newId(), [id]));
    const report = (await upload(imported)).body;
    await api().call('POST', '/api/v1/imports', { as: api().ours.owner, body: imported, headers: { 'content-type': 'application/octet-stream' } });
    for (const each of [id, report.id]) await remove(each);
    await erase();
    for (const content of [sealed, imported]) expect(await api().blobs.stat(sha256(content))).not.toBeNull();
  });

  it('never erases bytes that are being added at the same time', async () => {
    const content = unique();
    const first = (await upload(content)).body;
    await remove(first.id);
    const [, ...added] = await Promise.all([erase(), ...Array.from({ length: 6 }, () => upload(content))]);
    expect(added.map(({ status }) => status).filter((status) => status !== 201 && status !== 503)).toEqual([]);
    await erase();
    const kept = added.filter(({ status }) => status === 201);
    for (const { body } of kept) expect((await download(body.id)).bytes.toString()).toBe(content);
    expect((await api().blobs.stat(sha256(content))) !== null).toBe(kept.length > 0);
  });

  it('requires a reason and the permission', async () => {
    const { id } = (await upload(unique())).body;
    expect((await api().call('DELETE', `${EVIDENCE}/artifacts/${id}`, { as: api().ours.owner })).status).toBe(400);
    expect((await api().call('DELETE', `${EVIDENCE}/artifacts/${id}?reason=x`, { as: api().ours.owner })).status).toBe(400);
    expect((await remove(id, { as: await api().ours.key('viewer') })).status).toBe(403);
    expect((await remove(id, { as: api().theirs.owner })).status).toBe(404);
    expect((await get(`/artifacts/${id}`)).body).toMatchObject({ removed: null });
  });
});
