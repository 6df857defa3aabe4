import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/src/main.ts';
import { testDailyWork } from './daily-work.ts';
import { temporaryFolder } from './folders.ts';
import { startReceiver } from './receiver.ts';
import { type CommandResult, checkout, rrs, type Service, startUsed } from './service.ts';
import { startVendor, type Vendor } from './vendor.ts';

let service: Service & { key: string };
const folder = temporaryFolder({ mode: 0o700 });
const home = temporaryFolder({ mode: 0o700 });

let vendor: Vendor;
const before = process.cwd();
afterAll(() => {
  process.chdir(before);
  vendor?.close();
});

beforeAll(async () => {
  // Commands write their files where they run.
  process.chdir(folder);
  [service, vendor] = await Promise.all([startUsed({ env: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8' } }), startVendor()]);
  copyFileSync(join(checkout, 'scan-reports/src/formats/trivy/fixtures/image.json'), join(folder, 'trivy.json'));
  writeFileSync(join(folder, 'notes.json'), '{"not": "a report"}');
});

const program = [process.execPath, join(checkout, 'cli/bin/rrs.mjs')] as const;

/** As a process if it reads standard input. A process for each of the others would take most of the time, and packages.test.ts starts the program as people do. */
async function cli(args: readonly string[], { env = {}, input }: { env?: Record<string, string>; input?: string } = {}): Promise<CommandResult> {
  const settings = { HOME: home, RRS_URL: service.url, RRS_API_KEY: service.key, ...env };
  if (input !== undefined) return rrs(args, { command: program, cwd: folder, env: settings, input });
  const printed: Record<'stdout' | 'stderr', Uint8Array[]> = { stdout: [], stderr: [] };
  const write = (to: keyof typeof printed) => (text: string | Uint8Array) => void printed[to].push(Buffer.from(text));
  const terminal = { out: write('stdout'), err: write('stderr'), color: false, live: false, width: Number.POSITIVE_INFINITY };
  const code = await main(args, { terminal, env: { PATH: process.env.PATH, ...settings }, folder });
  return { code, stdout: Buffer.concat(printed.stdout).toString(), stderr: Buffer.concat(printed.stderr).toString() };
}

test('help shows every command', async () => {
  const { stdout, code } = await cli([]);
  expect(code).toBe(0);
  for (const name of ['login', 'import', 'gate', 'findings list', 'evidence seal', 'connections sync', 'watch']) expect(stdout).toContain(`\n  ${name}  `);
  expect((await cli(['gate', '--help'])).stdout).toMatch(/^Usage: rrs gate .+\nExamples:\n {2}\S/s);
});

test('login stores the address and the key for the user alone, and never prints the key', async () => {
  const signedIn = await cli(['login', '--url', service.url], { env: { RRS_API_KEY: '' }, input: `${service.key}\n` });
  expect(signedIn).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('owner of') });
  expect(signedIn.stdout).not.toContain(service.key);
  const file = join(home, '.config/rrs/login.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const refused = await cli(['login', '--url', service.url], { env: { RRS_API_KEY: '' }, input: 'rrs_wrong\n' });
  expect(refused).toEqual({ code: 3, stdout: '', stderr: expect.stringMatching(/^rrs: \S+ did not accept the API key, so nothing was stored\. [^\n]+\n$/) });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ url: service.url, api_key: service.key });
  expect(await cli(['whoami'], { env: { RRS_URL: '', RRS_API_KEY: '' } })).toMatchObject({ code: 0, stdout: expect.stringContaining('owner of') });
});

/** The same findings at a later time. */
function scanAgain(): void {
  const report = readFileSync(join(folder, 'trivy.json'), 'utf8');
  writeFileSync(join(folder, 'trivy.json'), report.replace(/"CreatedAt": "[^"]+"/, `"CreatedAt": "${new Date().toISOString()}"`));
}

async function imported(...options: string[]): Promise<string> {
  const { stdout } = await cli(['import', 'trivy.json', '--json', ...options]);
  const [{ id = '' } = {}] = JSON.parse(stdout) as { id?: string }[];
  return id;
}

describe('a pipeline', () => {
  test('imports a report, and the gate fails on what is critical', async () => {
    expect(await cli(['gate'])).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to decide on') });
    const imported = await cli(['import', 'trivy.json', '--track', 'main', '--complete']);
    expect(imported).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^trivy\.json: [1-9]\d* new, 0 reopened, 0 fixed/) });
    const failed = await cli(['gate', '--fail-on', 'critical,high,medium,low', '--new-only']);
    expect(failed).toMatchObject({
      code: 1,
      stderr: '',
      stdout: expect.stringMatching(/^SEVERITY .+\nGate failed: [1-9]\d* of .+ critical, high, medium or low\.\n$/s),
    });
  });

  test('passes if nothing is new', async () => {
    scanAgain();
    const again = await cli(['import', 'trivy.json', '--track', 'main', '--complete']);
    expect(again.stdout).toMatch(/^trivy\.json: 0 new, 0 reopened, 0 fixed, 0 updated, [1-9]\d* unchanged/);
    expect(await cli(['gate', '--fail-on', 'critical,high,medium,low', '--new-only'])).toMatchObject({
      code: 0,
      stdout: 'Gate passed: there are no open findings to decide on.\n',
    });
  });

  test('decides in the same way if the same file is imported again', async () => {
    const failOn = ['--fail-on', 'critical,high,medium,low'];
    await imported('--track', 'main', '--complete');
    const first = await cli(['gate', ...failOn]);
    expect(first.code).toBe(1);
    await imported('--track', 'main', '--complete');
    expect(await cli(['gate', ...failOn])).toEqual(first);
  });

  test('is told which option is missing if a report does not name what was scanned', async () => {
    writeFileSync(join(folder, 'semgrep.json'), readFileSync(join(checkout, 'scan-reports/src/formats/semgrep/fixtures/cli-0.json')));
    const { code, stdout } = await cli(['import', 'semgrep.json']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('Add --asset, such as --asset repository:github.com/acme/shop.') });
  });

  test('gates on an import that is not complete, and is not told that it passed if a later scan replaced the import', async () => {
    scanAgain();
    const first = await imported('--track', 'main', '--complete');
    scanAgain();
    const second = await imported('--track', 'main');
    expect(await cli(['gate', second, '--fail-on', 'critical,high,medium,low'])).toMatchObject({ code: 1 });
    scanAgain();
    await imported('--track', 'main', '--complete');
    expect(await cli(['gate', first])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('a later scan replaced it') });
  });

  test('compares a pull request with the base track', async () => {
    const failOn = ['--fail-on', 'critical,high,medium,low,unknown'];
    scanAgain();
    await imported('--track', 'pr-17');
    expect(await cli(['gate', ...failOn])).toMatchObject({ code: 1 });
    expect(await cli(['gate', '--base', 'main', ...failOn])).toMatchObject({ code: 0, stdout: expect.stringContaining('no open findings') });
    expect(await cli(['gate', '--track', 'pr-17', '--new-only', '--base', 'main', ...failOn])).toMatchObject({ code: 0 });
    expect(await cli(['gate', '--base', 'production', ...failOn])).toMatchObject({ code: 1 });
    scanAgain();
    await imported('--track', 'main', '--complete');
  });

  test('fails a pull request that brings back what the base track no longer has', async () => {
    const found = (...titles: string[]) => {
      const findings = titles.map((title) => ({ title, severity: 'high', tool: 'notes', path: `${title}.ts` }));
      writeFileSync(join(folder, 'back.json'), JSON.stringify({ findings }));
    };
    const send = async (track: string, ...options: string[]) => {
      const sent = await cli(['import', 'back.json', '--asset', 'repository:github.com/acme/back', '--track', track, '--complete', ...options]);
      expect(sent).toMatchObject({ code: 0 });
      return sent.stdout;
    };
    found('fixed', 'kept');
    await send('main');
    found('kept');
    expect(await send('main')).toContain('1 fixed');
    await send('pr-3');
    expect(await cli(['gate', '--base', 'main'])).toMatchObject({ code: 0 });
    found('fixed', 'kept');
    expect(await send('pr-3')).toContain('0 new, 1 reopened, 0 fixed, 0 updated, 1 unchanged');
    const failed = { code: 1, stdout: expect.stringContaining('Gate failed: 1 of 1') };
    expect(await cli(['gate', '--base', 'main'])).toMatchObject(failed);
    expect(await cli(['gate', '--asset', 'github.com/acme/back', '--track', 'pr-3', '--base', 'main'])).toMatchObject(failed);
    await send('pr-3');
    expect(await cli(['gate', '--base', 'main'])).toMatchObject(failed);
    expect((await cli(['findings', 'list', '--asset', 'github.com/acme/back', '--status', 'open'])).stdout).not.toContain('fixed');
    found('kept');
    await send('pr-3');
    expect(await cli(['gate', '--track', 'pr-3', '--base', 'main'])).toMatchObject({ code: 0 });
    scanAgain();
    await imported('--track', 'main', '--complete');
  });

  test('gets the result as SARIF, JUnit, Markdown and JSON', async () => {
    const as = async (format: string): Promise<string> => (await cli(['gate', '--fail-on', 'critical,high,medium,low', '--format', format])).stdout;
    const sarif = JSON.parse(await as('sarif')) as { version: string; runs: { results: { level: string }[] }[] };
    const { failing, passed } = JSON.parse(await as('json')) as { passed: boolean; failing: unknown[] };
    expect(passed).toBe(false);
    expect(sarif).toMatchObject({ version: '2.1.0' });
    expect(sarif.runs[0]?.results).toHaveLength(failing.length);
    expect(await as('junit')).toContain(`failures="${failing.length}"`);
    expect(await as('markdown')).toMatch(/^\*\*Gate failed\*\*: /);
  });

  test('reads a report from standard input and prints JSON for programs', async () => {
    const input = readFileSync(join(folder, 'trivy.json'), 'utf8');
    expect((await cli(['import', '-', '--dry-run'], { input })).stdout).toMatch(/^standard input: would be 0 new, /);
    const { code, stdout } = await cli(['import', '-', '--format', 'trivy', '--dry-run', '--json'], { input });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ status: 'succeeded', dry_run: true }]);
    const both = await cli(['ci', 'trivy.json', '--track', 'main', '--fail-on', 'critical,high,medium,low', '--json']);
    expect(both.code).toBe(1);
    expect(JSON.parse(both.stdout)).toMatchObject({ imports: [{ status: 'succeeded' }], gate: { passed: false } });
    const imports = await cli(['ci', 'trivy.json', '--track', 'main', '--no-gate', '--json']);
    expect(JSON.parse(imports.stdout)).toMatchObject({ imports: [{ status: 'succeeded' }], gate: null });
  });
});

