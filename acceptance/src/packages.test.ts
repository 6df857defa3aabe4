import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { createClient } from '@rrs/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_BROWSER, openBrowser } from './browser.ts';
import { addBase, canStartImage, checkHealth, imageIn, startImage } from './container.ts';
import { temporaryFolder } from './folders.ts';
import { checkout, printedUrl, type Service, start } from './service.ts';

/** The Node and npm of the machine, as somebody has them who never saw this repository. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);
const tarballs = join(temporaryFolder(), 'packages');
/** The files of the container image: plain npm installs the packages into an empty folder of it. */
const image = temporaryFolder({ mode: 0o755 });
const folder = join(image, 'opt/rrs');
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
  mkdirSync(folder, { recursive: true });
  // How the machine reaches the registry is part of its environment. What `npm test` adds is not.
  const own = Object.entries(process.env).flatMap(([name, value]) => (/^npm_|^NODE_OPTIONS$/.test(name) || value === undefined ? [] : [[name, value]]));
  const environment = { ...Object.fromEntries(own), PATH, npm_config_prefer_offline: 'true' };
  const { code, stderr } = await run(join(checkout, 'deploy/image/assemble.sh'), [tarballs, image], environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('ERR!') });
}, 600_000);

function manifestOf(name: string): { version: string; dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'node_modules/@rrs', name, 'package.json'), 'utf8'));
}

test('packages contain built files, types and nothing else of the sources', () => {
  const names = ['cli', 'client', 'connectors', 'console', 'evidence-format', 'scan-reports', 'service', 'verifier'];
  expect(readdirSync(tarballs).sort()).toEqual(names.map((name) => `rrs-${name}-${manifestOf(name).version}.tgz`));
  expect(readdirSync(join(folder, 'node_modules/@rrs')).sort()).toEqual(names);
  for (const name of names) {
    const files = readdirSync(join(folder, 'node_modules/@rrs', name), { recursive: true }).map(String);
    expect(
      files.filter((file) => /(?<!\.d)\.ts$|\.test\.|(?:^|\/)(?:testing|fixtures|src)(?:\/|$)|fake|(?:^|\/)\.[^/]/.test(file)),
      name,
    ).toEqual([]);
    const hasTypes = files.includes('dist/index.d.ts');
    expect(hasTypes, name).toBe(['client', 'evidence-format', 'verifier'].includes(name));
  }
});

