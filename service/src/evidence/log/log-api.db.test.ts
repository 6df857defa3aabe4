import { verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ed25519RawFromSpki,
  fromHex,
  leafHash,
  noteKeyIdEcdsa,
  noteKeyIdEd25519,
  parseCheckpoint,
  parseNote,
  spkiFromPem,
  toHex,
  utf8,
  verifyConsistency,
  verifyInclusion,
} from '@rrs/evidence-format';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { startLog } from '../../testing/evidence/evidence.ts';
import { type CallOptions, startApi, type TestApi } from '../../testing/http/api.ts';
import { openSigners, type Signers } from '../keys/keys.ts';
import { logName, signCheckpoint } from './checkpoints.ts';
import { appendLeaf, publishLeaf, recordCheckpoint } from './transparency-log.ts';

const ENTRIES = 11;
let api: TestApi;
let folder: string;
let signers: Signers;
let origin: string;
const packages: string[] = [];

beforeAll(async () => {
  api = await startApi();
  folder = await mkdtemp(join(tmpdir(), 'rrs-log-'));
  signers = await openSigners(api.db, join(folder, 'keys'));
  origin = logName(api.url, api.ours.id);
  for (let index = 0; index < ENTRIES; index++) await seal(`entry ${index}`, index < ENTRIES - 1);
});
afterAll(async () => {
  await api?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Same order as sealing: append in a transaction, sign outside, then publish. Stops after the append unless `finish`. */
async function seal(entry: string, finish: boolean): Promise<void> {
  const orgId = api.ours.id;
  const packageId = newId();
  packages.push(packageId);
  const log = { orgId, epoch: 1 };
  const appended = await api.db.withTenant({ orgId }, async (tx) => appendLeaf(tx, await startLog(tx, orgId, origin), { packageId, entry }));
  if (!finish) return;
  const checkpoint = await signCheckpoint(signers, appended);
  await api.db.withTenant({ orgId }, async (tx) => {
    await recordCheckpoint(tx, log, checkpoint);
    await publishLeaf(tx, log, appended.index);
  });
}

const get = (path: string, options: CallOptions = {}) => api.call('GET', `/api/v1/riskops-evidence/log/${path}`, { as: api.ours.owner, ...options });

describe('GET /log/checkpoint', () => {
  it('returns one tree in both formats, each signed with its key', async () => {
    const { status, body } = await get('checkpoint');
    const { note, rekor_note, ...rest } = body as { note: string; rekor_note: string; tree_size: number; root_hash: string };
    expect(status).toBe(200);
    expect(rest).toMatchObject({ origin, tree_size: ENTRIES - 1 });
    const forms = [
      {
        text: note,
        line: origin,
        signer: signers.logNote,
        digest: null,
        keyId: noteKeyIdEd25519(origin, ed25519RawFromSpki(spkiFromPem(signers.logNote.publicKeyPem))),
      },
      { text: rekor_note, line: `${origin} - 1`, signer: signers.log, digest: 'sha256', keyId: noteKeyIdEcdsa(spkiFromPem(signers.log.publicKeyPem)) },
    ];
    for (const { text, line, signer, digest, keyId } of forms) {
      const parsed = parseNote(text);
      const tree = parseCheckpoint(parsed.text);
      expect({ ...tree, root: toHex(tree.root) }).toEqual({ origin: line, size: rest.tree_size, root: rest.root_hash });
      expect(parsed.signatures).toMatchObject([{ name: origin, keyId }]);
      expect(verify(digest, utf8(parsed.text), signer.publicKeyPem, parsed.signatures[0]?.signature ?? new Uint8Array())).toBe(true);
    }
  });

  it('returns the note alone for Accept: text/plain', async () => {
    const { note } = (await get('checkpoint')).body as { note: string };
    const answer = await get('checkpoint', { headers: { accept: 'text/plain' } });
    expect(answer).toMatchObject({ status: 200, body: note });
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect((await get('checkpoint', { headers: { accept: 'application/json, text/plain' } })).body).toMatchObject({ note });
  });

  it('returns 404 before the first package', async () => {
    expect(await get('checkpoint', { as: api.theirs.owner })).toMatchObject({ status: 404, body: { detail: expect.stringContaining('no checkpoint yet') } });
  });
});

describe('GET /log/entries/{index}', () => {
  it('returns the package and whether it was published', async () => {
    expect(await get('entries/3')).toMatchObject({
      status: 200,
      body: {
        index: 3,
        entry: 'entry 3',
        leaf_hash: toHex(leafHash(utf8('entry 3'))),
        package_id: packages[3],
        published: true,
        published_at: expect.any(String),
      },
    });
    expect(await get(`entries/${ENTRIES - 1}`)).toMatchObject({ status: 200, body: { package_id: packages.at(-1), published: false, published_at: null } });
  });

  it.each([String(ENTRIES), '-1', '03', '1.0', '1e0', 'x', '9'.repeat(30), '%20'])('returns 404 for the index %s', async (index) => {
    expect((await get(`entries/${index}`)).status).toBe(404);
  });

  it('returns 404 to another organization', async () => {
    expect((await get('entries/0', { as: api.theirs.owner })).status).toBe(404);
  });
});

describe('proofs', () => {
  const hashes = (list: string[]) => list.map(fromHex);

  it('of inclusion verify for every entry in every tree', async () => {
    for (let tree_size = 1; tree_size <= ENTRIES; tree_size += 2) {
      for (let index = 0; index < tree_size; index++) {
        const { status, body } = await get(`proof/inclusion?index=${index}&tree_size=${tree_size}`);
        const proof = body as { leaf_hash: string; root_hash: string; hashes: string[] };
        expect(status).toBe(200);
        const claim = { index, size: tree_size, leafHash: leafHash(utf8(`entry ${index}`)), proof: hashes(proof.hashes), root: fromHex(proof.root_hash) };
        expect(verifyInclusion(claim)).toBe(true);
      }
    }
  });

  it('use the size of the latest checkpoint by default', async () => {
    const { root_hash } = (await get('checkpoint')).body as { root_hash: string };
    expect((await get('proof/inclusion?index=0')).body).toMatchObject({ tree_size: ENTRIES - 1, root_hash });
    expect((await get('proof/consistency?from=3')).body).toMatchObject({ to: ENTRIES - 1, to_root_hash: root_hash });
  });

  it('of consistency verify between any two sizes', async () => {
    for (let from = 0; from <= ENTRIES; from++) {
      for (let to = from; to <= ENTRIES; to += 2) {
        const { status, body } = await get(`proof/consistency?from=${from}&to=${to}`);
        const proof = body as { from_root_hash: string; to_root_hash: string; hashes: string[] };
        expect(status).toBe(200);
        const claim = { oldSize: from, oldRoot: fromHex(proof.from_root_hash), size: to, root: fromHex(proof.to_root_hash), proof: hashes(proof.hashes) };
        expect(verifyConsistency(claim)).toBe(true);
      }
    }
  });

  it.each([
    ['inclusion?index=3&tree_size=3', 400],
    ['inclusion?index=5&tree_size=3', 400],
    [`inclusion?index=${ENTRIES}`, 404],
    [`inclusion?index=0&tree_size=${ENTRIES + 1}`, 404],
    ['inclusion', 400],
    ['inclusion?index=-1', 400],
    ['inclusion?index=0&tree_size=0', 400],
    ['inclusion?index=0.5', 400],
    ['inclusion?index=99999999999999999999', 400],
    ['consistency?from=5&to=3', 400],
    [`consistency?from=1&to=${ENTRIES + 1}`, 404],
    [`consistency?from=${ENTRIES + 1}`, 404],
    ['consistency', 400],
  ])('are refused for %s', async (path, status) => {
    expect((await get(`proof/${path}`)).status).toBe(status);
  });

  it('require a size for an entry that no checkpoint covers yet', async () => {
    expect((await get(`proof/inclusion?index=${ENTRIES - 1}`)).status).toBe(400);
    expect((await get(`proof/inclusion?index=${ENTRIES - 1}&tree_size=${ENTRIES}`)).status).toBe(200);
  });

  it('are available to viewers and auditors of the organization only', async () => {
    for (const role of ['viewer', 'auditor'] as const) expect((await get('proof/inclusion?index=0', { as: await api.ours.key(role) })).status).toBe(200);
    expect((await get('proof/inclusion?index=0', { as: api.theirs.owner })).status).toBe(404);
    expect((await get('proof/consistency?from=0&to=0', { as: api.theirs.owner })).status).toBe(404);
  });
});
