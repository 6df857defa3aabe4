import { afterEach, describe, expect, it } from 'vitest';
import { type FakeVendor, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf } from '../../testing/host.ts';
import { gitlabIssuesFake } from './fake.ts';
import { gitlabIssues } from './index.ts';
import { linked } from './links.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor = gitlabIssuesFake) {
  const fake = await serveFake(vendor, { pageSize: 10 });
  running.push(fake);
  return { fake, settings: gitlabIssuesFake.settings(fake.origin), context: contextOf(gitlabIssues, gitlabIssuesFake.settings(fake.origin)) };
}

const SHA = '6104942438c14ec7bd21c6cd5bd995272b3faff6';

describe('links', () => {
  it('captures merge requests and commits of the configured projects only', async () => {
    const { fake, context } = await started();
    await expect(gitlabIssues.capture?.(context, `${fake.origin}/acme/shop/-/merge_requests/7`)).resolves.toBeNull();
    expect(fake.requests).toEqual([]);
    const named = { ...context, config: { ...context.config, evidence_projects: ['Acme/Shop'] } };
    const request = await gitlabIssues.capture?.(named, `${fake.origin}/acme/shop/-/merge_requests/7/diffs`);
    expect(JSON.parse(request?.bytes.toString() ?? '')).toMatchObject({ iid: 7, state: 'merged' });
    expect(request?.description).toBe('GitLab merge request acme/shop!7: Upgrade log4j');
    const commit = await gitlabIssues.capture?.(named, `${fake.origin}/acme/shop/-/commit/${SHA}`);
    expect(commit?.description).toBe('GitLab commit acme/shop@6104942438c1: Upgrade log4j');
  });

  it('captures links of a project that is configured by its number only if the record is at the link', async () => {
    const numbered: FakeVendor = {
      ...gitlabIssuesFake,
      answer(options) {
        const answer = gitlabIssuesFake.answer(options);
        return (request) => answer({ ...request, url: new URL(request.url.href.replace('projects/42/', 'projects/acme%2Fplatform%2Fsecurity/')) });
      },
    };
    const { fake, context } = await started(numbered);
    const byNumber = { ...context, config: { ...context.config, project: '42' } };
    const ours = await gitlabIssues.capture?.(byNumber, `${fake.origin}/acme/platform/security/-/issues/1`);
    expect(ours?.description).toBe('GitLab issue acme/platform/security#1: Weakness 1');
    for (const other of ['hr/secret', 'acme/platform', 'acme/security', 'security/issues'])
      await expect(gitlabIssues.capture?.(byNumber, `${fake.origin}/${other}/-/issues/1`), other).resolves.toBeNull();
    expect(fake.requests.every(({ url }) => url.pathname.includes('/projects/42/'))).toBe(true);
  });

  it('recognizes links with and without the dash, below the path of the site', () => {
    const at = (url: string, api = 'https://gitlab.com/api/v4') => linked(url, api)?.path ?? null;
    expect(at('https://gitlab.com/a/b/c/-/issues/3')).toBe('projects/a%2Fb%2Fc/issues/3');
    expect(at('https://gitlab.com/a/b/-/work_items/3')).toBe('projects/a%2Fb/issues/3');
    expect(at('https://gitlab.com/a/b/issues/3')).toBe('projects/a%2Fb/issues/3');
    expect(at('https://acme.example/gitlab/a/b/-/merge_requests/3', 'https://acme.example/gitlab/api/v4')).toBe('projects/a%2Fb/merge_requests/3');
    for (const url of [
      'https://gitlab.com/a/b',
      'https://gitlab.com/a/b/-/issues',
      'https://gitlab.com/a/b/-/issues/abcdef1',
      'https://gitlab.com/a/-/issues/1',
      'https://evil.example/a/b/-/issues/3',
    ])
      expect(at(url), url).toBeNull();
  });
});

it('accepts the secret token of older versions, but no token if a signing token is configured', async () => {
  const { settings } = await started();
  const body = Buffer.from(
    JSON.stringify({ object_kind: 'issue', project: { id: 42, path_with_namespace: 'acme/platform/security' }, object_attributes: { iid: 5 } }),
  );
  const plain = { ...settings, credentials: { ...settings.credentials, webhook_secret: 'plain-token' } };
  expect(gitlabIssues.inbound?.(plain, { headers: { 'x-gitlab-token': 'plain-token' }, body })).toEqual({ ticket: '5' });
  expect(gitlabIssues.inbound?.(plain, { headers: { 'x-gitlab-token': 'plain-tokem' }, body })).toBeNull();
  expect(gitlabIssues.inbound?.(plain, { headers: {}, body })).toBeNull();
  const { webhook_secret } = settings.credentials as Record<string, string>;
  expect(gitlabIssues.inbound?.(settings, { headers: { 'x-gitlab-token': webhook_secret }, body })).toBeNull();
});

it('accepts comment events and ignores other projects', async () => {
  const { settings } = await started();
  const plain = { config: { ...settings.config, project: '42' }, credentials: { ...settings.credentials, webhook_secret: 't' } };
  const sent = (event: object) => gitlabIssues.inbound?.(plain, { headers: { 'x-gitlab-token': 't' }, body: Buffer.from(JSON.stringify(event)) });
  expect(sent({ object_kind: 'note', project: { id: 42 }, object_attributes: { id: 1 }, issue: { iid: 9 } })).toEqual({ ticket: '9' });
  expect(sent({ object_kind: 'issue', project: { id: 43 }, object_attributes: { iid: 9 } })).toEqual({ ticket: null });
  expect(sent({ object_kind: 'merge_request', project: { id: 42 }, object_attributes: { iid: 9 } })).toEqual({ ticket: null });
});

it('creates confidential issues by default', async () => {
  const { context } = await started();
  const draft = { key: 'k', title: 'T', body: ['/close', 'B'], priority: 'low', dueDate: null, url: 'https://rrs.example/1' } as const;
  const { raw } = await gitlabIssues.create(context, draft);
  expect(raw).toMatchObject({ confidential: true, description: expect.not.stringMatching(/^\//m) });
});

it('refuses labels with a comma', async () => {
  const { context } = await started();
  const wrong = { ...context, config: { ...context.config, priorities: { low: 'a,b' } } };
  await expect(gitlabIssues.check(wrong)).rejects.toMatchObject({ kind: 'configuration', message: expect.stringContaining('a,b') });
});