test('rrs and rrs-verify run on the Node of the machine', async () => {
  expect(await run(bin('rrs'), ['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('rrs: ') });
  expect(await run(bin('rrs'), ['--version'])).toEqual({ code: 0, stdout: `${manifestOf('cli').version}\n`, stderr: '' });
  expect(await run(bin('rrs-verify'), ['--version'])).toEqual({ code: 0, stdout: `${manifestOf('verifier').version}\n`, stderr: '' });
  expect(await run(bin('rrs-server'), ['--version'])).toEqual({ code: 0, stdout: `${manifestOf('service').version}\n`, stderr: '' });
});

test('everything that is for the Node of the machine loads on it', async () => {
  // A function that this Node does not have would otherwise be missed until somebody uses the command that needs it.
  const modules = ['cli', 'client', 'evidence-format', 'verifier'].flatMap((name) =>
    readdirSync(join(folder, 'node_modules/@rrs', name, 'dist'), { recursive: true })
      .map((file) => join(folder, 'node_modules/@rrs', name, 'dist', String(file)))
      .filter((file) => file.endsWith('.js') && !/\/(?:bin\/rrs|cli\/run)\.js$/.test(file)),
  );
  expect(modules.length).toBeGreaterThan(60);
  const loading = modules.map((file) => `import ${JSON.stringify(file)};`).join('\n');
  expect(await run('node', ['--input-type=module', '--eval', loading])).toEqual({ code: 0, stdout: '', stderr: '' });
});

describe('with a running service', () => {
  let service: Service;
  let env: Record<string, string>;
  let site: Server;
  const origin = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

  beforeAll(async () => {
    site = await serveClient();
    // The program starts another one on the Node that it brings, and both have to end.
    service = await start({ command: [bin('rrs-server')], env: { PATH, RRS_CORS_ORIGINS: origin() }, detached: true });
    env = { RRS_URL: service.url, RRS_API_KEY: service.key ?? '' };
  });
  afterAll(() => void site?.close());

  const report = (severity: string): string =>
    JSON.stringify({ findings: [{ title: 'Outdated OpenSSL', severity, asset: { type: 'host', name: `${severity}.example` }, rule: 'openssl' }] });

  test('rrs-server start prints its address and a key, and serves the console and the API documentation', async () => {
    expect(printedUrl(service.stdout())).toBe(service.url);
    expect(service.key).toMatch(/^rrs_/);
    const page = await fetch(`${service.url}/`, { headers: { accept: 'text/html' } });
    const html = await page.text();
    expect({ status: page.status, html }).toEqual({ status: 200, html: expect.stringContaining('<div id="root">') });
    const [, script = ''] = /src="([^"]+\.js)"/.exec(html) ?? [];
    expect((await fetch(new URL(script, service.url))).status).toBe(200);
    expect((await fetch(`${service.url}/docs`)).status).toBe(200);
  });

  test('rrs imports a report, and the gate fails on a critical finding and passes when nothing is new', async () => {
    writeFileSync(join(folder, 'report.json'), report('critical'));
    const imported = await run(bin('rrs'), ['import', 'rep*.json'], env);
    expect(imported).toMatchObject({ code: 0, stdout: expect.stringMatching(/new|created/i), stderr: expect.not.stringContaining('Warning') });
    expect((await run(bin('rrs'), ['gate'], env)).code).toBe(1);
    const sarif = await run(bin('rrs'), ['gate', '--format', 'sarif'], env);
    expect(JSON.parse(sarif.stdout)).toMatchObject({ version: '2.1.0' });
    expect((await run(bin('rrs'), ['import', 'report.json'], env)).code).toBe(0);
    expect((await run(bin('rrs'), ['gate', '--new-only'], env)).code).toBe(0);
  });

  test('rrs says in one line what is wrong with a missing file, a wrong key and a service that does not answer', async () => {
    const missing = await run(bin('rrs'), ['import', 'missing.json'], env);
    expect(missing).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^rrs: [^\n]*missing\.json[^\n]*\n$/) });
    const refused = await run(bin('rrs'), ['whoami'], { ...env, RRS_API_KEY: 'rrs_wrong' });
    expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^rrs: [^\n]*RRS_API_KEY[^\n]*\n$/) });
    const unreachable = await run(bin('rrs'), ['whoami'], { ...env, RRS_URL: 'http://127.0.0.1:9' });
    expect(unreachable).toMatchObject({ code: 3, stderr: expect.stringMatching(/^rrs: [^\n]+\n$/) });
  });

  test('a strict TypeScript program compiles against the client and runs, and rrs-verify checks the package that it downloads', async () => {
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
    writeFileSync(join(folder, 'app/package.json'), '{ "private": true, "type": "module" }');
    writeFileSync(join(folder, 'app/tsconfig.json'), JSON.stringify({ compilerOptions }));
    const compiled = await run(process.execPath, [join(checkout, 'node_modules/typescript/bin/tsc'), '--project', 'app']);
    expect(compiled).toEqual({ code: 0, stdout: '', stderr: '' });
    const ran = await run('node', ['app/main.js', service.url, service.key ?? '']);
    expect(ran).toEqual({ code: 0, stdout: 'owner Outdated OpenSSL verified\n', stderr: '' });
    writeFileSync(join(folder, 'keys.json'), await (await fetch(`${service.url}/api/v1/riskops-evidence/keys`)).text());
    expect((await run(bin('rrs-verify'), ['package.zip', '--keys', 'keys.json'])).code).toBe(0);
    writeFileSync(join(folder, 'package.zip'), 'not a package');
    expect((await run(bin('rrs-verify'), ['package.zip', '--keys', 'keys.json'])).code).not.toBe(0);
  });

  /** Another site, whose page loads the client as it was installed, without a bundler. */
  async function serveClient(): Promise<Server> {
    const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };
    const server = createServer((request, response) => {
      const path = request.url ?? '/';
      const content = path === '/' ? '<!doctype html><title>Another site</title>' : readFileSync(join(folder, 'node_modules/@rrs/client/dist', path));
      response.setHeader('content-type', types[extname(path)] ?? 'text/html').end(content);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  test('the client calls, lists and follows events in the page of another site', async ({ skip }) => {
    const browser = await openBrowser();
    if (browser === null) return skip(NO_BROWSER);
    try {
      const page = await browser.newPage();
      await page.goto(origin());
      await page.addScriptTag({ type: 'module', content: "import { createClient } from '/index.js'; globalThis.connect = createClient;" });
      await page.waitForFunction(() => 'connect' in globalThis);
      const result = await page.evaluate(inThePage, { url: service.url, apiKey: service.key ?? '' });
      expect(result).toEqual({ role: 'owner', pages: 3, listed: ['Third', 'Second', 'First'], first: 'First', resumed: ['Second', 'Third'] });
    } finally {
      await browser.close();
    }
  });
});

