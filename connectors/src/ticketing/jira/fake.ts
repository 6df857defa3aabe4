import { obj } from '@rrs/scan-reports/read.ts';
import { type JiraFake, jiraHandler, jiraWebhook } from '../../shared/jira/fake.ts';
import type { FakeVendor } from '../../testing/fake-server.ts';

const TOKEN = 'ATATT3xFfGF0-0123456789';
const basic = (token: string): string => `Basic ${Buffer.from(`bot@acme.example:${token}`).toString('base64')}`;
const settings = (origin: string, token: string) => ({
  config: { api_url: origin, project_key: 'SEC' },
  credentials: { email: 'bot@acme.example', token, webhook_secret: 'whsec-jira-0123456789' },
});

const edition: JiraFake = {
  api: 'rest/api/3',
  workflow: {
    statuses: { 'To Do': 'new', 'In Progress': 'indeterminate', Done: 'done', "Won't Do": 'done' },
    transitions: {
      'To Do': [{ to: 'In Progress' }, { to: "Won't Do" }],
      'In Progress': [{ to: 'To Do' }, { to: 'Done' }],
      Done: [{ to: 'To Do' }],
      "Won't Do": [{ to: 'To Do' }],
    },
  },
  isAllowed: ({ headers }) => headers.authorization === basic(TOKEN),
  text: (plain) => ({ type: 'doc', version: 1, content: [{ type: 'paragraph', content: [{ type: 'text', text: plain }] }] }),
  textProblem(text) {
    const { type, version, content } = obj(text);
    if (type !== 'doc' || version !== 1 || !Array.isArray(content)) return 'Operation value must be an Atlassian Document (see the Atlassian Document Format)';
    return JSON.stringify(content).includes('"text":""') ? 'INVALID_INPUT' : null;
  },
  searchPath: 'search/jql',
  from: ({ nextPageToken }) => (typeof nextPageToken === 'string' ? Number(Buffer.from(nextPageToken, 'base64').toString()) : 0),
  page: ({ issues, from, more }) => ({
    issues,
    isLast: !more,
    ...(more ? { nextPageToken: Buffer.from(String(from + issues.length)).toString('base64') } : {}),
  }),
};

export const jiraFake: FakeVendor = {
  id: 'jira',
  settings: (origin) => settings(origin, TOKEN),
  refused: (origin) => settings(origin, 'revoked-token-0123'),
  variants: [
    {
      issue_type: '10001',
      priorities: { critical: 'High', high: 'Medium', medium: 'Low', low: 'Lowest' },
      states: { open: ['To Do'], in_progress: ['in progress'], done: ['Done'], rejected: ['Won’t Do'] },
    },
  ],
  answer: (options) => jiraHandler(edition, options),
  inbound: jiraWebhook,
};
