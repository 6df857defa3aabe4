import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { type CommandResult, checkout, rrs, type Service, startUsed } from './service.ts';

let service: Service & { key: string };
const folder = temporaryFolder({ mode: 0o700 });
const home = temporaryFolder({ mode: 0o700 });

beforeAll(async () => {
  service = await startUsed();
  copyFileSync(join(checkout, 'scan-reports/src/formats/trivy/fixtures/image.json'), join(folder, 'trivy.json'));
  writeFileSync(join(folder, 'notes.json'), '{"not": "a report"}');
});

const program = [process.execPath, join(checkout, 'cli/bin/rrs.mjs')] as const;

function cli(args: readonly string[], { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {}): Promise<CommandResult> {
  return rrs(args, { command: program, cwd: folder, env: { HOME: home, RRS_URL: service.url, RRS_API_KEY: service.key, ...env }, input });
}

test('help shows every command, and each command has examples', async () => {
  const { stdout, code } = await cli([]);
  expect(code).toBe(0);
  const names = [...stdout.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map(([, name = '']) => name);
  expect(names).toEqual(expect.arrayContaining(['login', 'import', 'gate', 'findings list', 'findings show']));
  for (const name of names) expect((await cli([...name.split(' '), '--help'])).stdout).toMatch(/^Usage: rrs .+\nExamples:\n {2}\S/s);
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

  test('is not told that it passed if the service cannot know', async () => {
    const { stdout } = await cli(['import', 'trivy.json', '--track', 'main', '--json']);
    const [{ id = '' } = {}] = JSON.parse(stdout) as { id?: string }[];
    expect(await cli(['gate', id])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('does not know which') });
    scanAgain();
    await cli(['import', 'trivy.json', '--track', 'main', '--complete']);
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
  ['a value that the service does not know', ['findings', 'list', '--severity', 'severe'], 3, 'must be one of'],
  ['an unknown command', ['fly'], 2, 'There is no command "fly"'],
  ['half a command', ['findings'], 2, '"findings" needs one of: list, show'],
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
