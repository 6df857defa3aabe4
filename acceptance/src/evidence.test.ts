import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { call } from './http.ts';
import { checkout, rrs, type Service, startUsed } from './service.ts';
import { verifyWithSigstore } from './sigstore.ts';

const verifier = join(checkout, 'verifier/bin/rrs-verify.mjs');
const image = 'registry.example.com/shop:prod';
const artifact = Buffer.from('the page after the update');

interface Package {
  package_id: string;
  status: string;
  conclusion: string;
  hashes: { archive_sha256: string };
  completeness: { gaps: { code: string }[] };
}

let service: Service;
let sealed: Package;
/** The auditor's folder: the package, and the keys obtained separately. */
let auditorFolder: string;
let name: string;
let readme: string;

async function send<T>(path: string, body: string | FormData, more: Record<string, string> = {}): Promise<T> {
  const headers = { authorization: `Bearer ${service.key}`, prefer: 'wait=60', ...more };
  const response = await fetch(`${service.url}/api/v1${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

const sendJson = <T>(path: string, body: object, key = service.key): Promise<T> =>
  send<T>(path, JSON.stringify(body), { 'content-type': 'application/json', authorization: `Bearer ${key}` });

/** Adds a member on the command line and returns an API key of that member: whoever adds a member through the API could sign in as that member. */
async function keyOfMember(email: string): Promise<string> {
  const password = (await rrs(['member', 'add', email, '--role', 'admin'], { dataDir: service.dataDir })).stdout.trim();
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/api/v1${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });
  const session = await post('/sessions', { email, password });
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const made = await post('/api-keys', { name: email, role: 'admin' }, { cookie });
  return ((await made.json()) as { key: string }).key;
}

/** A report as Grype writes it, of a build of the image. */
function grype(components: readonly string[], build: number, at: Date): string {
  return JSON.stringify({
    matches: components.map((name) => ({
      vulnerability: { id: 'CVE-2026-0001', severity: 'High', fix: { versions: ['2.0'], state: 'fixed' } },
      artifact: { name, version: '1.0', type: 'deb', purl: `pkg:deb/debian/${name}@1.0` },
    })),
    source: { type: 'image', target: { userInput: image, manifestDigest: `sha256:${String(build).repeat(64)}` } },
    descriptor: { name: 'grype', version: '0.90.0', timestamp: at.toISOString(), db: { built: at.toISOString() } },
  });
}

function scan(report: string, key: string): Promise<{ counts: Record<string, number> }> {
  const query = new URLSearchParams({ format: 'grype', scan_scope: JSON.stringify({ coverage: 'complete' }) });
  return send(`/imports?${query}`, report, { 'content-type': 'application/octet-stream', authorization: `Bearer ${key}` });
}

async function remediate(): Promise<Package> {
  const [scanner, approver] = [await keyOfMember('scanner@example.com'), await keyOfMember('approver@example.com')];
  expect(await scan(grype(['openssl', 'curl', 'zlib'], 1, new Date(Date.now() - 3_600_000)), scanner)).toMatchObject({ counts: { created: 3 } });
  const item = await sendJson<{ id: string }>('/work-items', { title: 'Update the shop', filter: { asset: 'registry.example.com/shop' } });
  const form = new FormData();
  form.append('type', 'test_result');
  form.append('title', 'The shop after the update');
  form.append('file', new Blob([artifact]), 'shop.txt');
  await send(`/riskops-evidence/work-items/${item.id}/artifacts`, form, { authorization: `Bearer ${scanner}` });
  expect(await scan(grype([], 2, new Date()), scanner)).toMatchObject({ counts: { closed: 3 } });
  const { body } = await call(service.url, `/api/v1/work-items/${item.id}/state`, { key: approver });
  const decision = { decision: 'approved', comment: 'seen', state_digest: body.state_digest };
  expect(await sendJson(`/work-items/${item.id}/approvals`, decision, approver)).toMatchObject({ independent: true });
  return sendJson('/riskops-evidence/packages', { work_item_id: item.id });
}

async function prepareAuditorFolder(): Promise<void> {
  auditorFolder = temporaryFolder();
  const download = await fetch(`${service.url}/api/v1/riskops-evidence/packages/${sealed.package_id}/download`, {
    headers: { authorization: `Bearer ${service.key}` },
  });
  const file = /filename="?([\w.-]+)\.zip/.exec(download.headers.get('content-disposition') ?? '')?.[1];
  if (file === undefined) throw new Error('the download has no file name');
  name = file;
  writeFileSync(join(auditorFolder, `${name}.zip`), Buffer.from(await download.arrayBuffer()));
  // The keys are public: no credential is sent.
  const { body } = await call(service.url, '/api/v1/riskops-evidence/keys');
  writeFileSync(join(auditorFolder, 'keys.json'), JSON.stringify(body));
  mkdirSync(join(auditorFolder, 'T'));
  const keys = body.keys as { use: string; algorithm: string; public_key_pem: string }[];
  const pem = (use: string, algorithm: string): string => keys.find((key) => key.use === use && key.algorithm === algorithm)?.public_key_pem ?? '';
  writeFileSync(join(auditorFolder, 'T/package.pem'), pem('package', 'ES256'));
  writeFileSync(join(auditorFolder, 'T/log.pem'), pem('log', 'ES256'));
  writeFileSync(join(auditorFolder, 'T/log-note.pem'), pem('note', 'Ed25519'));
  mkdirSync(join(auditorFolder, 'bin'));
  writeFileSync(join(auditorFolder, 'bin/rrs-verify'), `#!/bin/sh\nexec '${process.execPath}' '${verifier}' "$@"\n`);
  chmodSync(join(auditorFolder, 'bin/rrs-verify'), 0o755);
}

beforeAll(async () => {
  service = await startUsed();
  sealed = await remediate();
  await prepareAuditorFolder();
});

test('the package states that the work item is remediated', () => {
  expect(sealed).toMatchObject({ status: 'ready', conclusion: 'remediated' });
  expect(sealed.completeness.gaps.map(({ code }) => code)).toEqual(['scan_by_hand', 'no_timestamp']);
});

describe('rrs-verify', () => {
  const verify = (...args: string[]) => spawnSync(process.execPath, [verifier, ...args], { cwd: auditorFolder, encoding: 'utf8' });

  test('succeeds with the published keys and not without keys', () => {
    const report = JSON.parse(verify(`${name}.zip`, '--keys', 'keys.json', '--json').stdout);
    expect(report).toMatchObject({ verdict: 'verified', failures: [], package: { id: sealed.package_id, conclusion: 'remediated' } });
    expect(verify(`${name}.zip`, '--keys', 'keys.json').status).toBe(0);
    expect(verify(`${name}.zip`).status).toBe(3);
  });

  test('fails after one flipped bit at any position', () => {
    const zip = readFileSync(join(auditorFolder, `${name}.zip`));
    for (let step = 0; step < 8; step++) {
      const at = Math.floor(((step + 0.5) * zip.length) / 8);
      const changed = Buffer.from(zip);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      writeFileSync(join(auditorFolder, 'changed.zip'), changed);
      expect([at, verify('changed.zip', '--keys', 'keys.json').status]).toEqual([at, 1]);
    }
  });
});

describe('sigstore-js', () => {
  const bundle = () => spawnSync('unzip', ['-p', join(auditorFolder, `${name}.zip`), `${name}/proof/package.sigstore.json`], { encoding: 'utf8' }).stdout;
  const key = (file: string): string => readFileSync(join(auditorFolder, 'T', file), 'utf8');
  const trusted = () => ({ packagePem: key('package.pem'), logPem: key('log.pem'), origin: `${new URL(service.url).host}/orgs/${organization}` });
  const changed = (change: (entry: LogEntry) => void): string => {
    const parsed = JSON.parse(bundle());
    change(parsed.verificationMaterial.tlogEntries[0]);
    return JSON.stringify(parsed);
  };
  let organization = '';
  beforeAll(async () => {
    const { body } = await call(service.url, '/api/v1/me', { key: service.key });
    organization = (body.organization as { id: string }).id;
  });

  test('verifies the signature and the log entry of the package', () => {
    verifyWithSigstore(bundle(), trusted());
  });

  test('refuses another key, a changed log entry and a changed checkpoint', () => {
    const { packagePem, logPem } = trusted();
    expect(() => verifyWithSigstore(bundle(), { ...trusted(), packagePem: logPem })).toThrow('signature verification failed');
    expect(() => verifyWithSigstore(bundle(), { ...trusted(), logPem: packagePem })).toThrow();
    expect(() =>
      verifyWithSigstore(
        changed((entry) => Object.assign(entry, { integratedTime: '1' })),
        trusted(),
      ),
    ).toThrow();
    const spaced = changed(({ inclusionProof: { checkpoint } }) =>
      Object.assign(checkpoint, { envelope: checkpoint.envelope.replace(/— (\S+) /, '— $1 - 1 ') }),
    );
    expect(() => verifyWithSigstore(spaced, trusted())).toThrow('no signatures found in checkpoint');
  });
});

interface LogEntry {
  integratedTime: string;
  inclusionProof: { checkpoint: { envelope: string } };
}

function requireTools({ skip }: TestContext, ...tools: string[]): void {
  const missing = tools.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);
  skip(missing.length > 0, `not on this machine: ${missing.join(', ')}`);
}