/** Runs in the page. The pages of the list are counted by their requests. */
async function inThePage({ url, apiKey }: { url: string; apiKey: string }) {
  const requested: string[] = [];
  const { connect }: { connect: typeof createClient } = Object(globalThis);
  const rrs = connect({
    url,
    apiKey,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      requested.push(new URL(String(input)).pathname);
      return response;
    },
  });
  const { role } = await rrs.call('getMe');
  const create = (title: string) => rrs.call('createWorkItem', { body: { title } });
  const titleOf = async (subject = ''): Promise<string> => (await rrs.call('getWorkItem', { path: { id: subject } })).title;
  const types = ['work_item.created' as const];

  const following = rrs.events({ types });
  const next = following.next();
  while (!requested.includes('/api/v1/events')) await new Promise((resolve) => setTimeout(resolve, 10));
  await create('First');
  const { value: last } = await next;
  await following.return();
  await create('Second');
  await create('Third');
  const resumed: string[] = [];
  for await (const { subject } of rrs.events({ types, ...(last ? { lastEventId: last.id } : {}) })) {
    resumed.push(await titleOf(subject));
    if (resumed.length === 2) break;
  }

  const listed: string[] = [];
  for await (const { title } of rrs.list('listWorkItems', { query: { limit: 1, sort: '-created_at' } })) {
    listed.push(title);
    if (listed.length === 3) break;
  }
  const pages = requested.filter((path) => path === '/api/v1/work-items').length - 3;
  return { role, pages, listed, first: await titleOf(last?.subject), resumed };
}

describe.runIf(canStartImage)('the container image', () => {
  test('runs as an unprivileged user on a root folder that cannot be written to, is healthy, keeps its data, and stops at a signal', async () => {
    addBase(image);
    const container = imageIn(image, join(checkout, 'Dockerfile'));
    const dataDir = join(temporaryFolder({ mode: 0o755 }), 'volume');
    const env = { PORT: '18080', HOST: '127.0.0.1', RRS_RATE_LIMIT: '0' };
    expect(checkHealth(container, env)).toBe(1);
    const first = await startImage(container, ['start'], { env, dataDir });
    expect(checkHealth(container, env)).toBe(0);
    const headers = { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' };
    const created = await fetch(`${first.url}/api/v1/work-items`, { method: 'POST', headers, body: '{"title":"Kept"}' });
    expect(created.status).toBe(201);
    expect(readFileSync(`/proc/${first.pid}/task/${first.pid}/children`, 'utf8').trim()).not.toBe('');
    expect(await first.stop()).toBe(0);

    const again = await startImage(container, ['start'], { env, dataDir });
    expect(await (await fetch(`${again.url}/api/v1/work-items`, { headers })).json()).toMatchObject({ data: [{ title: 'Kept' }] });
    expect(await again.stop()).toBe(0);
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
