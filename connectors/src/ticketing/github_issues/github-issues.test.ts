import { afterEach, describe, expect, it } from 'vitest';
import { type FakeVendor, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf } from '../../testing/host.ts';
import { githubIssuesFake } from './fake.ts';
import { githubIssues } from './index.ts';
import { withDue } from './issue.ts';
import { linked, siteOf } from './links.ts';

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
  it('reads pull requests and commits of any repository', async () => {
    const { fake, context } = await started();
    const pull = await githubIssues.capture?.(context, `${fake.origin}/acme/shop/pull/7/files#diff`);
    expect(JSON.parse(pull?.bytes.toString() ?? '')).toMatchObject({ number: 7, merged: true });
    expect(pull?.description).toBe('Pull request acme/shop#7 of GitHub: Fix it');
    const commit = await githubIssues.capture?.(context, `${fake.origin}/acme/shop/commit/${SHA}`);
    expect(commit?.description).toBe('Commit acme/shop@6dcb09b5b578 of GitHub: Upgrade log4j');
    await expect(githubIssues.capture?.(context, `${fake.origin}/acme/shop/pull/8`)).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('belong to the site of the interface', () => {
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

describe('the due date at the end of the text', () => {
  const ours = 'Text\n\nDue: 1999-01-01\n\nWork item: https://rrs.example/1  \n<!-- rrs-1 -->';

  it('is put there, changed and taken away, and what people wrote stays', () => {
    const due = withDue(ours, '2026-12-31');
    expect(due).toBe('Text\n\nDue: 1999-01-01\n\nWork item: https://rrs.example/1  \nDue: 2026-12-31  \n<!-- rrs-1 -->');
    expect(withDue(due, '2027-01-01')).toBe(due.replace('2026-12-31', '2027-01-01'));
    expect(withDue(due, null)).toBe(ours);
    expect(withDue(due.replaceAll('\n', '\r\n'), null)).not.toContain('2026-12-31');
    expect(withDue('Only theirs', '2026-12-31')).toBe('Only theirs');
  });
});

it('takes an answer of 403 for a limit where GitHub says so', async () => {
  let answers = 0;
  const limited: FakeVendor = {
    ...githubIssuesFake,
    answer(options) {
      const answer = githubIssuesFake.answer(options);
      return (request) =>
        answers++ === 0 ? { status: 403, headers: { 'retry-after': '30' }, body: { message: 'You have exceeded a secondary rate limit.' } } : answer(request);
    },
  };
  const { context } = await started(limited);
  await expect(githubIssues.find(context, 'seed-1')).resolves.toMatchObject({ title: 'Weakness 1' });
  expect(context.waits).toEqual([expect.toSatisfy((ms: number) => ms >= 30_000)]);
  const reset = Math.ceil(Date.now() / 1000) + 100;
  expect(githubIssues.rateLimited?.(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) })).toBeGreaterThan(90);
  expect(githubIssues.rateLimited?.(403, { 'x-ratelimit-remaining': '12' })).toBeNull();
});

it('says so when the labels were dropped, and does not take an issue without them for ours', async () => {
  const powerless: FakeVendor = {
    ...githubIssuesFake,
    answer(options) {
      const answer = githubIssuesFake.answer(options);
      return (request) =>
        request.method === 'POST' ? answer({ ...request, body: JSON.stringify({ ...JSON.parse(request.body), labels: [] }) }) : answer(request);
    },
  };
  const { context } = await started(powerless);
  const draft = { key: 'k-1', title: 'T', body: ['B'], priority: 'low', dueDate: null, url: 'https://rrs.example/1' } as const;
  await expect(githubIssues.create(context, draft)).rejects.toMatchObject({ kind: 'credentials', message: expect.stringContaining('labels') });
  await expect(githubIssues.find(context, 'k-1')).resolves.toBeNull();
});

it('listens to its own repository, and not to pull requests', async () => {
  const { fake } = await started();
  const settings = githubIssuesFake.settings(fake.origin);
  const elsewhere = { ...settings, config: { ...settings.config, repository: 'acme/other' } };
  const message = githubIssuesFake.inbound?.(settings, '1');
  expect(message && githubIssues.inbound?.(elsewhere, message)).toEqual({ ticket: null });
});
