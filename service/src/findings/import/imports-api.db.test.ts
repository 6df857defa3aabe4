import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker, type Worker } from '../../jobs/worker.ts';
import { type CallOptions, startApi, type TestApi } from '../../testing/http/api.ts';
import { withFailedImport } from '../../testing/http/failed-import.ts';
import { importHandler } from '../handlers.ts';

const LIMIT = 400_000;
interface Import {
  id: string;
  status: string;
  counts: Record<string, number>;
  rejected: { place: string; reason: string }[];
  errors: { path: string }[];
  error: string;
}

let api: TestApi;
let worker: Worker;
beforeAll(async () => {
  api = await startApi({ config: { RRS_REPORT_LIMIT: String(LIMIT) } });
  worker = await startWorker({
    url: api.databaseUrl,
    db: api.db,
    handlers: [importHandler(api.blobs, api.follower)],
    concurrency: 2,
    log: { info: () => {}, error: () => {} },
  });
});
afterAll(async () => {
  await worker?.stop();
  await api?.close();
});

const cve = (number: number) => `CVE-2024-${String(number).padStart(4, '0')}`;
const vulnerability = (number: number, extra: object = {}) => ({
  VulnerabilityID: cve(number),
  PkgName: 'openssl',
  InstalledVersion: '3.0.0',
  Severity: 'HIGH',
  Title: 'A weakness',
  ...extra,
});
const trivy = (name: string, vulnerabilities: object[]) =>
  JSON.stringify({
    SchemaVersion: 2,
    ArtifactName: name,
    ArtifactType: 'container_image',
    Results: [{ Target: `${name} (debian 12)`, Class: 'os-pkgs', Type: 'debian', Vulnerabilities: vulnerabilities }],
  });
const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

