import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { bytesSource } from '../archive/source.ts';
import { nodePlatform } from '../node.ts';
import { testAuthority } from '../testing/authority.ts';
import { buildPackage, zipOf } from '../testing/build.ts';
import { verifyPackage } from '../verify.ts';

const folder = mkdtempSync(join(tmpdir(), 'rrs-tsa-'));
afterAll(() => rmSync(folder, { recursive: true }));

beforeEach(({ skip }) => skip(spawnSync('openssl', ['version']).error !== undefined, 'there is no openssl on this machine: apt-get install openssl'));

const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const CONFIG = `
[tsa]
default_tsa = settings
[settings]
serial = serial
crypto_device = builtin
signer_digest = SHA256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ordering = yes
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = DIGEST
[root]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[middle]
basicConstraints = critical,CA:true,pathlen:0
keyUsage = critical,keyCertSign
[leaf]
basicConstraints = CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
`;

const KINDS = {
  'P-256': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  'P-384': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  'RSA-2048': ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
  'RSA-1024': ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'],
};

interface Setup {
  kind: keyof typeof KINDS;
  digest: string;
  /** Hash of the certificate ID in the token. sha1 selects the old form (RFC 2634). */
  certificateId: string;
}

/** Uses openssl to create a root, an intermediate and a time-stamping certificate. */
function makeAuthority({ kind, digest, certificateId }: Setup) {
  writeFileSync(join(folder, 'tsa.cnf'), CONFIG.replace('DIGEST', certificateId).replace('SHA256', digest));
  writeFileSync(join(folder, 'serial'), '01\n');
  for (const name of ['root', 'middle', 'leaf']) makeKey(kind, name);
  openssl(
    'req',
    '-x509',
    '-new',
    '-key',
    'root.key',
    `-${digest}`,
    '-subj',
    '/CN=Root',
    '-days',
    '60',
    '-out',
    'root.pem',
    '-config',
    'tsa.cnf',
    '-extensions',
    'root',
  );
  issue({ name: 'middle', by: 'root', digest, days: 40 });
  issue({ name: 'leaf', by: 'middle', digest, days: 30 });
  return { root: readFileSync(join(folder, 'root.pem'), 'utf8'), stamp };
}

/** Reuses keys of the same kind, because generating RSA keys is slow. */
function makeKey(kind: keyof typeof KINDS, name: string): void {
  const kept = join(folder, `${kind}-${name}.key`);
  if (!existsSync(kept)) openssl('genpkey', ...KINDS[kind], '-out', kept);
  copyFileSync(kept, join(folder, `${name}.key`));
}

function issue({ name, by, digest, days }: { name: string; by: string; digest: string; days: number }): void {
  openssl('req', '-new', '-key', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`, '-config', 'tsa.cnf');
  const signer = ['-CA', `${by}.pem`, '-CAkey', `${by}.key`, '-CAcreateserial'];
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    ...signer,
    `-${digest}`,
    '-days',
    String(days),
    '-out',
    `${name}.pem`,
    '-extfile',
    'tsa.cnf',
    '-extensions',
    name,
  );
}

async function stamp(signature: Uint8Array): Promise<Uint8Array> {
  writeFileSync(join(folder, 'signature'), signature);
  openssl('ts', '-query', '-data', 'signature', '-sha256', '-cert', '-out', 'query.tsq');
  const signer = ['-signer', 'leaf.pem', '-inkey', 'leaf.key', '-chain', 'middle.pem'];
  openssl('ts', '-reply', '-config', 'tsa.cnf', '-section', 'settings', '-queryfile', 'query.tsq', ...signer, '-out', 'reply.tsr');
  return new Uint8Array(readFileSync(join(folder, 'reply.tsr')));
}

async function verifyWith(authority: { root: string; stamp: typeof stamp }, root = authority.root) {
  const generated_at = new Date().toISOString();
  const built = await buildPackage({
    stamps: [authority.stamp],
    evidence: (evidence) => void Object.assign(evidence, { generated_at }),
    log: (parts) => void Object.assign(parts, { integratedTime: Math.floor(Date.now() / 1000) }),
  });
  return verifyPackage(bytesSource(await zipOf(built)), { ...built.trust, timestampRoots: [root] }, nodePlatform());
}

describe('timestamps from openssl', () => {
  const good: Setup[] = [
    { kind: 'P-256', digest: 'sha256', certificateId: 'sha256' },
    { kind: 'P-384', digest: 'sha384', certificateId: 'sha256' },
    { kind: 'RSA-2048', digest: 'sha512', certificateId: 'sha256' },
    { kind: 'RSA-2048', digest: 'sha256', certificateId: 'sha1' },
    { kind: 'P-256', digest: 'sha256', certificateId: 'sha512' },
  ];
  test.for(good)('are verified with $kind, $digest and a certificate ID in $certificateId', async (setup) => {
    const report = await verifyWith(makeAuthority(setup));
    expect(report).toMatchObject({ verdict: 'verified', failures: [], package: { timestamps: [{ authority: 'leaf', trusted: true }] } });
  });

  test('are not trusted with the root of another authority', async () => {
    const other = await testAuthority();
    const report = await verifyWith(makeAuthority({ kind: 'P-256', digest: 'sha256', certificateId: 'sha256' }), other.root);
    expect(report.failures.map(({ code }) => code)).toEqual(['untrusted_timestamp']);
  });

  test('fail if the key is too short', async () => {
    const report = await verifyWith(makeAuthority({ kind: 'RSA-1024', digest: 'sha256', certificateId: 'sha256' }));
    expect(report.failures.map(({ code }) => code)).toEqual(['timestamp']);
  });
});

test('openssl accepts the timestamps of the test authority', async () => {
  const authority = await testAuthority();
  writeFileSync(join(folder, 'signature'), 'some bytes');
  writeFileSync(join(folder, 'own.pem'), authority.root);
  writeFileSync(join(folder, 'own.tsr'), await authority.stamp(Buffer.from('some bytes')));
  expect(openssl('ts', '-verify', '-data', 'signature', '-in', 'own.tsr', '-CAfile', 'own.pem')).toContain('OK');
});
