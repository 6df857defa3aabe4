import { type JiraFake, jiraHandler, jiraWebhook } from '../../shared/jira/fake.ts';
import type { FakeVendor } from '../../testing/fake-server.ts';

const TOKEN = 'NDUyMzQ1Njc4OTAx-0123456789';
const settings = (origin: string, token: string) => ({
  config: { api_url: `${origin}/jira`, project_key: 'SEC', label: 'rrs', priorities: { critical: 'Highest' } },
  credentials: { token, webhook_secret: 'jira-secret-0123456789' },
});

const edition: JiraFake = {
  api: 'jira/rest/api/2',
  /** The classic workflow has one closed status. The resolution says why the issue was closed. */
  workflow: {
    statuses: { Open: 'new', 'In Progress': 'indeterminate', Resolved: 'done' },
    transitions: {
      Open: [{ to: 'In Progress' }],
      'In Progress': [{ to: 'Open' }, { to: 'Resolved', resolutions: ["Won't Fix", 'Duplicate', 'Fixed'] }],
      Resolved: [{ to: 'Open' }],
    },
  },
  isAllowed: ({ headers }) => headers.authorization === `Bearer ${TOKEN}`,
  text: (plain) => plain,
  textProblem: (text) => (typeof text === 'string' ? null : 'Operation value must be a string'),
  searchPath: 'search',
  from: ({ startAt }) => Number(startAt ?? 0),
  page: ({ issues, from, total }) => ({ startAt: from, maxResults: issues.length, total, issues }),
};

export const jiraDataCenterFake: FakeVendor = {
  id: 'jira_data_center',
  settings: (origin) => settings(origin, TOKEN),
  refused: (origin) => settings(origin, 'revoked-token-0123'),
  variants: [{ issue_type: 'task', states: { in_progress: ['In Progress'], rejected: ['Duplicate'] } }],
  answer: (options) => jiraHandler(edition, options),
  inbound: jiraWebhook,
};
