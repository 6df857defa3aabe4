import { afterEach, describe, expect, it } from 'vitest';
import { siteOf } from '../../shared/github/site.ts';
import { type FakeResponse, type FakeVendor, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf } from '../../testing/host.ts';
import { githubIssuesFake } from './fake.ts';
import { githubIssues } from './index.ts';
import { withDue } from './issue.ts';
import { linked } from './links.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor = githubIssuesFake) {
  const fake = await serveFake(vendor, { pageSize: 10 });
  running.push(fake);
  return { fake, context: contextOf(githubIssues, vendor.settings(fake.origin)) };
}

const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e';

describe('links', () => {
  it('captures pull requests and commits of the configured repositories only', async () => {
    const { fake, context } = await started();
    await expect(githubIssues.capture?.(context, `${fake.origin}/acme/shop/pull/7`)).resolves.toBeNull();
    expect(fake.requests).toEqual([]);
    const named = { ...context, config: { ...context.config, evidence_repositories: ['Acme/Shop'] } };
    const pull = await githubIssues.capture?.(named, `${fake.origin}/acme/shop/pull/7/files#diff`);
    expect(JSON.parse(pull?.bytes.toString() ?? '')).toMatchObject({ number: 7, merged: true });
    expect(pull?.description).toBe('GitHub pull request acme/shop#7: Fix it');
    const commit = await githubIssues.capture?.(named, `${fake.origin}/acme/shop/commit/${SHA}`);
    expect(commit?.description).toBe('GitHub commit acme/shop@6dcb09b5b578: Upgrade log4j');
    await expect(githubIssues.capture?.(named, `${fake.origin}/acme/shop/pull/8`)).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('follows a renamed repository, but not an issue to another repository', async () => {
    const redirecting = (issue: string, repository: string): FakeVendor => ({
      ...githubIssuesFake,
      answer: () => (request) => {
        const { origin, pathname } = request.url;
        const path = pathname.replace('/api/v3/', '');
        const to = (number: number): FakeResponse => ({ status: 301, headers: { location: `${origin}/api/v3/repositories/${number}` } });
        if (path === 'repos/acme/security/issues/1') return to(1);
        if (path === 'repos/acme/security') return to(2);
        return { body: path.endsWith('/1') ? { number: 1, title: 'Moved', html_url: `${origin}/${issue}/issues/1` } : { full_name: repository } };
      },
    });
    const captureFrom = async (vendor: FakeVendor) => {
      const { fake, context } = await started(vendor);
      return githubIssues.capture?.(context, `${fake.origin}/acme/security/issues/1`);
    };
    await expect(captureFrom(redirecting('acme/renamed', 'acme/renamed'))).resolves.toMatchObject({ description: 'GitHub issue acme/security#1: Moved' });
    await expect(captureFrom(redirecting('acme/hr', 'acme/renamed'))).resolves.toBeNull();
    await expect(captureFrom(redirecting('acme/renamed-hr', 'acme/renamed'))).resolves.toBeNull();
  });

  it('derives the site from the API URL', () => {
    expect(siteOf('https://api.github.com')).toBe('https://github.com');
    expect(siteOf('https://git.acme.example/api/v3')).toBe('https://git.acme.example');
    expect(siteOf('https://api.acme.ghe.com')).toBe('https://acme.ghe.com');
    const at = (url: string) => linked(url, 'https://api.github.com')?.path ?? null;
    expect(at('https://github.com/acme/shop/issues/3')).toBe('repos/acme/shop/issues/3');
    expect(at('https://github.com/acme/shop/pull/3')).toBe('repos/acme/shop/pulls/3');
    expect(at(`https://github.com/acme/shop/pull/3/commits/${SHA}`)).toBe(`repos/acme/shop/commits/${SHA}`);
    for (const url of [
      'https://github.com/acme/shop',
      'https://github.com/acme/shop/issues',
      'https://github.com/acme/shop/issues/new',
      'https://github.com/acme/shop/blob/main/issues/3',
      'https://api.github.com/acme/shop/issues/3',
      'https://github.com.evil.example/acme/shop/issues/3',
      'https://github.com/acme/../issues/3',
      'http://github.com/acme/shop/issues/3',
    ])
      expect(at(url), url).toBeNull();
  });
});

describe('withDue', () => {
  const ours = 'Text\n\nDue: 1999-01-01\n\nWork item: https://rrs.example/1  \n<!-- rrs-1 -->';

  it('adds, changes and removes the due date and keeps all other text', () => {
    const due = withDue(ours, '2026-12-31');
    expect(due).toBe('Text\n\nDue: 1999-01-01\n\nWork item: https://rrs.example/1  \nDue: 2026-12-31  \n<!-- rrs-1 -->');
    expect(withDue(due, '2027-01-01')).toBe(due.replace('2026-12-31', '2027-01-01'));
    expect(withDue(due, null)).toBe(ours);
    expect(withDue(due.replaceAll('\n', '\r\n'), null)).not.toContain('2026-12-31');
    expect(withDue('Only theirs', '2026-12-31')).toBe('Only theirs');
  });
});

it('treats 403 as a rate limit where GitHub says so', async () => {
  let responses = 0;
  const limited: FakeVendor = {
    ...githubIssuesFake,
    answer(options) {
      const answer = githubIssuesFake.answer(options);
      return (request) =>
        responses++ === 0 ? { status: 403, headers: { 'retry-after': '30' }, body: { message: 'You have exceeded a secondary rate limit.' } } : answer(request);
    },
  };
  const { context } = await started(limited);
  await expect(githubIssues.find(context, 'seed-1')).resolves.toMatchObject({ title: 'Weakness 1' });
  expect(context.waits).toEqual([expect.toSatisfy((ms: number) => ms >= 30_000)]);
  const reset = Math.ceil(Date.now() / 1000) + 100;
  expect(githubIssues.rateLimited?.(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) })).toBeGreaterThan(90);
  expect(githubIssues.rateLimited?.(403, { 'x-ratelimit-remaining': '12' })).toBeNull();
});

it('reports dropped labels and ignores issues without them', async () => {
  const withoutTriage: FakeVendor = {
    ...githubIssuesFake,
    answer(options) {
      const answer = githubIssuesFake.answer(options);
      return (request) =>
        request.method === 'POST' ? answer({ ...request, body: JSON.stringify({ ...JSON.parse(request.body), labels: [] }) }) : answer(request);
    },
  };
  const { context } = await started(withoutTriage);
  const draft = { key: 'k-1', title: 'T', body: ['B'], priority: 'low', dueDate: null, url: 'https://rrs.example/1' } as const;
  await expect(githubIssues.create(context, draft)).rejects.toMatchObject({ kind: 'credentials', message: expect.stringContaining('labels') });
  await expect(githubIssues.find(context, 'k-1')).resolves.toBeNull();
});

it('ignores events of other repositories and of pull requests', async () => {
  const { fake } = await started();
  const settings = githubIssuesFake.settings(fake.origin);
  const elsewhere = { ...settings, config: { ...settings.config, repository: 'acme/other' } };
  const message = githubIssuesFake.inbound?.(settings, '1');
  expect(message && githubIssues.inbound?.(elsewhere, message)).toEqual({ ticket: null });
});
