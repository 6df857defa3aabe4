import { generateKeyPairSync } from 'node:crypto';
import { Type } from 'typebox';
import { expect, it, onTestFinished } from 'vitest';
import type { Settings } from '../../core/contract.ts';
import { createHttp } from '../../core/http.ts';
import { defaultLimits } from '../../core/http-host.ts';
import { githubWith } from '../../scanners/github/fake.ts';
import { github } from '../../scanners/github/index.ts';
import { serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf, sender } from '../../testing/host.ts';
import { githubIssuesFake, githubIssuesWith } from '../../ticketing/github_issues/fake.ts';
import { githubIssues } from '../../ticketing/github_issues/index.ts';
import { fakeApp } from './fake-app.ts';

async function serve(app = fakeApp(), credentials: Partial<typeof app.credentials> = {}) {
  const fake = await serveFake(githubWith({ app }), { pageSize: 10 });
  onTestFinished(fake.close);
  const settings = { config: { api_url: fake.origin, organization: 'acme' }, credentials: { ...app.credentials, ...credentials } } as Settings;
  return { app, settings, logins: () => fake.requests.filter(({ url }) => url.pathname.startsWith('/app/')).length };
}

it('reads alerts with one installation token for the whole run', async () => {
  const { settings, logins } = await serve();
  const run = await collect(github, contextOf(github, settings));
  expect(run).toMatchObject({ coverage: 'complete', unread: [] });
  expect(run.items.length).toBeGreaterThan(20);
  expect(logins()).toBe(1);
});

it.each([
  ['ahead', 3_600_000],
  ['ahead by two minutes', 120_000],
  ['behind', -3_600_000],
])('works if the clock of GitHub is %s', async (_how, aheadMs) => {
  const { settings } = await serve(fakeApp({ aheadMs }));
  expect(await collect(github, contextOf(github, settings))).toMatchObject({ coverage: 'complete', unread: [] });
});

it('keeps a token until shortly before it expires and replaces one that GitHub revoked', async () => {
  const { app, settings, logins } = await serve();
  let now = Date.now();
  const host = { sender, signal: new AbortController().signal, limits: defaultLimits, wait: async () => {}, onRequest: () => {} };
  const http = createHttp(github, settings, { ...host, now: () => now });
  const read = () => http.getJson('orgs/acme/repos', Type.Array(Type.Unknown()));
  await read();
  now += 58 * 60_000;
  await read();
  expect(logins()).toBe(1);
  now += 90_000;
  await read();
  expect(logins()).toBe(2);
  app.revoke();
  await read();
  expect(logins()).toBe(3);
});

it('names the app if the private key is not its own', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const private_key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const { settings, logins } = await serve(fakeApp(), { private_key });
  await expect(github.check(contextOf(github, settings))).rejects.toMatchObject({
    kind: 'credentials',
    message: expect.stringMatching(/belongs to the app with the ID 1234567\. Response: A JSON web token could not be decoded$/),
  });
  expect(logins()).toBe(1);
});

it('says that the installation does not exist', async () => {
  const { settings } = await serve(fakeApp(), { installation_id: '1' });
  await expect(github.check(contextOf(github, settings))).rejects.toMatchObject({ kind: 'configuration', status: 404 });
});

it('is accepted by GitHub Issues', async () => {
  const app = fakeApp();
  const fake = await serveFake(githubIssuesWith({ app }), { pageSize: 10 });
  onTestFinished(fake.close);
  const settings = { ...githubIssuesFake.settings(fake.origin), credentials: app.credentials };
  await githubIssues.check(contextOf(githubIssues, settings));
  expect(fake.requests.map(({ method, url }) => `${method} ${url.pathname}`)[0]).toBe('POST /api/v3/app/installations/87654321/access_tokens');
});

it.each([
  ['nothing', {}, ['/credentials/token']],
  ['a part of an app', { app_id: '1' }, ['/credentials/installation_id', '/credentials/private_key']],
  ['both', { token: 'ghp_1', app_id: '1', installation_id: '2', private_key: 'x' }, ['/credentials/token']],
  ['an unreadable key', { app_id: '1', installation_id: '2', private_key: 'x' }, ['/credentials/private_key']],
  ['a token', { token: 'ghp_1' }, []],
])('checks credentials with %s', (_what, credentials, paths) => {
  const settings = { config: { api_url: 'https://api.github.com', organization: 'acme', repository: 'acme/shop' }, credentials } as Settings;
  for (const connector of [github, githubIssues]) expect(connector.problems?.(settings).map(({ path }) => path)).toEqual(paths);
});
