import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { checkout, printedUrl, type Service, start } from './service.ts';

/** The Node and npm of the machine, as somebody has them who never saw this repository. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
const folder = temporaryFolder();
const tarballs = join(temporaryFolder(), 'packages');
const execute = promisify(execFile);

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

async function run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const options = { cwd: folder, env: { PATH, HOME: process.env.HOME ?? '/', ...env } };
  return execute(program, [...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );
}
const bin = (name: string): string => join(folder, 'node_modules/.bin', name);

beforeAll(async () => {
  await execute(process.execPath, [join(checkout, 'scripts/pack.ts'), '--out', tarballs], { cwd: checkout });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const files = readdirSync(tarballs).map((name) => join(tarballs, name));
  const { code, stderr } = await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...files]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('ERR!') });
}, 600_000);

test('packages contain built files, types and nothing else of the sources', () => {
  expect(readdirSync(tarballs).sort()).toEqual(
    ['cli', 'client', 'connectors', 'evidence-format', 'scan-reports', 'service', 'verifier'].map((name) => `rrs-${name}-${versionOf(name)}.tgz`),
  );
  for (const name of readdirSync(join(folder, 'node_modules/@rrs'))) {
    const files = readdirSync(join(folder, 'node_modules/@rrs', name), { recursive: true }).map(String);
    expect(
      files.filter((file) => /(?<!\.d)\.ts$|\.test\.|(?:^|\/)(?:testing|fixtures|src)(?:\/|$)|fake/.test(file)),
      name,
    ).toEqual([]);
    const hasTypes = files.includes('dist/index.d.ts');
    expect(hasTypes, name).toBe(['client', 'evidence-format', 'verifier'].includes(name));
  }
});

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(folder, 'node_modules/@rrs', name, 'package.json'), 'utf8')).version;
}

test('rrs and rrs-verify run on the Node of the machine', async () => {
  expect(await run(bin('rrs'), ['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('rrs: ') });
  expect(await run(bin('rrs-verify'), ['--version'])).toEqual({ code: 0, stdout: `${versionOf('verifier')}\n`, stderr: '' });
});

describe('with a running service', () => {
  let service: Service;
  let env: Record<string, string>;

  beforeAll(async () => {
    service = await start({ command: [bin('rrs-server')], env: { PATH } });
    env = { RRS_URL: service.url, RRS_API_KEY: service.key ?? '' };
  });

  const report = (severity: string): string =>
    JSON.stringify({ findings: [{ title: 'Outdated OpenSSL', severity, asset: { type: 'host', name: `${severity}.example` }, rule: 'openssl' }] });

  test('rrs-server start prints its address and a key', () => {
    expect(printedUrl(service.stdout())).toBe(service.url);
    expect(service.key).toMatch(/^rrs_/);
  });

  test('rrs imports a report, and the gate fails on a critical finding and passes when nothing is new', async () => {
    writeFileSync(join(folder, 'report.json'), report('critical'));
    expect(await run(bin('rrs'), ['import', 'report.json'], env)).toMatchObject({ code: 0, stdout: expect.stringMatching(/new|created/i) });
    expect((await run(bin('rrs'), ['gate'], env)).code).toBe(1);
    const sarif = await run(bin('rrs'), ['gate', '--format', 'sarif'], env);
    expect(JSON.parse(sarif.stdout)).toMatchObject({ version: '2.1.0' });
    expect((await run(bin('rrs'), ['import', 'report.json'], env)).code).toBe(0);
    expect((await run(bin('rrs'), ['gate', '--new-only'], env)).code).toBe(0);
  });

  test('rrs says in one line what is wrong with a missing file and a service that does not answer', async () => {
    const missing = await run(bin('rrs'), ['import', 'missing.json'], env);
    expect(missing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^rrs: [^\n]*missing\.json[^\n]*\n$/) });
    const unreachable = await run(bin('rrs'), ['whoami'], { ...env, RRS_URL: 'http://127.0.0.1:9' });
    expect(unreachable).toMatchObject({ code: 3, stderr: expect.stringMatching(/^rrs: [^\n]+\n$/) });
  });

  test('a strict TypeScript program compiles against the client and runs', async () => {
    mkdirSync(join(folder, 'app'));
    writeFileSync(join(folder, 'app/main.ts'), program);
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
    };
    writeFileSync(join(folder, 'app/tsconfig.json'), JSON.stringify({ compilerOptions }));
    const compiled = await run(process.execPath, [join(checkout, 'node_modules/.bin/tsc'), '--project', 'app']);
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
    const ran = await run('node', ['app/main.js', service.url, service.key ?? '']);
    expect(ran).toEqual({ code: 0, stdout: 'owner Outdated OpenSSL verified\n', stderr: '' });
  });

  test('rrs-verify checks a package of the service', async () => {
    const keys = await (await fetch(`${service.url}/api/v1/riskops-evidence/keys`)).text();
    writeFileSync(join(folder, 'keys.json'), keys);
    const child = spawn(bin('rrs-verify'), ['package.zip', '--keys', 'keys.json'], { cwd: folder, env: { PATH }, stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    writeFileSync(join(folder, 'package.zip'), 'not a package');
    expect((await run(bin('rrs-verify'), ['package.zip', '--keys', 'keys.json'])).code).not.toBe(0);
  });
});

/** What somebody would write who uses the client: calls, lists, problems, files. It leaves `package.zip` behind. */
const program = `
import { createClient, RrsError, type FindingStatus, type Severity } from '@rrs/client';
import { bytesSource } from '@rrs/verifier';

declare const process: { argv: string[]; stdout: { write(text: string): void }; getBuiltinModule(name: 'fs'): { writeFileSync(path: string, data: Uint8Array): void } };
const [, , url = '', apiKey = ''] = process.argv;
const rrs = createClient({ url, apiKey });
const { role } = await rrs.call('getMe');
const severities: Severity[] = ['critical'];
const titles: string[] = [];
for await (const finding of rrs.list('listFindings', { query: { severity: severities } })) {
  const status: FindingStatus = finding.status;
  if (status === 'open') titles.push(finding.title);
}
const problem = await rrs.call('getFinding', { path: { id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11' } }).then(() => null, (error: unknown) => error);
if (!(problem instanceof RrsError) || problem.status !== 404) throw problem;
const item = await rrs.call('createWorkItem', { body: { title: 'Update OpenSSL', filter: { severity: severities } } });
const sealed = await rrs.call('createEvidencePackage', { body: { work_item_id: item.id }, header: { Prefer: 'wait=60' } });
if (!('package_id' in sealed)) throw new Error('only a dry run returns a preview');
const download = await rrs.call('downloadEvidencePackage', { path: { package_id: sealed.package_id } });
const bytes = new Uint8Array(await download.arrayBuffer());
if (bytesSource(bytes).size !== bytes.length) throw new Error('wrong size');
process.getBuiltinModule('fs').writeFileSync('package.zip', bytes);
const { verdict } = await rrs.call('verifyEvidencePackage', { path: { package_id: sealed.package_id } });
process.stdout.write([role, ...titles, verdict].join(' ') + '\\n');
`;
