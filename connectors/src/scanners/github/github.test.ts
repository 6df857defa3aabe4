import { afterEach, expect, it } from 'vitest';
import type { Settings } from '../../core/contract.ts';
import { type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { type GithubState, githubFake, githubWith } from './fake.ts';
import { github } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function run(config: Record<string, unknown>, { cursor = null, fault, ...state }: { cursor?: string | null; fault?: Fault } & GithubState = {}) {
  const fake = await serveFake(githubWith(state), { pageSize: 10 }, fault);
  running.push(fake);
  const { credentials } = githubFake.settings(fake.origin);
  const context = contextOf(github, { config: { api_url: fake.origin, ...config }, credentials } as Settings);
  const collected = await collect(github, { ...context, cursor: cursor === null ? null : { since: cursor, unread: [] } });
  const observations = collected.items.flatMap((item) => ('observation' in item ? [item.observation] : []));
  return { ...collected, observations, fake, waits: context.waits };
}

it('reads open, fixed and dismissed alerts with their repository', async () => {
  const { observations, covers } = await run({ organization: 'acme' });
  const of = (page: string) => observations.find(({ external_id }) => external_id === `https://github.com/acme/${page}`);
  expect(of('shop/security/dependabot/0')).toMatchObject({
    tool: 'dependabot',
    severity: 'high',
    vulnerability_ids: ['CVE-2025-2000', 'GHSA-2222-3333-2222'],
    asset: { type: 'repository', name: 'https://github.com/acme/shop' },
    location: { component: 'lib0', fixed_version: '2.0.0', path: 'package-lock.json' },
    present: true,
    suppressed: false,
  });
  expect(of('tools/security/dependabot/2')).toMatchObject({ present: false });
  expect(of('shop/security/dependabot/3')).toMatchObject({ present: true, suppressed: true });
  expect(of('site/security/code-scanning/1')).toMatchObject({ tool: 'codeql', cwes: [79], present: false });
  expect(of('site/security/secret-scanning/1')).toMatchObject({ present: false });
  expect(covers).toEqual(['shop', 'site', 'tools'].map((name) => `repository https://github.com/acme/${name}`));
});

const named = (...names: string[]): string[] => names.map((name) => `repository https://github.com/acme/${name}`);

it.each(['dependabot', 'code-scanning', 'secret-scanning'] as const)('only partially covers a repository if %s is disabled', async (kind) => {
  const { observations, coverage, covers, partiallyCovers } = await run({ organization: 'acme' }, { off: { shop: [kind] } });
  expect(coverage).toBe('complete');
  expect({ covers, partiallyCovers }).toEqual({ covers: named('site', 'tools'), partiallyCovers: named('shop', 'empty') });
  const ofShop = observations.filter(({ asset }) => asset?.name === 'https://github.com/acme/shop');
  expect(ofShop.length).toBeGreaterThan(0);
  expect(ofShop.filter(({ external_id }) => external_id?.includes(kind))).toEqual([]);
});

it('checks only repositories without alerts, and only what it cannot know otherwise', async () => {
  const requested = ({ requests }: RunningFake): string[] => requests.map(({ url }) => url.pathname).filter((path) => /^\/repos\/.*alerts$/.test(path));
  expect(requested((await run({ organization: 'acme' })).fake)).toEqual(['/repos/acme/empty/dependabot/alerts', '/repos/acme/empty/code-scanning/alerts']);
  const withoutAdmin = await run({ organization: 'acme' }, { isAdmin: false, off: { empty: ['secret-scanning'] }, analyzed: true });
  expect(requested(withoutAdmin.fake)).toEqual(['dependabot', 'code-scanning', 'secret-scanning'].map((kind) => `/repos/acme/empty/${kind}/alerts`));
  expect(withoutAdmin.partiallyCovers).toEqual(named('empty'));
  expect((await run({ organization: 'acme' }, { analyzed: true })).covers).toEqual(named('shop', 'site', 'tools', 'empty'));
});

it('only partially covers repositories that are archived or not readable', async () => {
  const { coverage, covers, partiallyCovers } = await run({ organization: 'acme' }, { archived: ['tools'], hidden: ['empty'] });
  expect({ coverage, covers, partiallyCovers }).toEqual({ coverage: 'complete', covers: named('shop', 'site'), partiallyCovers: named('tools', 'empty') });
});

it('never requests the secrets themselves', async () => {
  const { fake, items } = await run({ organization: 'acme' });
  const requested = fake.requests.filter(({ url }) => url.pathname.includes('secret-scanning'));
  expect(requested.length).toBeGreaterThan(0);
  expect(requested.every(({ url }) => url.searchParams.get('hide_secret') === 'true')).toBe(true);
  expect(JSON.stringify(items)).not.toContain('not-to-be-seen');
});

it('requests only changes since the last run', async () => {
  const { observations, coverage, cursor, fake } = await run({ organization: 'acme' }, { cursor: '2026-10-12T09:00:00Z' });
  expect(observations.map(({ external_id }) => external_id)).toEqual(
    ['shop/security/dependabot/12', 'tools/security/dependabot/11'].map((page) => `https://github.com/acme/${page}`),
  );
  expect({ coverage, cursor }).toEqual({ coverage: 'changes', cursor: { since: '2026-11-15T08:00:00.000Z', unread: [] } });
  expect(fake.requests).toHaveLength(3);
});

it('reads the configured repositories and does not fully cover those with a disabled or excluded kind of alerts', async () => {
  const { coverage, covers, partiallyCovers, observations } = await run({ repositories: ['acme/shop', 'acme/site'] });
  expect({ coverage, covers, partiallyCovers }).toEqual({ coverage: 'complete', covers: named('shop', 'site'), partiallyCovers: [] });
  expect(new Set(observations.map(({ asset }) => asset?.name))).toEqual(new Set(['https://github.com/acme/shop', 'https://github.com/acme/site']));
  expect(await run({ repositories: ['acme/shop', 'acme/empty'] })).toMatchObject({
    coverage: 'complete',
    covers: named('shop'),
    partiallyCovers: named('empty'),
  });
  expect((await run({ organization: 'acme', kinds: ['dependabot'] })).coverage).toBe('changes');
});

it('waits for the rate limit to reset after a 403', async () => {
  const reset = Math.round(Date.now() / 1000) + 600;
  const limited = { kind: 'status', at: 2, status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }, for: 1 } as const;
  const { coverage, waits } = await run({ organization: 'acme' }, { fault: limited });
  expect(coverage).toBe('complete');
  expect(waits).toEqual([expect.toSatisfy((ms: number) => ms > 590_000 && ms <= 601_000)]);
  const secondary = await run({ organization: 'acme' }, { fault: { kind: 'status', at: 2, status: 403, headers: { 'retry-after': '90' }, for: 1 } });
  expect(secondary.waits).toEqual([90_000]);
});