const TOOLS = ['bash', 'unzip', 'sha256sum', 'jq', 'openssl', 'ssh-keygen'];

/** Runs a script like an auditor: in a copy of the auditor's folder, with the tools of the system. */
function bash(script: string, prefix: readonly string[] = []) {
  const folder = temporaryFolder();
  spawnSync('cp', ['-r', `${auditorFolder}/.`, folder]);
  const [file = '', ...args] = [...prefix, 'bash', '-c', script];
  return spawnSync(file, args, { cwd: folder, encoding: 'utf8', env: { HOME: folder, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` } });
}

/** The commands of a section of README.txt: its indented lines. */
function commandsOf(from: string, to: string): string {
  readme ||= spawnSync('unzip', ['-p', join(auditorFolder, `${name}.zip`), `${name}/README.txt`], { encoding: 'utf8' }).stdout;
  const section = readme.slice(readme.indexOf(from), readme.indexOf(to));
  return section
    .split('\n')
    .filter((line) => line.startsWith('   '))
    .join('\n');
}

const MANUAL = ['BY HAND', 'WITH COSIGN'] as const;
const VERIFIER = ['WITH RRS-VERIFY', 'With the checkpoint'] as const;
const SUBJECTS = ['tagmanifest-sha256.txt', 'manifest-sha256.txt', 'data/evidence.json', 'data/report.pdf'].map((file) => `${file}: OK`);
const EXPECTED = ['OK', 'OK', 'OK', 'Verified OK', ...SUBJECTS, ''];

describe('README.txt', () => {
  test('has commands that succeed', (context) => {
    requireTools(context, ...TOOLS);
    const { stdout, stderr } = bash(commandsOf(...MANUAL));
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toEqual(EXPECTED);
    expect(bash(`unzip -tq ${name}.zip`).stdout).toContain('No errors detected');
    const fingerprint = bash('ssh-keygen -i -m PKCS8 -f T/package.pem | ssh-keygen -lf -').stdout.split(' ')[1] ?? '-';
    expect(readme).toContain(fingerprint);
  });

  test('has a command for rrs-verify that succeeds', (context) => {
    requireTools(context, ...TOOLS);
    const { status, stderr } = bash(`P=${name}\n${commandsOf(...VERIFIER)}`);
    expect([status, stderr]).toEqual([0, '']);
  });

  test.for<[string, string, RegExp]>([
    ['artifact', 'sed -i s/update/upgrade/ $P/data/artifacts/*/content', /artifacts\/\S+: FAILED/],
    ['scan report', 'printf x >> $(ls $P/data/scans/before/*/report)', /scans\/before\/\S+: FAILED/],
    ['audit event', 'sed -i 2s/.action.:./\\&x/ $P/data/audit-trail.jsonl', /BROKEN before/],
    ['signing key', 'openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout > T/package.pem 2>/dev/null', /Verification failure/i],
  ])('has commands that detect a replaced %s', ([_what, tamper, shown], context) => {
    requireTools(context, ...TOOLS);
    const { stdout, stderr } = bash(commandsOf(...MANUAL).replace('&& cd ', `&& { ${tamper}; } && cd `));
    expect(stdout + stderr).toMatch(shown);
  });

  test('has commands that need no network', (context) => {
    requireTools(context, ...TOOLS, 'unshare');
    const alone = process.getuid?.() === 0 ? ['unshare', '-n'] : ['unshare', '-rn'];
    context.skip(spawnSync(alone[0] ?? '', [...alone.slice(1), 'true']).status !== 0, 'this machine does not allow a process without network');
    const reach = `exec 3<>/dev/tcp/127.0.0.1/${new URL(service.url).port}`;
    expect(bash(reach).status).toBe(0);
    expect(bash(reach, alone).status).not.toBe(0);
    expect(bash(commandsOf(...MANUAL), alone).stdout.split('\n')).toEqual(EXPECTED);
    expect(bash(`P=${name}\n${commandsOf(...VERIFIER)}`, alone).status).toBe(0);
  });

  test('has commands for cosign that succeed', (context) => {
    requireTools(context, ...TOOLS, 'cosign');
    const three = spawnSync('cosign', ['trusted-root', 'create', '--help'], { encoding: 'utf8' }).stdout.includes('--rekor=');
    const commands = three ? commandsOf('cosign 3:', 'cosign 2.5:') : commandsOf('cosign 2.5:', 'To verify data/evidence.json');
    const unpacked = `set -e; P=${name}; unzip -q $P.zip`;
    const { status, stdout, stderr } = bash(`${unpacked}\n${commands}`);
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('Verified OK')]);
    expect(bash(`${unpacked}; printf x >> $P/tagmanifest-sha256.txt\n${commands}`).stderr).toMatch(/artifact digests? do(es)? not match/);
    expect(bash(`${unpacked}; cp T/package.pem T/log.pem\n${commands}`).stderr).toContain('failed to verify log inclusion');
  });
});