describe('the templates for CI systems', () => {
  const failOn = 'critical,high,medium,low,unknown';
  const credentials = () => ({ HOME: home, RRS_URL: service.url, RRS_API_KEY: service.key });

  const action = readFileSync(join(checkout, 'integrations/github-action/action.yml'), 'utf8');
  /** The script of the step, which GitHub runs in this way. */
  const step = /^ {6}run: '(.+)'$/m.exec(action)?.[1] ?? 'exit 9';

  /** What the step of the action gets: its inputs, and what GitHub says about the job. */
  const onGitHub = (inputs: Record<string, string>, job: Record<string, string>): Promise<CommandResult> => {
    const summary = join(folder, 'summary.md');
    const env = {
      ...credentials(),
      INPUT_COMMAND: program.join(' '),
      INPUT_REPORTS: '  trivy.json\n\n',
      INPUT_FAIL_ON: failOn,
      ...inputs,
      GITHUB_ACTIONS: 'true',
      GITHUB_ACTION_PATH: join(checkout, 'integrations/github-action'),
      GITHUB_STEP_SUMMARY: summary,
      ...job,
    };
    return rrs([], { command: ['bash', '-e', '-o', 'pipefail', '-c', step], cwd: folder, env });
  };

  test('the GitHub action compares a pull request with its base, and shows the result on the page of the job', async () => {
    scanAgain();
    writeFileSync(join(folder, 'summary.md'), 'Another step\n');
    const pull = { GITHUB_REF: 'refs/pull/18/merge', GITHUB_REF_NAME: '18/merge', GITHUB_BASE_REF: 'main' };
    expect(await onGitHub({}, pull)).toMatchObject({ code: 0, stdout: expect.stringContaining('Gate passed') });
    const main = { GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_BASE_REF: '' };
    scanAgain();
    expect(await onGitHub({ INPUT_SARIF_FILE: 'gate.sarif', INPUT_COMPLETE: 'true', INPUT_LOOKED_FOR: 'secrets\nlicenses\n' }, main)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Gate failed'),
    });
    expect(JSON.parse(readFileSync(join(folder, 'gate.sarif'), 'utf8'))).toMatchObject({ version: '2.1.0' });
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toMatch(/^Another step\n\*\*Gate passed\*\*.+^\*\*Gate failed\*\*.+^\| critical|high/ms);
    expect(await onGitHub({ INPUT_REPORTS: 'missing.json; rm -rf x' }, main)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('missing.json; rm -rf x cannot be read'),
    });
    expect(await onGitHub({ INPUT_REPORTS: '\n' }, main)).toMatchObject({ code: 2, stderr: expect.stringContaining('Name the report files') });
  });

  test('the GitHub action passes every input on to its step', () => {
    const inputs = [...action.slice(0, action.indexOf('\nruns:')).matchAll(/^ {2}([a-z-]+):$/gm)].map(([, name]) => name ?? '');
    expect(inputs.length).toBeGreaterThan(10);
    for (const name of inputs) expect(action).toContain(`\${{ inputs.${name} }}`);
    for (const [, variable] of action.matchAll(/(INPUT_[A-Z_]+):/g))
      expect(readFileSync(join(checkout, 'integrations/github-action/run.sh'), 'utf8')).toContain(variable);
  });

  test('the GitLab template imports, decides and writes a report for the merge request', async () => {
    const template = readFileSync(join(checkout, 'integrations/gitlab-ci/rrs.yml'), 'utf8');
    const script = /^ {4}- (set -f; .+)$/m.exec(template)?.[1] ?? '';
    const job = {
      GITLAB_CI: 'true',
      CI_COMMIT_REF_NAME: 'main',
      RRS_COMMAND: program.join(' '),
      RRS_REPORTS: 'tr*.json',
      RRS_FAIL_ON: failOn,
      RRS_OPTIONS: '--complete',
    };
    scanAgain();
    const failed = await rrs([], { command: ['bash', '-c', script], cwd: folder, env: { ...credentials(), ...job } });
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('Gate failed') });
    expect(readFileSync(join(folder, 'rrs-gate.xml'), 'utf8')).toMatch(/<testsuite name="rrs gate" tests="\d+" failures="[1-9]/);
    expect(readFileSync(join(folder, 'rrs-gate.md'), 'utf8')).toContain('**Gate failed**');
  });
});

