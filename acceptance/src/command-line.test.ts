import { beforeAll, describe, expect, test } from 'vitest';
import { postgresPid, temporaryFolder } from './folders.ts';
import { call } from './http.ts';
import { type CommandResult, newDataDir, rrs, type Service, start } from './service.ts';

const dataDir = newDataDir();
const id = /^[0-9a-f]{8}-[0-9a-f-]{27}\n$/;
const key = /^rrs_[\w-]{30,}\n$/;

function ok(args: string[], input?: string): Promise<string> {
  return rrs(args, { dataDir, ...(input === undefined ? {} : { input }) }).then(({ code, stdout, stderr }: CommandResult) => {
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  });
}

async function refused(args: string[], message: string | RegExp, code = 1): Promise<void> {
  const answer = await rrs(args, { dataDir });
  expect(answer).toMatchObject({ code, stdout: '' });
  if (code === 1) expect(answer.stderr).toMatch(/^rrs-server: [^\n]+\n$/);
  expect(answer.stderr).toMatch(message);
}

describe('without a service', () => {
  test('help, version and settings work without a data folder', async () => {
    const options = { cwd: temporaryFolder(), env: { RRS_DATA_DIR: '', PORT: '9999', DATABASE_URL: 'postgresql://u:swordfish@h/d' } };
    for (const flag of ['--help', '-h', 'help']) {
      expect(await rrs([flag], options)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/rrs-server start.+rrs-server key create <name>.+rrs-server restore/s),
        stderr: '',
      });
    }
    for (const args of [
      ['key', 'create', '--help'],
      ['help', 'key', 'create'],
    ])
      expect(await rrs(args, options)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Usage: rrs-server key create <name> .+\nExamples:\n {2}rrs-server key create/s),
      });
    expect((await rrs(['key', '--help'], options)).stdout).toMatch(/key create.+key list.+key revoke/s);
    expect(await rrs(['--version'], options)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    const { code, stdout } = await rrs(['config'], options);
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^SETTING +DEFAULT +\S/);
    expect(lines).toContainEqual(expect.stringMatching(/^PORT +8080 +9999 +\S/));
    expect(lines).toContainEqual(expect.stringMatching(/^RRS_DATA_DIR +\.\/data +- +\S/));
    expect(lines).toContainEqual(expect.stringMatching(/^DATABASE_URL\[_FILE\] +- +\(set\) +\S/));
    for (const name of ['HOST', 'LOG_LEVEL', 'RRS_BOOTSTRAP_API_KEY', 'RRS_PUBLIC_URL', 'RRS_RATE_LIMIT', 'RRS_OIDC_ISSUER', 'RRS_TRUSTED_PROXIES']) {
      expect(stdout).toMatch(new RegExp(`^${name}\\b`, 'm'));
    }
    expect(stdout).not.toContain('swordfish');
  });

  test('unknown commands, options and arguments are refused', async () => {
    await Promise.all([
      refused([], /^rrs-server \d/, 2),
      refused(['fly'], /"fly"/, 2),
      refused(['start', '--port', '9'], /--port/, 2),
      refused(['key'], /"key"/),
      refused(['key', 'forge'], /"key forge"/),
      refused(['key', 'create', 'ci', '--rôle', 'owner'], /Unknown option '--rôle'/),
      refused(['org', 'create', 'two', 'words'], /words/),
    ]);
  });

  test('several commands can create organizations and keys at the same time', async () => {
    const created = await Promise.all(['acme', 'b', 'c'].map((slug) => ok(['org', 'create', slug, '--name', `${slug} corporation`])));
    for (const line of created) expect(line).toMatch(id);
    expect(await ok(['org', 'list'])).toMatch(/^SLUG +NAME +ID +CREATED\n(\S+ +\S+ corporation +\S+ +\S+\n){3}$/);
    expect(await ok(['key', 'create', 'before the start', '--role', 'owner', '--org', 'acme'])).toMatch(key);
    expect(postgresPid(dataDir)).toBeNull();
  });
});

describe('while the service runs', () => {
  let service: Service;
  beforeAll(async () => {
    service = await start({ dataDir });
  });
  const me = (token: string) => call(service.url, '/api/v1/me', { key: token.trim() });

  test('the service creates no first organization if there are organizations', () => {
    expect(service.key).toBeNull();
  });

  test('errors are one sentence', () =>
    Promise.all([
      refused(['org', 'create', 'acme'], /acme/),
      refused(['org', 'create', 'Not A Slug'], /slug/),
      refused(['key', 'create', 'ci', '--role', 'king', '--org', 'acme'], /--role must be one of:? owner, admin/),
      refused(['key', 'create', 'ci', '--role', 'owner', '--org', 'nobody'], /nobody/),
      refused(['key', 'revoke', 'rrs_nothing', '--org', 'acme'], /rrs_nothing/),
      refused(['member', 'remove', 'nobody@example.com', '--org', 'acme'], /nobody@example.com/),
      refused(['member', 'add', 'not an address', '--role', 'viewer', '--org', 'acme'], /not an address/),
    ]));

  test('a new key works immediately, and a revoked key stops working immediately', async () => {
    const token = await ok(['key', 'create', 'ci', '--role', 'analyst', '--org', 'acme', '--days', '30']);
    expect(token).toMatch(key);
    expect((await me(token)).body).toMatchObject({ role: 'analyst', organization: { slug: 'acme', name: 'acme corporation' } });

    const row = (list: string) => list.split('\n').find((line) => line.includes(' ci ')) ?? '';
    const listed = row(await ok(['key', 'list', '--org', 'acme']));
    const [prefix = ''] = listed.split(/ +/);
    expect(token.startsWith(prefix)).toBe(true);
    expect(listed).not.toContain(token.trim());

    expect(await ok(['key', 'revoke', prefix, '--org', 'acme'])).toBe('');
    expect((await me(token)).status).toBe(401);
    expect(row(await ok(['key', 'list', '--org', 'acme']))).toMatch(/\d{4}-\d\d-\d\dT\S+ +[0-9a-f-]{36}$/);
  });

  test('members can be added, listed and removed', async () => {
    const signIn = (email: string, password: string) => call(service.url, '/api/v1/sessions', { body: { email, password, organization: 'acme' } });
    const password = (await ok(['member', 'add', 'ann@example.com', '--role', 'owner', '--name', 'Ann', '--org', 'acme'])).trim();
    expect((await signIn('ann@example.com', password)).status).toBe(201);
    expect(await ok(['member', 'add', 'bob@example.com', '--role', 'viewer', '--org', 'acme', '--password-stdin'], 'a long enough password\n')).toBe('');
    expect((await signIn('bob@example.com', 'a long enough password')).status).toBe(201);
    expect(await ok(['member', 'list', '--org', 'acme'])).toMatch(
      /^E-MAIL +ROLE +NAME +ID\nann@example.com +owner +Ann +\S+\nbob@example.com +viewer +\S+ +\S+\n$/,
    );
    expect(await ok(['member', 'remove', 'bob@example.com', '--org', 'acme'])).toBe('');
    expect((await signIn('bob@example.com', 'a long enough password')).status).toBe(401);
  });
});
