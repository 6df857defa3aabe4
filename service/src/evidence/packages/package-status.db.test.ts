import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { leafEntry, leafHash, type PackageStatus, parsePackageStatus, preAuthEncoding, toHex, utf8, verifyInclusion } from '@rrs/evidence-format';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, type Report, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { eventually } from '../../testing/eventually.ts';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages();
let item: string;
let first: PackageBody;
let second: PackageBody;
const SCANNED = 'registry.example/status:1';

beforeAll(async () => {
  await world.scan(SCANNED, ['openssl', 'zlib']);
  await world.scan(SCANNED, ['zlib']);
  ({ id: item } = await world.workItem('Update OpenSSL', { q: 'openssl' }));
  first = await world.seal(item);
});

const statementText = async (id: string): Promise<string> => JSON.stringify(await world.get(`/riskops-evidence/packages/${id}/status-statement`));

async function verified(id: string, status: string): Promise<Report> {
  const trust = { ...emptyTrust(), status };
  addKeys(trust, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  return verifyPackage(bytesSource(await world.download(id)), trust, nodePlatform());
}

interface Listed {
  use: string;
  public_key_pem: string;
}

describe('a status statement', () => {
  it('says that a package is current, with a signature that openssl accepts', async () => {
    const text = await statementText(first.package_id);
    const { envelope, status, tagManifestSha256 } = parsePackageStatus(text);
    expect(status).toMatchObject({ package_id: first.package_id, epoch: 1, sequence: 1, status: 'ready', by: null, reason: null });
    expect(tagManifestSha256).toBe(first.hashes.tagmanifest_sha256);
    expect(status.log).toEqual({ size: first.log.tree_size, root: first.log.root_hash });

    const folder = await mkdtemp(join(tmpdir(), 'rrs-status-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { keys } = await world.get<{ keys: Listed[] }>('/riskops-evidence/keys');
    const files = {
      message: preAuthEncoding(envelope.payloadType, Buffer.from(envelope.payload, 'base64')),
      signature: Buffer.from(envelope.signatures[0].sig, 'base64'),
      key: keys.find(({ use }) => use === 'package')?.public_key_pem ?? '',
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const { stdout } = await promisify(execFile)('openssl', ['dgst', '-sha256', '-verify', 'key', '-signature', 'signature', 'message'], { cwd: folder });
    expect(stdout).toContain('Verified OK');
    expect(await verified(first.package_id, text)).toMatchObject({ verdict: 'verified', status: { statement: { status: 'ready' } } });
  });

  it('says which package replaced it, and the log says so too', async () => {
    second = await world.seal(item);
    const text = await statementText(first.package_id);
    const expected = { status: 'superseded', by: second.package_id, reason: 'Package 2 of the same work item replaced it.' };
    expect(parsePackageStatus(text).status).toMatchObject(expected);
    expect(await verified(first.package_id, text)).toMatchObject({ verdict: 'verified', status: { statement: expected } });
    expect(await loggedStatus(first.package_id)).toMatchObject(expected);
    expect(await verified(second.package_id, text)).toMatchObject({ verdict: 'verified', status: { problem: expect.stringContaining('another package') } });
  });

  it('says that a finding was reopened', async () => {
    await world.scan(SCANNED, ['openssl', 'zlib']);
    const expected = { status: 'superseded', by: null, reason: expect.stringContaining('reopened') };
    expect(parsePackageStatus(await statementText(second.package_id)).status).toMatchObject(expected);
    expect(await loggedStatus(second.package_id)).toMatchObject(expected);
  });

  it('does not exist before the package is sealed, and not for another organization', async () => {
    const { call, db, ours, theirs } = world.api();
    const path = (id: string) => `/api/v1/riskops-evidence/packages/${id}/status-statement`;
    expect((await call('GET', path(first.package_id), { as: theirs.owner })).status).toBe(404);
    const waiting = { org_id: ours.id, id: newId(), work_item_id: item, work_item_title: 'Waiting', sequence: 99, formats: [], requested_by: '{}' };
    await db.withTenant({ orgId: ours.id }, (tx) => tx.insertInto('evidence_packages').values(waiting).execute());
    expect(await call('GET', path(waiting.id), { as: ours.owner })).toMatchObject({ status: 409, body: { detail: expect.stringContaining('not sealed') } });
  });
});

interface Entry {
  index: number;
  entry: string;
  statement: string;
}

/** Waits for the job, and checks that the latest checkpoint covers the entry. */
async function loggedStatus(id: string): Promise<PackageStatus> {
  const { db, ours } = world.api();
  const row = () =>
    db.withTenant({ orgId: ours.id }, (tx) => tx.selectFrom('evidence_packages').select('superseded_index').where('id', '=', id).executeTakeFirstOrThrow());
  await eventually(async () => (await row()).superseded_index !== null).toBe(true);
  const index = Number((await row()).superseded_index);
  await eventually(async () => (await world.get<{ tree_size: number }>('/riskops-evidence/log/checkpoint')).tree_size > index).toBe(true);
  const { entry, statement } = await world.get<Entry>(`/riskops-evidence/log/entries/${index}`);
  const { envelope, status } = parsePackageStatus(statement);
  const { keys } = await world.get<{ keys: Listed[] }>('/riskops-evidence/keys');
  expect(entry).toBe(leafEntry(envelope, keys.find(({ use }) => use === 'package')?.public_key_pem ?? ''));
  const proof = await world.get<{ tree_size: number; root_hash: string; leaf_hash: string; hashes: string[] }>(
    `/riskops-evidence/log/proof/inclusion?index=${index}`,
  );
  expect(proof.leaf_hash).toBe(toHex(leafHash(utf8(entry))));
  const bytes = (hash: string) => Buffer.from(hash, 'hex');
  const claim = { index, size: proof.tree_size, leafHash: bytes(proof.leaf_hash), root: bytes(proof.root_hash), proof: proof.hashes.map(bytes) };
  expect(verifyInclusion(claim)).toBe(true);
  return status;
}