describe('files', () => {
  test('can be named by patterns that the shell left alone, and are summed up', async () => {
    mkdirSync(join(folder, 'reports/deep'), { recursive: true });
    for (const name of ['reports/a.json', 'reports/deep/b.json']) copyFileSync(join(folder, 'trivy.json'), join(folder, name));
    const { code, stdout, stderr } = await cli(['import', 'reports/**/*.json', '--dry-run']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^reports\/a\.json: .+^reports\/deep\/b\.json: .+^2 reports: /ms);
    expect(await cli(['import', 'reports/*.xml'])).toMatchObject({ code: 2, stderr: expect.stringContaining('No file matches reports/*.xml') });
    expect(await cli(['import', 'reports'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is a folder') });
  });

  test('are imported and decided on if the program cannot write to its own folder, as in containers', async () => {
    const env = { HOME: join(folder, 'notes.json') };
    expect(await cli(['ci', 'trivy.json', '--track', 'main'], { env })).toMatchObject({ stdout: expect.stringMatching(/^Gate (?:passed|failed): /m) });
    const { code, stderr } = await cli(['import', 'trivy.json', '--track', 'main'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/Name them: rrs gate [0-9a-f-]{36}\n$/) });
  });

  test('of another folder do not replace the imports that the gate decides on', async () => {
    const first = await imported('--track', 'main');
    await rrs(['import', join(folder, 'trivy.json'), '--track', 'main'], {
      command: program,
      cwd: home,
      env: { HOME: home, RRS_URL: service.url, RRS_API_KEY: service.key },
    });
    expect((await cli(['gate', first])).stdout).toBe((await cli(['gate'])).stdout);
  });

  test('can be uploaded without waiting, and the gate waits for them', async () => {
    scanAgain();
    expect((await cli(['import', 'trivy.json', '--track', 'main', '--complete', '--no-wait'])).stdout).toMatch(/^trivy\.json: (queued as import|0 new)/);
    expect(await cli(['gate', '--fail-on', 'critical,high,medium,low', '--new-only'])).toMatchObject({ code: 0, stdout: expect.stringContaining('passed') });
  });
});

describe('daily work', () => {
  testDailyWork({ cli, folder, home, program, service: () => service, vendor: () => vendor });
});

test.each([
  ['a file that does not exist', ['import', 'missing.json'], 2, 'missing.json cannot be read'],
  ['a file that is not a report', ['import', 'notes.json'], 1, ''],
  ['a value that the service does not know', ['findings', 'list', '--severity', 'severe'], 2, '--severity must be one of: critical'],
  ['a kind of asset that the service does not know', ['import', 'trivy.json', '--asset', 'thing:shop'], 2, '--asset must be one of: host'],
  ['what cannot be an id', ['findings', 'show', 'shop'], 2, 'The id must be a UUID'],
  ['what cannot be the id of a finding of a work item', ['work', 'create', 'shop', '--title', 'Update'], 2, 'The id must be a UUID'],
  ['an unknown command', ['fly'], 2, 'There is no command "fly"'],
  ['half a command', ['findings'], 2, '"findings" needs one of: list, show, triage, export'],
  ['an unknown option', ['gate', '--fast'], 2, "Unknown option '--fast'"],
  ['an unknown reason to fail', ['gate', '--fail-on', 'urgent'], 2, '--fail-on cannot be "urgent"'],
])('%s gets one line that says what to do', async (_, args, code, message) => {
  const result = await cli(args);
  expect(result.code).toBe(code);
  if (code !== 1) expect(result.stderr).toMatch(/^rrs: [^\n]+\n$/);
  expect(result.stderr).toContain(message);
});

test('a service that cannot be reached and a wrong key are problems with the service', async () => {
  const stopped = await startReceiver();
  stopped.close();
  expect(await cli(['import', 'trivy.json'], { env: { RRS_URL: stopped.url } })).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(/^rrs: No response from http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED [^\n]+\n$/),
  });
  expect(await cli(['whoami'], { env: { RRS_API_KEY: 'rrs_wrong' } })).toMatchObject({ code: 3, stderr: expect.stringContaining('rrs login') });
});
