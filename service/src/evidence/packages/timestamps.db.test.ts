import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { hasOpenssl, type Manner, startTimestampAuthority, type TestTimestampAuthority } from '../../testing/fakes/timestamp-authority.ts';

let authority: TestTimestampAuthority;
const world = usePackages({
  idle: true,
  authorities: async () => {
    if (!hasOpenssl()) return null;
    authority = await startTimestampAuthority();
    return authority;
  },
});
afterAll(() => authority?.close());

beforeEach(({ skip }) => {
  skip(!hasOpenssl(), 'there is no openssl on this machine: apt-get install openssl');
  authority.behave(authority.answer);
});

async function requested(title: string): Promise<string> {
  const { id } = await world.post<{ id: string }>('/work-items', { title });
  return (await world.request(id)).package_id;
}
const read = (id: string) => world.get<PackageBody>(`/riskops-evidence/packages/${id}`);
const gapsOf = async (id: string): Promise<string[]> => (await read(id)).completeness.gaps.map(({ code }) => code);

async function verify(id: string, timestampRoots: string[]) {
  const trust = { ...emptyTrust(), timestampRoots };
  addKeys(trust, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  return verifyPackage(bytesSource(await world.download(id)), trust, nodePlatform());
}

/** A file of a stored ZIP, found by its record in the directory at the end. */
function fileIn(zip: Buffer, path: string): Buffer {
  const record = zip.lastIndexOf('PK\u0001\u0002', zip.lastIndexOf(`/${path}`));
  const header = zip.readUInt32LE(record + 42);
  const begin = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
  return zip.subarray(begin, begin + zip.readUInt32LE(record + 24));
}

describe('a package with a timestamp', () => {
  it('has it in the bundle and as a file; openssl and the verifier accept it only for the trusted root', async () => {
    const worker = await world.work();
    onTestFinished(() => worker.stop());
    const { id: item } = await world.post<{ id: string }>('/work-items', { title: 'Stamped' });
    const { package_id: id, status } = await world.seal(item);
    expect(status).toBe('ready');
    expect(await gapsOf(id)).not.toContain('no_timestamp');

    const zip = await world.download(id);
    const bundle = JSON.parse(fileIn(zip, 'proof/package.sigstore.json').toString());
    const stamp = fileIn(zip, 'proof/timestamp.tsr');
    expect(bundle.verificationMaterial.timestampVerificationData.rfc3161Timestamps).toEqual([{ signedTimestamp: stamp.toString('base64') }]);
    writeFileSync(join(authority.folder, 's'), Buffer.from(bundle.dsseEnvelope.signatures[0].sig, 'base64'));
    writeFileSync(join(authority.folder, 'timestamp.tsr'), stamp);
    expect(authority.openssl('ts', '-verify', '-data', 's', '-in', 'timestamp.tsr', '-CAfile', authority.rootFile)).toContain('Verification: OK');

    expect(await verify(id, [authority.certificates])).toMatchObject({ verdict: 'verified', failures: [], package: { timestamps: [{ trusted: true }] } });
    expect((await verify(id, [])).verdict).not.toBe('verified');
    expect(await world.post(`/riskops-evidence/packages/${id}/verify`, undefined)).toMatchObject({ verdict: 'verified', failures: [] });
  });

  it('is accepted by cosign with the commands of README.txt, only for the trusted root', async ({ skip }) => {
    const help = spawnSync('cosign', ['trusted-root', 'create', '--help'], { encoding: 'utf8' });
    skip(help.error !== undefined, 'there is no cosign on this machine');
    const id = await requested('For cosign');
    await world.attempt(id);
    const folder = join(authority.folder, 'auditor');
    mkdirSync(join(folder, 'T'), { recursive: true });
    const zip = await world.download(id);
    writeFileSync(join(folder, 'package.zip'), zip);
    const { keys } = await world.get<{ keys: { use: string; algorithm: string; public_key_pem: string }[] }>('/riskops-evidence/keys');
    for (const { use, algorithm, public_key_pem: pem } of keys) if (algorithm === 'ES256') writeFileSync(join(folder, `T/${use}.pem`), pem);
    const readme = fileIn(zip, 'README.txt').toString();
    const [from, to] = help.stdout.includes('--rekor=') ? ['cosign 3:', 'cosign 2.5:'] : ['cosign 2.5:', 'To verify data'];
    const commands = readme
      .slice(readme.indexOf(from), readme.indexOf(to))
      .split('\n')
      .filter((line) => line.startsWith('   '));
    const run = (root: string) => {
      writeFileSync(join(folder, 'T/tsa-root.pem'), root);
      const script = ['set -e', 'export HOME=$PWD', 'unzip -qo package.zip', 'P=$(ls -d evidence-*)', ...commands].join('\n');
      return spawnSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' }).stderr;
    };
    expect(run(authority.certificates)).toContain('Verified OK');
    const other = await startTimestampAuthority();
    onTestFinished(() => other.close());
    expect(run(other.certificates)).toMatch(/failed to verify timestamps|unable to verify/);
  });

  it('has one timestamp per authority', async () => {
    const id = await requested('Stamped twice');
    const { urls, certificates } = authority;
    await world.attempt(id, { authorities: { urls: [...urls, ...urls], certificates } });
    const zip = await world.download(id);
    for (const file of ['timestamp.tsr', 'timestamp-2.tsr']) expect(fileIn(zip, `proof/${file}`).length).toBeGreaterThan(500);
    expect(await verify(id, [certificates])).toMatchObject({ verdict: 'verified', failures: [] });
  });
});

const down: Manner = (_question, reply) => void reply.destroy();

/** Changes the request before the authority answers it: the hash, or the nonce, which is the last number before the certificate flag. */
const answerTo =
  (change: (question: Buffer) => void): Manner =>
  (question, reply) => {
    change(question);
    authority.answer(question, reply);
  };
const hashAt = (question: Buffer): number => question.indexOf(Buffer.from([0x04, 0x20])) + 2;

describe('a time-stamping authority', () => {
  it('that is down is asked three times; then the package is sealed without a timestamp, which is a gap', async () => {
    authority.behave(down);
    const id = await requested('Nobody there');
    const before = authority.asked();
    for (const _ of [1, 2, 3]) await expect(world.attempt(id)).rejects.toThrow(/time-stamping authority 127\.0\.0\.1:\d+ did not issue a timestamp/);
    expect(authority.asked() - before).toBe(3);
    await world.attempt(id);
    expect(authority.asked() - before).toBe(3);
    expect(await read(id)).toMatchObject({ status: 'ready' });
    expect(await gapsOf(id)).toEqual(expect.arrayContaining(['no_timestamp', 'interrupted_sealing']));
    expect(await verify(id, [])).toMatchObject({ verdict: 'verified', failures: [] });
  });

  it('that recovers in time stamps the package', async () => {
    const id = await requested('Back again');
    authority.behave(down);
    await expect(world.attempt(id)).rejects.toThrow('did not issue a timestamp');
    authority.behave(authority.answer);
    await world.attempt(id);
    expect(await gapsOf(id)).not.toContain('no_timestamp');
    expect(await verify(id, [authority.certificates])).toMatchObject({ verdict: 'verified', failures: [] });
  });

  it.each<[string, Manner, RegExp]>([
    ['garbage', (_question, reply) => void reply.end('<html>I am a proxy</html>'), /did not issue a timestamp/],
    ['nothing', (_question, reply) => void reply.end(), /did not issue a timestamp/],
    ['an error', (_question, reply) => void reply.writeHead(500).end(), /HTTP status 500/],
    ['a redirect', (_question, reply) => void reply.writeHead(307, { location: authority.urls[0] }).end(), /did not issue a timestamp/],
    ['a refusal', (_question, reply) => authority.answer(Buffer.from('3003020101', 'hex'), reply), /refused with status 2/],
    [
      'a timestamp of another hash',
      answerTo((question) => void question.writeUInt8(question.readUInt8(hashAt(question)) ^ 1, hashAt(question))),
      /for a different signature/,
    ],
    [
      'a timestamp with another nonce',
      answerTo((question) => void question.writeUInt8(question.readUInt8(question.length - 4) ^ 1, question.length - 4)),
      /different nonce/,
    ],
    ['an endless response', (_question, reply) => endless(reply), /exceeds 262144 bytes/],
  ])('that answers with %s fails the attempt', async (_what, manner, refusal) => {
    authority.behave(manner);
    const id = await requested('Refused');
    await expect(world.attempt(id)).rejects.toThrow(refusal);
    expect(await read(id)).toMatchObject({ status: 'generating', downloads: [] });
  });

  it('with another root certificate fails the verification of the sealed package', async () => {
    const other = await startTimestampAuthority();
    onTestFinished(() => other.close());
    const id = await requested('Another root');
    await expect(world.attempt(id, { authorities: { urls: other.urls, certificates: authority.certificates } })).rejects.toThrow('untrusted_timestamp');
    expect(await read(id)).toMatchObject({ status: 'generating', downloads: [] });
  });

  it('that cannot be reached fails the attempt', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const id = await requested('No server');
    const { certificates } = authority;
    await expect(world.attempt(id, { authorities: { urls: [`http://127.0.0.1:${port}/`], certificates } })).rejects.toThrow('did not issue a timestamp');
  });
});

function endless(reply: Parameters<Manner>[1]): void {
  const piece = Buffer.alloc(65_536);
  const pump = (): void => {
    while (!reply.destroyed && reply.write(piece));
  };
  reply.on('drain', pump);
  pump();
}
