import { afterEach, describe, expect, it } from 'vitest';
import { type FakeVendor, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf } from '../../testing/host.ts';
import { document } from './adf.ts';
import { jiraFake } from './fake.ts';
import { jira } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor = jiraFake) {
  const fake = await serveFake(vendor, { pageSize: 10 });
  running.push(fake);
  return { fake, context: contextOf(jira, vendor.settings(fake.origin)) };
}

const draft = { key: 'k', title: 'T', body: ['B'], priority: 'critical', dueDate: '2026-12-31', url: 'https://rrs.example/1' } as const;

/** A project with these fields on its screens. */
function withFields(fields: readonly object[]): FakeVendor {
  return {
    ...jiraFake,
    answer(options) {
      const answer = jiraFake.answer(options);
      return (request) =>
        request.url.pathname.endsWith('/issuetypes/10001')
          ? { body: { fields: fields as never, total: fields.length, startAt: 0, maxResults: 50 } }
          : answer(request);
    },
  };
}

it('polls changes of issues that were moved to another project', async () => {
  const { fake, context } = await started();
  for await (const _ of jira.changedSince(context, new Date(Date.now() - 3_600_000)));
  const searches = fake.requests.filter(({ url }) => url.pathname.endsWith('/search/jql')).map(({ body }) => (JSON.parse(body) as { jql: string }).jql);
  expect(searches.length).toBeGreaterThan(0);
  for (const jql of searches) expect(jql).toMatch(/^labels = "rrs" AND updated >= /);
});

describe('project configuration', () => {
  it('sets only fields on the screens, and the configured additional fields', async () => {
    const { fake, context } = await started(withFields([{ fieldId: 'labels' }, { fieldId: 'priority', allowedValues: [{ name: 'P1' }] }]));
    const configured = { ...context, config: { ...context.config, fields: { customfield_10050: { value: 'Security' }, labels: ['team-red'] } } };
    await jira.create(configured, draft);
    const made = fake.requests.find(({ method, url }) => method === 'POST' && url.pathname.endsWith('/issue'));
    expect(JSON.parse(made?.body ?? '')).toEqual({
      fields: {
        customfield_10050: { value: 'Security' },
        summary: 'T',
        project: { key: 'SEC' },
        issuetype: { id: '10001' },
        labels: ['rrs', 'rrs-k', 'team-red'],
      },
    });
  });

  it('errors name what the project is missing', async () => {
    const bare = await started(withFields([{ fieldId: 'summary' }]));
    await expect(jira.check(bare.context)).rejects.toMatchObject({ kind: 'configuration', message: expect.stringContaining('Labels') });
    const { context } = await started();
    const wrong = { ...context, config: { ...context.config, issue_type: 'Epic' } };
    await expect(jira.check(wrong)).rejects.toMatchObject({ kind: 'configuration', message: expect.stringMatching(/Epic.*Task/) });
    const { id } = await jira.create(context, draft);
    const unreachable = { ...context, config: { ...context.config, states: { open: ['To Do', 'In Progress', 'Done', "Won't Do"] } } };
    await expect(jira.update(unreachable, id, { state: 'done' })).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('no path from “Done” to a status that means done'),
    });
  });
});

it('detects unknown credentials although Jira answers anonymously', async () => {
  const lenient: FakeVendor = {
    ...jiraFake,
    answer: () => () => ({ headers: { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' }, body: { issues: [], isLast: true, accountId: 'nobody' } }),
  };
  const { context } = await started(lenient);
  await expect(jira.check(context)).rejects.toMatchObject({ kind: 'credentials' });
});

it('writes the Atlassian Document Format', () => {
  expect(document(['one\n\ntwo', ''])).toEqual({
    type: 'doc',
    version: 1,
    content: [
      { type: 'paragraph', content: [{ type: 'text', text: 'one' }, { type: 'hardBreak' }, { type: 'hardBreak' }, { type: 'text', text: 'two' }] },
      { type: 'paragraph', content: [] },
    ],
  });
});

it('recognizes links to its site even if the API has another URL', async () => {
  const { fake, context } = await started();
  const scoped = { ...context, config: { ...context.config, site_url: 'https://acme.atlassian.net/' } };
  for (const url of [
    'https://acme.atlassian.net/browse/SEC-1',
    'https://acme.atlassian.net/jira/software/projects/SEC/boards/1?selectedIssue=SEC-1',
    'https://acme.atlassian.net/projects/SEC/issues/SEC-1',
  ])
    await expect(jira.capture?.(scoped, url)).resolves.toMatchObject({ description: 'Jira issue SEC-1 with its history: Weakness 1' });
  for (const url of [
    `${fake.origin}/browse/SEC-1`,
    'https://acme.atlassian.net/browse/SEC',
    'https://acme.atlassian.net/wiki/SEC-1',
    'https://acme.atlassian.net/browse/HR-1',
  ])
    await expect(jira.capture?.(scoped, url)).resolves.toBeNull();
  expect((await jira.read(scoped, '10001'))?.url).toBe('https://acme.atlassian.net/browse/SEC-1');
});
