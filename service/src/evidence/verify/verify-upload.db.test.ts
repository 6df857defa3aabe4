import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { topFolder, writeZip } from '@rrs/evidence-format';
import { emptyTrust } from '@rrs/verifier';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { verifyInChild } from './verify-in-child.ts';
import { verifyUpload } from './verify-upload.ts';

const LIMIT = 2_000_000;
const world = usePackages({ config: { RRS_REPORT_LIMIT: String(LIMIT) } });
const elsewhere = usePackages();
const VERIFY = '/api/v1/riskops-evidence/verify';

interface Verified {
  verdict: string;
  failures: { code: string; file: string }[];
  notes: string[];
  package_id: string | null;
  superseded: string | null;
}

let item: string;
let sealed: PackageBody;
let zip: Buffer;
beforeAll(async () => {
  ({ id: item } = await world.post<{ id: string }>('/work-items', { title: 'Verified' }));
  sealed = await world.seal(item, { formats: ['csv'] });
  zip = await world.download(sealed.package_id);
});

async function verify(body: Uint8Array | string, { as = world.api().ours.owner, type = 'application/zip' } = {}) {
  const answer = await world.api().call('POST', VERIFY, { as, body, headers: { 'content-type': type } });
  return { status: answer.status, body: answer.body as Verified };
}
async function verifyForm(parts: Record<string, string | Uint8Array>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts))
    typeof value === 'string' ? form.append(name, value) : form.append(name, new Blob([value as Uint8Array<ArrayBuffer>]), 'package.zip');
  const answer = await fetch(world.api().url + VERIFY, { method: 'POST', body: form, headers: { authorization: `Bearer ${world.api().ours.owner}` } });
  return { status: answer.status, body: (await answer.json()) as Verified };
}
/** Flips one bit of a file. Archives are not compressed. */
async function tampered(format: string): Promise<Buffer> {
  const copy = Buffer.from(zip);
  const at = copy.indexOf(await world.download(sealed.package_id, format));
  expect(at).toBeGreaterThan(0);
  copy[at + 2] = (copy[at + 2] ?? 0) ^ 1;
  return copy;
}
const receipts = async () => {
  const { rows } = await world
    .api()
    .db.withSystem((tx) => sql<{ count: number }>`select count(*)::int from package_receipts where kind = 'verification'`.execute(tx));
  return rows[0]?.count;
};
const uploadsSeen = async (orgId: string) => {
  const { rows } = await world
    .api()
    .db.withSystem((tx) =>
      sql<{ after: object }>`select after from audit_events where org_id = ${orgId} and action = 'upload.verified' order by id`.execute(tx),
    );
  return rows.map(({ after }) => after);
};
/** Gives the test its own folder for temporary files. */
function useTemporaryFolder(): () => string[] {
  const folder = mkdtempSync(join(tmpdir(), 'rrs-temporary-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  expect(tmpdir()).toBe(folder);
  return () => readdirSync(folder);
}

describe('an uploaded package', () => {
  it('verifies as a raw body and as a form, with a receipt if it belongs to the caller', async () => {
    const before = (await receipts()) ?? 0;
    for (const answer of [await verify(zip), await verify(zip, { type: 'text/plain' }), await verifyForm({ file: zip })]) {
      expect(answer).toMatchObject({ status: 200, body: { verdict: 'verified', failures: [], package_id: sealed.package_id, superseded: null } });
      expect(answer.body.notes.at(-1)).toMatch(/of your organization, and it is current/);
      expect(answer.body).toMatchObject({
        owner: { organization_id: world.api().ours.id },
        taken_on_trust: expect.arrayContaining(['originals_true', 'no_stamp']),
      });
    }
    expect(await receipts()).toBe(before + 3);
    expect(await uploadsSeen(world.api().ours.id)).toEqual([]);
  });

  it.each([
    ['csv', 'data/findings.csv', 'as it says'],
    ['json', 'data/evidence.json', 'unknown'],
  ])('with a changed %s fails, names the file, and gets no receipt', async (format, path, named) => {
    const before = await receipts();
    const { status, body } = await verify(await tampered(format));
    const package_id = named === 'unknown' ? null : sealed.package_id;
    expect([status, body]).toEqual([200, expect.objectContaining({ verdict: 'failed', package_id, superseded: null })]);
    expect(body.failures.map(({ file }) => file)).toContain(path);
    expect(body.notes.join()).not.toContain('of your organization');
    expect(await receipts()).toBe(before);
    expect((await uploadsSeen(world.api().ours.id)).at(-1)).toEqual({ verdict: 'failed', size: zip.length, package_id });
  });

  it.each([
    ['text', Buffer.from('this is not a package')],
    ['one byte', Buffer.from([0x50])],
    ['a truncated package', null],
    ['an empty archive', Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex')],
  ])('fails if it is %s', async (_, bytes) => {
    expect(await verify(bytes ?? zip.subarray(0, zip.length >> 1))).toMatchObject({
      status: 200,
      body: { verdict: 'failed', package_id: null, superseded: null },
    });
  });

  it('of another installation is not verified', async () => {
    const { id } = await elsewhere.post<{ id: string }>('/work-items', { title: 'Elsewhere' });
    const foreign = await elsewhere.download((await elsewhere.seal(id)).package_id);
    const { status, body } = await verify(foreign);
    expect(status).toBe(200);
    expect(body.verdict).not.toBe('verified');
    expect(body.failures.map(({ code }) => code)).toEqual(expect.arrayContaining(['untrusted_key']));
  });

  it('is reported as superseded only to its own organization', async () => {
    const { theirs } = world.api();
    const own = { as: theirs.owner };
    const { id } = await world.post<{ id: string }>('/work-items', { title: 'Twice' }, theirs.owner);
    const first = await world.seal(id, {}, theirs.owner);
    const bytes = await world.download(first.package_id, 'zip', theirs.owner);
    await world.seal(id, {}, theirs.owner);
    expect((await verify(bytes, own)).body).toMatchObject({ verdict: 'verified', superseded: expect.stringContaining('replaced it') });
    const before = await receipts();
    const { body } = await verify(bytes);
    expect(body).toMatchObject({ verdict: 'verified', superseded: null, package_id: first.package_id });
    expect(body.notes.join()).not.toContain('organization');
    expect(await receipts()).toBe(before);
    expect((await uploadsSeen(world.api().ours.id)).at(-1)).toMatchObject({ package_id: first.package_id, verdict: 'verified' });
  });
});

describe('a hostile package', () => {
  /** The service must keep answering while it reads these. Their hashes and signatures need not be right. */
  const hostile: Record<string, [path: string, content: () => Buffer]> = {
    '24 MB of empty objects': ['data/evidence.json', () => Buffer.from(`[${'{},'.repeat(8_000_000)}{}]`)],
    'a million lines': ['data/audit-trail.jsonl', () => Buffer.alloc(3_000_000, '{}\n')],
  };

  it.each(Object.entries(hostile))('of %s is refused while the service keeps answering', async (_, [path, content]) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of writeZip([{ name: `${topFolder(item, 1)}/${path}`, content: content() }], { crc32 })) pieces.push(piece);
    const { url, ours } = elsewhere.api();
    const body = Buffer.concat(pieces);
    let done = false;
    const upload = fetch(url + VERIFY, { method: 'POST', body, headers: { authorization: `Bearer ${ours.owner}`, 'content-type': 'application/zip' } });
    const verdict = upload
      .then((answer) => answer.json() as Promise<Verified>)
      .finally(() => {
        done = true;
      });
    let slowest = 0;
    while (!done) {
      const before = performance.now();
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - before);
    }
    expect((await verdict).verdict).toBe('failed');
    expect(slowest).toBeLessThan(5_000);
  });

  it('that exceeds the limits of the service gets a clear problem', async () => {
    const source = { size: zip.length, read: async (offset: number, length: number) => zip.subarray(offset, offset + length) };
    await expect(verifyInChild(source, emptyTrust(), { heapMb: 256, timeMs: 1 })).rejects.toMatchObject({
      code: 'unprocessable',
      message: expect.stringMatching(/^The package is not verified: the verification took longer than 0.001 s and was stopped/),
    });
  });
});