async function send(
  body: string | Uint8Array,
  { query = {}, headers = {}, as = api.ours.owner }: { query?: Record<string, string>; headers?: Record<string, string>; as?: string } = {},
) {
  const answer = await api.call('POST', `/api/v1/imports?${new URLSearchParams(query)}`, {
    as,
    body,
    headers: { 'content-type': 'application/octet-stream', prefer: 'wait=20', ...headers },
  });
  const { body: shown } = await withFailedImport(api, answer, as);
  return { status: answer.status, headers: answer.headers, body: shown as Import };
}
async function sendForm(parts: Record<string, string | Blob>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts)) typeof value === 'string' ? form.append(name, value) : form.append(name, value, 'scan.json');
  const response = await fetch(`${api.url}/api/v1/imports`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${api.ours.owner}`, prefer: 'wait=20' },
  });
  return { status: response.status, body: (await response.json()) as Import };
}
const get = (path: string, options: CallOptions = {}) => api.call('GET', `/api/v1${path}`, { as: api.ours.owner, ...options });

describe('POST /imports', () => {
  it('accepts a raw report, detects its format and stores the file', async () => {
    const report = trivy('raw:1', [vulnerability(1), vulnerability(2)]);
    const answer = await send(report, { query: { filename: 'trivy.json' } });
    expect(answer).toMatchObject({
      status: 202,
      body: {
        status: 'succeeded',
        format: 'trivy',
        filename: 'trivy.json',
        sha256: sha256(report),
        bytes: report.length,
        counts: { received: 2, created: 2, rejected: 0 },
        created_by: 'owner of ours',
      },
    });
    expect(answer.headers.get('location')).toBe(`/api/v1/imports/${answer.body.id}`);
    expect(answer.headers.get('preference-applied')).toBe('wait=20');
    const stored = await api.blobs.get(sha256(report));
    expect(stored && (await text(stored))).toBe(report);
    expect(await get('/findings?asset=raw')).toMatchObject({ body: { data: [{ sources: [{ provider: 'trivy' }] }, {}] } });
    expect(await send(report)).toMatchObject({ body: { counts: { created: 0, unchanged: 2 } } });
  });

  it('does not wait without a Prefer header', async () => {
    const answer = await send(trivy('raw:2', [vulnerability(1)]), { headers: { prefer: '' } });
    expect(answer).toMatchObject({ status: 202 });
    expect(['queued', 'running', 'succeeded']).toContain(answer.body.status);
    await expect
      .poll(async () => (await get(`/imports/${answer.body.id}`)).body, { timeout: 10_000 })
      .toMatchObject({ status: 'succeeded', progress: { records_read: 1 } });
  });

  it('is refused if the request waited and the import failed, and only then', async () => {
    const failed = await api.call('POST', '/api/v1/imports', {
      as: api.ours.owner,
      body: 'hello',
      headers: { 'content-type': 'text/plain', prefer: 'wait=20' },
    });
    expect(failed).toMatchObject({ status: 422, body: { code: 'import_failed', detail: expect.stringContaining('plain text') } });
    expect(await get((failed.headers.get('location') ?? '').replace('/api/v1', ''))).toMatchObject({ status: 200, body: { status: 'failed' } });
    expect(await send('hello', { headers: { prefer: '' } })).toMatchObject({ status: 202 });
  });

  it('with an Idempotency-Key returns the same import for the same file, and refuses another file or scope', async () => {
    const report = trivy('once:1', [vulnerability(1)]);
    const headers = { 'idempotency-key': 'build 17' };
    const first = await send(report, { headers });
    const again = await send(report, { headers });
    expect(again).toMatchObject({ status: 202, body: { id: first.body.id, status: 'succeeded' } });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await send(trivy('once:1', [vulnerability(2)]), { headers })).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    expect(await send(report, { headers, query: { dry_run: 'true' } })).toMatchObject({ status: 422 });
    expect((await send(report, { headers, as: await api.ours.key('analyst') })).body.id).not.toBe(first.body.id);
    const both = await Promise.all([1, 2].map(() => send(report, { headers: { 'idempotency-key': 'build 18' } })));
    expect(both[0]?.body.id).toBe(both[1]?.body.id);
  });

  it('accepts a form with fields and a file', async () => {
    const scope = { coverage: 'complete', name: 'nightly' };
    const report = trivy('form:1', [vulnerability(1)]);
    const answer = await sendForm({ format: 'trivy', scan_scope: JSON.stringify(scope), dry_run: 'true', file: new Blob([report]) });
    expect(answer).toMatchObject({
      status: 202,
      body: { status: 'succeeded', filename: 'scan.json', dry_run: true, scan_scope: scope, sha256: sha256(report), counts: { created: 1 } },
    });
    expect(await get('/findings?asset=form:1')).toMatchObject({ body: { data: [] } });
    expect(await sendForm({ format: 'trivy' })).toMatchObject({ status: 400, body: { errors: [{ path: '/file' }] } });
  });

  it('accepts gzip and reports damaged files', async () => {
    const packed = gzipSync(trivy('gzip:1', [vulnerability(1)]));
    expect(await send(packed)).toMatchObject({ body: { status: 'succeeded', bytes: packed.length, counts: { created: 1 } } });
    expect(await send(packed.subarray(0, packed.length - 12))).toMatchObject({ body: { status: 'failed', error: expect.stringContaining('compressed file') } });
  });

  it('rejects a file that is not a report and lists the formats', async () => {
    const unknown = await send('hello');
    expect(unknown.body).toMatchObject({ status: 'failed', counts: { received: 0 } });
    expect(unknown.body.error).toContain('It looks like plain text. Set `format` if it is one of: aws_inspector2, ');
    expect((await send('{"results":[]}')).body).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('Set `format` to one of: osv_scanner, semgrep, tfsec.'),
    });
    expect((await send('{"a": 1}', { query: { format: 'trivy' } })).body).toMatchObject({ status: 'failed', error: expect.stringContaining('SchemaVersion') });
    expect((await send(trivy('cut:1', [vulnerability(1)]).slice(0, -20))).body).toMatchObject({ status: 'failed', counts: { created: 0 } });
    expect(await get('/findings?asset=cut:1')).toMatchObject({ body: { data: [] } });
  });

  it.each<[Record<string, string>, string[]]>([
    [{ format: 'word' }, ['/format']],
    [{ frmat: 'trivy' }, ['/frmat']],
    [{ scan_scope: 'all' }, ['/scan_scope']],
    [{ scan_scope: 'null' }, ['/scan_scope']],
    [{ scan_scope: '{"coverage":"whole"}' }, ['/scan_scope/coverage']],
    [{ scan_scope: '{"started_at":"soon"}' }, ['/scan_scope/started_at']],
    [{ scan_scope: '{"asset":{"type":"host"}}' }, ['/scan_scope/asset/name']],
    [{ scan_scope: '{"asset":{"type":"host","name":" "}}' }, ['/scan_scope/asset/name']],
    [{ scan_scope: '{"name":"a\\u0000"}' }, ['/scan_scope/name']],
    [{ scan_scope: '{"scope":1}' }, ['/scan_scope/scope']],
    [{ dry_run: 'maybe' }, ['/dry_run']],
  ])('rejects %j', async (query, paths) => {
    const answer = await send(trivy('x:1', []), { query });
    expect(answer.status).toBe(400);
    expect([...new Set(answer.body.errors.map(({ path }) => path))]).toEqual(paths);
  });

  it('lists the allowed values for a mistake in the scope', async () => {
    const scan_scope = '{"coverage":"whole","scope":1,"asset":{"type":"car","name":"x"}}';
    const { body } = await send(trivy('x:1', []), { query: { scan_scope } });
    const said = body.errors as unknown as { path: string; code: string; detail: string }[];
    expect(said).toEqual([
      expect.objectContaining({ path: '/scan_scope/scope', code: 'unknown_field', detail: expect.stringContaining('coverage, version, track') }),
      expect.objectContaining({ path: '/scan_scope/coverage', code: 'not_allowed', detail: 'must be one of: complete, partial' }),
      expect.objectContaining({ path: '/scan_scope/asset/type', code: 'not_allowed', detail: expect.stringContaining('host') }),
    ]);
  });

  it('reports whether a mistake is in the query or in the form', async () => {
    const answer = await sendForm({ dry_run: 'maybe', file: new Blob([trivy('x:1', [])]) });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ in: 'body', path: '/dry_run' }] } });
    expect(await send(trivy('x:1', []), { query: { dry_run: 'maybe' } })).toMatchObject({ status: 400, body: { errors: [{ in: 'query', path: '/dry_run' }] } });
  });

  it('rejects files that are too large, raw and in a form', async () => {
    const large = trivy('large:1', [vulnerability(1, { Description: 'x'.repeat(LIMIT) })]);
    expect(await send(large)).toMatchObject({ status: 413 });
    expect(await sendForm({ file: new Blob([large]) })).toMatchObject({ status: 413 });
  });

  it('is listed by status and format', async () => {
    const listed = async (query: string) => ((await get(`/imports?limit=200&${query}`)).body as { data: { status: string; format: string | null }[] }).data;
    const all = await listed('');
    expect(new Set(all.map(({ status }) => status))).toContain('failed');
    expect(await listed('status=failed')).toEqual(all.filter(({ status }) => status === 'failed'));
    expect(await listed('status=failed,succeeded&format=trivy,nessus')).toEqual(
      all.filter(({ status, format }) => ['failed', 'succeeded'].includes(status) && format === 'trivy'),
    );
    expect(await listed('format=trivy')).not.toEqual([]);
    expect(await get('/imports?status=done&format=word')).toMatchObject({ status: 400, body: { errors: [{ path: '/status/0' }, { path: '/format/0' }] } });
  });

  it('requires the permission', async () => {
    const viewer = await api.ours.key('viewer');
    expect(await send('x', { as: viewer })).toMatchObject({ status: 403 });
    expect(await get('/imports', { as: viewer })).toMatchObject({ status: 200 });
  });
});

describe('rejected records', () => {
  it('have a position and a reason, are all counted, and the first 1,000 are stored', async () => {
    const bad = Array.from({ length: 1_500 }, (_, index) => (index % 2 === 0 ? { VulnerabilityID: cve(index) } : 'x'));
    const { body } = await send(trivy('bad:1', [vulnerability(1), ...(bad as object[]), vulnerability(2)]));
    expect(body).toMatchObject({ status: 'succeeded', counts: { received: 1_502, created: 2, rejected: 1_500 } });
    expect(body.rejected).toHaveLength(1_000);
    expect(body.rejected[0]).toEqual({ place: 'Results[0].Vulnerabilities[1]', reason: 'PkgName is missing' });
    const { received, created = 0, updated = 0, unchanged = 0, reopened = 0, rejected = 0 } = body.counts;
    expect(received).toBe(created + updated + unchanged + reopened + rejected);
    const { data } = (await api.call('GET', '/api/v1/imports?limit=1', { as: api.ours.owner })).body as { data: Import[] };
    expect(data[0]).toMatchObject({ id: body.id, counts: { rejected: 1_500 } });
    expect(data[0]).not.toHaveProperty('rejected');
  });

  it('fail the import if there are no others', async () => {
    const bad = { VulnerabilityID: cve(1) };
    const why = 'Results[0].Vulnerabilities[0]: PkgName is missing.';
    expect((await send(trivy('bad:2', [bad]))).body).toMatchObject({ error: `The only record was rejected. ${why}` });
    expect((await send(trivy('bad:3', [bad, bad]))).body).toMatchObject({ error: `All 2 records were rejected. The first one, ${why}` });
  });
});

describe('imports', () => {
  it('belong to one organization', async () => {
    const report = trivy('both:1', [vulnerability(1)]);
    const ours = await send(report);
    expect(await send(report, { as: api.theirs.owner })).toMatchObject({ body: { counts: { created: 1 } } });
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/confirm'],
      ['POST', '/discard'],
    ] as const) {
      expect((await api.call(method, `/api/v1/imports/${ours.body.id}${path}`, { as: api.theirs.owner })).status).toBe(404);
    }
    const theirs = (await get('/imports', { as: api.theirs.owner })).body as { data: Import[] };
    expect(theirs.data).toHaveLength(1);
    const listed = (await get('/imports?limit=2')).body as { data: Import[]; page: { next_cursor: string } };
    expect(listed.data[0]?.id).toBe(ours.body.id);
    expect(listed.page.next_cursor).not.toBeNull();
  });

  it('that do not need confirmation cannot be confirmed', async () => {
    const { body } = await send(trivy('plain:1', []));
    expect(await api.call('POST', `/api/v1/imports/${body.id}/confirm`, { as: api.ours.owner })).toMatchObject({ status: 409 });
  });
});

describe('GET /imports/{id}/changes', () => {
  it('returns what the import changed, in pages, and only to its organization', async () => {
    const { body } = await send(trivy('changes:1', [vulnerability(31, { Severity: 'CRITICAL' }), vulnerability(32, { Severity: 'LOW' })]));
    const first = await get(`/imports/${body.id}/changes?limit=1&total=exact`);
    expect(first).toMatchObject({
      status: 200,
      body: {
        data: [{ kind: 'created', severity: 'critical', from_status: null, to_status: 'open', asset: { type: 'container_image' } }],
        page: { total: { count: 2 } },
      },
    });
    const { next_cursor } = (first.body as { page: { next_cursor: string } }).page;
    expect(await get(`/imports/${body.id}/changes?limit=1&cursor=${next_cursor}`)).toMatchObject({ status: 200, body: { data: [{ severity: 'low' }] } });
    expect(await get(`/imports/${body.id}/changes?kind=closed,reopened`)).toMatchObject({ status: 200, body: { data: [] } });
    expect(await get(`/imports/${body.id}/changes?kind=deleted`)).toMatchObject({ status: 400, body: { errors: [{ path: '/kind/0' }] } });
    expect(await get(`/imports/${body.id}/changes`, { as: api.theirs.owner })).toMatchObject({ status: 404 });
    const { data } = (await get(`/findings?import_id=${body.id}&severity=critical`)).body as { data: { severity: string }[] };
    expect(data).toMatchObject([{ severity: 'critical' }]);
  });
});

describe('POST /findings', () => {
  const create = (body: object, as = api.ours.owner) => api.call('POST', '/api/v1/findings', { as, body });
  const asset = { type: 'host', name: 'manual.example.com' };

  it('creates a manual finding that scanners match later', async () => {
    const answer = await create({
      title: 'Old OpenSSL',
      severity: 'high',
      asset: { type: 'container_image', name: 'manual:1' },
      cves: [cve(7).toLowerCase()],
      location: { component: 'openssl' },
      tags: ['Audit'],
    });
    expect(answer).toMatchObject({ status: 201, body: { status: 'open', cves: [cve(7)], tags: ['Audit'], sources: [{ kind: 'manual' }] } });
    const { id } = answer.body as Import;
    expect(answer.headers.get('location')).toBe(`/api/v1/findings/${id}`);
    expect(await get('/findings?tag=audit&source=manual')).toMatchObject({ body: { data: [{ id }] } });
    expect((await send(trivy('manual:1', [vulnerability(7)]))).body.counts).toMatchObject({ created: 0, updated: 1 });
    expect(await get(`/findings/${id}`)).toMatchObject({ body: { sightings: [{}, {}], tags: expect.arrayContaining(['Audit']) } });
  });

  it('returns 409 with the id of a known finding, and creates two findings without a public id', async () => {
    const known = await create({ title: 'Known', severity: 'low', asset, cves: [cve(8)] });
    const again = await create({ title: 'Other words', severity: 'high', asset: { ...asset, name: 'MANUAL.example.com' }, cves: [cve(8)] });
    expect(again).toMatchObject({ status: 409 });
    expect(JSON.stringify(again.body)).toContain((known.body as Import).id);
    const first = await create({ title: 'Weak password', severity: 'high', asset });
    expect(await create({ title: 'Weak password', severity: 'high', asset_id: (first.body as { asset: { id: string } }).asset.id })).toMatchObject({
      status: 201,
    });
  });

  it('rejects assets of other organizations and a missing asset', async () => {
    const theirs = await create({ title: 'Theirs', severity: 'low', asset }, api.theirs.owner);
    expect(await create({ title: 'x', severity: 'low', asset_id: (theirs.body as { asset: { id: string } }).asset.id })).toMatchObject({ status: 404 });
    expect(await create({ title: 'x', severity: 'low' })).toMatchObject({ status: 400 });
    expect(await create({ title: 'x', severity: 'low', asset, cvss: { vector: 'CVSS:4.0/AV:N' } })).toMatchObject({ status: 400 });
  });
});
