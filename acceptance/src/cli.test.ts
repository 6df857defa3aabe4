import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { call } from './http.ts';
import { type CommandResult, checkout, rrs, run, type Service, startUsed, until } from './service.ts';
import { startVendor, type Vendor } from './vendor.ts';

let service: Service & { key: string };
const folder = temporaryFolder({ mode: 0o700 });
const home = temporaryFolder({ mode: 0o700 });

let vendor: Vendor;
afterAll(() => vendor?.close());

beforeAll(async () => {
  [service, vendor] = await Promise.all([startUsed({ env: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8' } }), startVendor()]);
  copyFileSync(join(checkout, 'scan-reports/src/formats/trivy/fixtures/image.json'), join(folder, 'trivy.json'));
  writeFileSync(join(folder, 'notes.json'), '{"not": "a report"}');
});

const program = [process.execPath, join(checkout, 'cli/bin/rrs.mjs')] as const;

function cli(args: readonly string[], { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {}): Promise<CommandResult> {
  return rrs(args, { command: program, cwd: folder, env: { HOME: home, RRS_URL: service.url, RRS_API_KEY: service.key, ...env }, input });
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
    expect(failed).toMatchObject({ code: 1, stderr: '', stdout: expect.stringMatching(/^SEVERITY .+\nGate failed: [1-9]\d* of /s) });
  });

  test('passes if nothing is new', async () => {
    scanAgain();
    const again = await cli(['import', 'trivy.json', '--track', 'main', '--complete']);
    expect(again.stdout).toMatch(/^trivy\.json: 0 new, 0 reopened, 0 fixed, 0 updated, [1-9]\d* unchanged/);
    expect(await cli(['gate', '--fail-on', 'critical,high,medium,low', '--new-only'])).toMatchObject({
      code: 0,
      stdout: 'Gate passed: 0 of 0 open findings are critical or high or medium or low.\n',
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
    expect(await cli(['gate', '--base', 'main', ...failOn])).toMatchObject({ code: 0, stdout: expect.stringContaining('0 of 0 open findings') });
    expect(await cli(['gate', '--track', 'pr-17', '--new-only', '--base', 'main', ...failOn])).toMatchObject({ code: 0 });
    expect(await cli(['gate', '--base', 'production', ...failOn])).toMatchObject({ code: 1 });
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
    const { code, stdout } = await cli(['import', '-', '--format', 'trivy', '--dry-run', '--json'], { input });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ status: 'succeeded', dry_run: true }]);
  });
});

describe('the templates for CI systems', () => {
  const failOn = 'critical,high,medium,low,unknown';
  const credentials = () => ({ HOME: home, RRS_URL: service.url, RRS_API_KEY: service.key });

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
      GITHUB_STEP_SUMMARY: summary,
      ...job,
    };
    return rrs([], { command: ['bash', join(checkout, 'integrations/github-action/run.sh')], cwd: folder, env });
  };

  test('the GitHub action compares a pull request with its base, and shows the result on the page of the job', async () => {
    scanAgain();
    writeFileSync(join(folder, 'summary.md'), 'Another step\n');
    const pull = { GITHUB_REF: 'refs/pull/18/merge', GITHUB_REF_NAME: '18/merge', GITHUB_BASE_REF: 'main' };
    expect(await onGitHub({}, pull)).toMatchObject({ code: 0, stdout: expect.stringContaining('Gate passed') });
    const main = { GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_BASE_REF: '' };
    scanAgain();
    expect(await onGitHub({ INPUT_SARIF_FILE: 'gate.sarif', INPUT_COMPLETE: 'true' }, main)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Gate failed'),
    });
    expect(JSON.parse(readFileSync(join(folder, 'gate.sarif'), 'utf8'))).toMatchObject({ version: '2.1.0' });
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toMatch(/^Another step\n\*\*Gate passed\*\*.+^\*\*Gate failed\*\*.+^\| critical|high/ms);
    expect(await onGitHub({ INPUT_REPORTS: 'missing.json; rm -rf x' }, main)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('missing.json; rm -rf x cannot be read'),
    });
  });

  test('the GitHub action passes every input on to its step', () => {
    const action = readFileSync(join(checkout, 'integrations/github-action/action.yml'), 'utf8');
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
    expect(stdout).toMatch(/^a\.json: .+^b\.json: .+^2 reports: /ms);
    expect(await cli(['import', 'reports/*.xml'])).toMatchObject({ code: 2, stderr: expect.stringContaining('No file matches reports/*.xml') });
    expect(await cli(['import', 'reports'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is a folder') });
  });

  test('can be uploaded without waiting, and the gate waits for them', async () => {
    scanAgain();
    expect((await cli(['import', 'trivy.json', '--track', 'main', '--complete', '--no-wait'])).stdout).toMatch(/^trivy\.json: (queued as import|0 new)/);
    expect(await cli(['gate', '--fail-on', 'critical,high,medium,low', '--new-only'])).toMatchObject({ code: 0, stdout: expect.stringContaining('passed') });
  });
});

const json = async <T>(args: string[]): Promise<T> => {
  const { stdout, stderr } = await cli([...args, '--json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout) as T;
};

describe('daily work', () => {
  const found: { id: string; tags: string[] }[] = [];
  let item = '';

  test('findings are triaged by id, by standard input and by filter, which needs a confirmation', async () => {
    found.push(...(await json<typeof found>(['findings', 'list', '--status', 'open', '--sort=-severity'])));
    const [first, second] = found;
    expect(await cli(['findings', 'triage', first?.id ?? '', '--to', 'in_progress'])).toMatchObject({
      code: 0,
      stdout: 'Changed 1 finding: 0 unchanged, 0 refused.\n',
    });
    const tagged = await cli(['findings', 'triage', '-', '--add-tag', 'seen,ours'], { input: `${first?.id}\n${second?.id}\n` });
    expect(tagged.stdout).toBe('Changed 2 findings: 0 unchanged, 0 refused.\n');
    expect(await json(['findings', 'show', first?.id ?? ''])).toMatchObject({ status: 'in_progress', tags: expect.arrayContaining(['ours', 'seen']) });
    expect(await cli(['findings', 'triage', '--tag', 'ours', '--to', 'open'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect((await cli(['findings', 'triage', '--tag', 'ours', '--to', 'open', '--dry-run'])).stdout).toMatch(/^Would change 1 finding: 1 unchanged/);
    expect((await cli(['findings', 'triage', '--tag', 'ours', '--to', 'open', '--yes'])).stdout).toMatch(/^Changed 1 finding: 1 unchanged/);
    expect(await cli(['findings', 'triage', first?.id ?? '', '--to', 'false_positive'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('justification'),
    });
  });

  test('findings are exported to a file or a pipe', async () => {
    expect(await cli(['findings', 'export', '--format', 'sarif', '--output', 'out.sarif'])).toMatchObject({ code: 0, stdout: '' });
    expect(JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8'))).toMatchObject({ version: '2.1.0' });
    expect((await cli(['findings', 'export', '--severity', 'critical'])).stdout).toMatch(/^id,/);
    expect(await cli(['findings', 'export', '--output', 'no/such/folder.csv'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be written'),
    });
  });

  test('assets are shown and changed by name', async () => {
    const [asset] = await json<{ id: string; name: string }[]>(['assets', 'list', '--type', 'container_image']);
    const name = asset?.name ?? '';
    expect((await cli(['assets', 'update', name, '--criticality', 'critical', '--owner', 'team-shop'])).stdout).toContain('team-shop');
    expect(await json(['assets', 'show', name])).toMatchObject({
      id: asset?.id,
      criticality: 'critical',
      tracks: expect.arrayContaining([expect.objectContaining({ name: 'main' })]),
    });
    expect(await cli(['assets', 'show', 'no-such-asset'])).toMatchObject({ code: 2, stderr: expect.stringContaining('rrs assets list') });
    expect(await cli(['assets', 'update', name])).toMatchObject({ code: 2 });
  });

  test('work is created for a filter, changed and approved after a look at it', async () => {
    ({ id: item } = await json<{ id: string }>(['work', 'create', '--title', 'Update the base image', '--tag', 'ours', '--due', '2027-03-31']));
    expect((await cli(['work', 'add', item, found[2]?.id ?? ''])).stdout).toBe('Added 1 finding, 0 were already there.\n');
    expect((await cli(['work', 'update', item, '--assignee', 'ann@example.com', '--priority', 'high'])).stdout).toContain('ann@example.com');
    expect((await cli(['work', 'list', '--assignee', 'ann@example.com'])).stdout).toContain('0 of 3');
    expect((await cli(['work', 'show', item])).stdout).toMatch(/Update the base image\n.+2027-03-31.+\nSEVERITY/s);
    expect(await cli(['work', 'approve', item])).toMatchObject({ code: 0, stderr: expect.stringContaining('--yes') });
  });

  test('evidence is sealed, downloaded, verified with the published keys and shared', async () => {
    expect((await cli(['evidence', 'seal', item, '--dry-run'])).stdout).toMatch(/would state.+not_remediated/s);
    const { package_id: id } = await json<{ package_id: string }>(['evidence', 'seal', item, '--note', 'For the test']);
    expect((await cli(['evidence', 'list', '--work-item-id', item])).stdout).toContain(id);
    expect(await cli(['evidence', 'download', id, '--output', 'evidence.zip'])).toMatchObject({ code: 0, stdout: '' });
    expect(await cli(['evidence', 'verify', 'evidence.zip'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/verified/i) });
    const bytes = readFileSync(join(folder, 'evidence.zip'));
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    writeFileSync(join(folder, 'tampered.zip'), bytes);
    expect((await cli(['evidence', 'verify', 'tampered.zip'])).code).toBe(1);
    const shared = await cli(['evidence', 'share', id, '--recipient', 'auditor@example.com', '--hours', '2']);
    expect(await (await fetch(shared.stdout.trim())).json()).toMatchObject({ package_id: id });
    expect(existsSync(join(folder, 'evidence.zip.part'))).toBe(false);
  });

  test('connections are listed, run and watched', async () => {
    expect(await cli(['connections', 'list'])).toMatchObject({ code: 0, stdout: 'No connections.\n' });
    vendor.setSize({ issues: 3, records: 3 });
    const connection = { provider: 'report_url', name: 'Nightly', config: { url: `${vendor.origin}/reports/shop`, format: 'generic' } };
    await call(service.url, '/api/v1/integrations', { key: service.key, body: connection });
    expect(await cli(['connections', 'sync', 'nightly'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nightly: succeeded\. 3 new/) });
    expect(await cli(['connections', 'health'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/healthy .+ Nightly/) });
    expect(await cli(['connections', 'sync', 'Weekly'])).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no connection "Weekly"') });
  });

  test('events are watched, and watching continues after the last one', async () => {
    const watching = run(['watch', '--types', 'work_item.*', '--count', '1', '--json'], {
      command: program,
      env: { HOME: home, RRS_URL: service.url, RRS_API_KEY: service.key },
    });
    await until('the first event', async () => {
      await cli(['work', 'create', '--title', 'Something happens']);
      return watching.exited();
    });
    const { id } = JSON.parse(watching.stdout()) as { id: string };
    await cli(['work', 'create', '--title', 'Something else happens']);
    expect((await cli(['watch', '--types', 'work_item.*', '--since', id, '--count', '1'])).stdout).toMatch(/work_item\.created/);
  });

  test('what has an id is opened in the browser', async () => {
    writeFileSync(join(home, 'browser'), `#!/bin/sh\necho "$1" > ${join(home, 'opened')}\n`);
    chmodSync(join(home, 'browser'), 0o755);
    expect(await cli(['open', item], { env: { BROWSER: join(home, 'browser') } })).toMatchObject({ code: 0, stdout: `${service.url}/work/${item}\n` });
    await until('the browser was started', () => existsSync(join(home, 'opened')));
    expect((await cli(['open', '--print'])).stdout).toBe(`${service.url}/\n`);
    expect(await cli(['open', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing has the id') });
  });
});

test('findings can be listed, filtered and shown', async () => {
  const { stdout } = await cli(['findings', 'list', '--status', 'open', '--limit', '2', '--json']);
  const found = JSON.parse(stdout) as { id: string; title: string }[];
  expect(found).toHaveLength(2);
  const [first] = found;
  expect((await cli(['findings', 'show', first?.id ?? ''])).stdout).toContain('severity');
  expect(await cli(['findings', 'list', '--q', 'no-such-word-anywhere'])).toMatchObject({ code: 0, stdout: 'No findings.\n' });
});

test.each([
  ['a file that does not exist', ['import', 'missing.json'], 2, 'missing.json cannot be read'],
  ['a file that is not a report', ['import', 'notes.json'], 1, ''],
  ['a value that the service does not know', ['findings', 'list', '--severity', 'severe'], 2, '--severity must be one of: critical'],
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
  expect(await cli(['whoami'], { env: { RRS_URL: 'http://127.0.0.1:9' } })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('No response from http://127.0.0.1:9'),
  });
  expect(await cli(['whoami'], { env: { RRS_API_KEY: 'rrs_wrong' } })).toMatchObject({ code: 3, stderr: expect.stringContaining('rrs login') });
});
