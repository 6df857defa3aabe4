import { Type } from 'typebox';
import { defineTicketing } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';
import { WebhookSecret } from '../../core/webhook-signatures.ts';
import { issueFields, jiraFields } from '../../shared/jira/mapping.ts';
import { Issues, jiraOperations } from '../../shared/jira/operations.ts';
import { wiki, withFooterOf, withWorkItem } from './wiki.ts';

const Page = Type.Object({ issues: Issues, startAt: Type.Number(), total: Type.Number() });

export const jiraDataCenter = defineTicketing({
  id: 'jira_data_center',
  name: 'Jira Data Center',
  version: 1,
  description: 'Creates issues in a project of a self-hosted Jira, version 8.14 or later, and tracks their status.',
  documentation: 'https://developer.atlassian.com/server/jira/platform/rest-apis/',
  permissions: 'a personal access token of a user who may browse the project and create, edit, transition and comment on its issues',
  config: Type.Object({
    api_url: Type.String({
      title: 'URL',
      examples: ['https://jira.example.com'],
      description: 'URL of Jira, such as https://jira.example.com or https://example.com/jira.',
      format: 'uri',
    }),
    ...jiraFields,
  }),
  credentials: Type.Object({
    token: Secret('Personal access token', 'Create one in Jira under Profile, Personal access tokens.', {
      link: 'https://confluence.atlassian.com/enterprise/using-personal-access-tokens-1026032365.html',
    }),
    webhook_secret: WebhookSecret(
      'Secret of a webhook for issue events, which a Jira administrator creates under System, WebHooks.',
      'https://developer.atlassian.com/server/jira/platform/webhooks/',
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Bearer ${credentials.token}` }),
  ...jiraOperations({
    api: 'rest/api/2',
    site: ({ api_url }) => api_url.replace(/(?<!\/)\/+$/, ''),
    text: withWorkItem,
    replaceText: withFooterOf,
    comment: wiki,
    async search(http, jql, next) {
      const { body } = await http.json(Page, {
        method: 'POST',
        path: 'rest/api/2/search',
        json: { jql, fields: issueFields, maxResults: 100, startAt: Number(next ?? 0) },
        repeatable: true,
      });
      const end = body.startAt + body.issues.length;
      return { issues: body.issues, next: end < body.total ? String(end) : null };
    },
  }),
});