it('explains an empty configuration, and fails if nothing can be read', async () => {
  await expect(run({})).rejects.toMatchObject({ kind: 'configuration', message: 'Set an organization or at least one repository.' });
  await expect(run({ repositories: ['acme/gone'] })).rejects.toMatchObject({ kind: 'configuration' });
  await expect(run({ organization: 'other', kinds: ['dependabot'] }, { cursor: '2026-10-12T09:00:00Z' })).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining('dependabot alerts of orgs/other (404)'),
  });
});

it('continues without a repository that is forbidden or gone, names it, and reads it completely next time', async () => {
  const repositories = ['acme/gone', 'acme/site', 'acme/tools'];
  const { unread, covers, observations, cursor, coverage } = await run({ repositories }, { hidden: ['tools'] });
  expect(unread.map(({ what, kind, asset }) => [what, kind, asset?.name])).toEqual([
    ...['dependabot', 'code scanning', 'secret scanning'].map((kind) => [
      `${kind} alerts of repos/acme/gone`,
      'configuration',
      expect.stringMatching(/\/acme\/gone$/),
    ]),
    ...['dependabot', 'code scanning', 'secret scanning'].map((kind) => [
      `${kind} alerts of repos/acme/tools`,
      'credentials',
      expect.stringMatching(/\/acme\/tools$/),
    ]),
  ]);
  expect({ covers, coverage }).toEqual({ covers: named('site'), coverage: 'complete' });
  expect(new Set(observations.map(({ asset }) => asset?.name))).toEqual(new Set(['https://github.com/acme/site']));
  const fake = await serveFake(githubWith(), { pageSize: 10 });
  running.push(fake);
  const { credentials } = githubFake.settings(fake.origin);
  const context = contextOf(github, { config: { api_url: fake.origin, repositories: repositories.slice(1) }, credentials } as Settings);
  const next = await collect(github, { ...context, cursor });
  expect(next.items.length).toBeGreaterThan(5);
  expect(new Set(next.items.map((item) => ('observation' in item ? item.observation.asset?.name : '')))).toEqual(new Set(['https://github.com/acme/tools']));
});

it('continues without a kind of alerts that an organization does not use, and says what to choose', async () => {
  const fake = await serveFake(
    {
      ...githubFake,
      answer: (options) => {
        const handle = githubFake.answer(options);
        return (request) => (request.url.pathname === '/orgs/acme/code-scanning/alerts' ? { status: 404, body: { message: 'Not Found' } } : handle(request));
      },
    },
    { pageSize: 10 },
  );
  running.push(fake);
  const { unread, covers, partiallyCovers, items } = await collect(github, contextOf(github, githubFake.settings(fake.origin)));
  expect(unread).toMatchObject([{ what: 'code scanning alerts of orgs/acme', reason: expect.stringContaining('choose the other kinds of alerts') }]);
  expect({ covers, partiallyCovers }).toEqual({ covers: [], partiallyCovers: named('shop', 'site', 'tools', 'empty') });
  expect(items.length).toBeGreaterThan(10);
});

it('is incomplete when a page is repeated', async () => {
  await expect(run({ organization: 'acme' }, { fault: { kind: 'repeated', at: 2 } })).rejects.toMatchObject({ kind: 'incomplete' });
});