describe('the uploaded file', () => {
  it('is required, must be the only part, and must not exceed the limit', async () => {
    const large = Buffer.alloc(LIMIT + 1);
    expect((await verify(large)).status).toBe(413);
    expect((await verifyForm({ file: large })).status).toBe(413);
    expect((await verify(large.subarray(1))).body.verdict).toBe('failed');
    expect((await world.api().call('POST', VERIFY, { as: world.api().ours.owner })).status).toBe(400);
    expect(await verifyForm({ file: zip, more: 'x' })).toMatchObject({ status: 400, body: { errors: [{ path: '/more', code: 'unknown_field' }] } });
    expect(await verifyForm({ other: 'x' })).toMatchObject({ status: 400 });
  });

  it('is unlinked before it is written, so that nothing is left behind', async () => {
    const left = useTemporaryFolder();
    const seen: string[][] = [];
    const watched = (fails: boolean) =>
      Readable.from(
        (async function* () {
          for (const at of [0, 1]) {
            seen.push(left());
            if (fails && at === 1) throw new Error('hung up');
            yield zip.subarray((at * zip.length) >> 1, ((at + 1) * zip.length) >> 1);
          }
        })(),
      );
    const trust = async () => {
      seen.push(left());
      return emptyTrust();
    };
    const { file, report } = await verifyUpload(watched(false), LIMIT, trust);
    expect([file.sha256, report.verdict]).toEqual([sealed.hashes.archive_sha256, 'consistent']);
    await expect(verifyUpload(watched(true), LIMIT, trust)).rejects.toThrow('hung up');
    expect(seen).toEqual([[], [], [], [], []]);
    expect(left()).toEqual([]);
  });

  it('is discarded when the client disconnects', async () => {
    const left = useTemporaryFolder();
    const { port, ours } = world.api();
    const before = [await uploadsSeen(ours.id), await receipts()];
    const headers = { authorization: `Bearer ${ours.owner}`, 'content-type': 'application/zip', 'content-length': zip.length };
    const sending = httpRequest({ port, path: VERIFY, method: 'POST', headers });
    const closed = new Promise((resolve) => sending.once('error', resolve).once('close', resolve));
    await new Promise<void>((resolve) => sending.write(zip.subarray(0, zip.length >> 1), () => resolve()));
    sending.destroy();
    await closed;
    expect((await verify('something else')).status).toBe(200);
    expect(left()).toEqual([]);
    const [uploads, known] = [await uploadsSeen(ours.id), await receipts()];
    expect([uploads.slice(0, -1), known]).toEqual(before);
  });
});
