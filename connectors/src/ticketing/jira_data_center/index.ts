import { Type } from 'typebox';
import { defineTicketing, Secret } from '../../core/contract.ts';
import { WebhookSecret } from '../../core/webhook-signatures.ts';
import { issueFields, jiraFields } from '../../shared/jira/mapping.ts';
import { Issues, jiraOperations } from '../../shared/jira/operations.ts';
import { rewritten, wiki, withWorkItem } from './wiki.ts';

const Page = Type.Object({ issues: Issues, startAt: Type.Number(), total: Type.Number() });

export const jiraDataCenter = defineTicketing({
  id: 'jira_data_center',
  name: 'Jira Data Center',
  version: 1,
  description: 'Opens issues in a project of a Jira of your own, version 8.14 or newer, and follows their status.',
  documentation: 'https://developer.atlassian.com/server/jira/platform/rest-apis/',
  permissions: 'a personal access token of a user who may browse the project and create, edit, transition and comment on its issues',
  config: Type.Object({
    api_url: Type.String({ title: 'Address', description: 'Where people open Jira: https://jira.example.com or https://example.com/jira', format: 'uri' }),
    ...jiraFields,
  }),
  credentials: Type.Object({
    token: Secret('Personal access token', 'In Jira under Profile, Personal access tokens'),
    webhook_secret: WebhookSecret('The secret of the webhook that a Jira administrator made under System, WebHooks, for changes of issues'),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Bearer ${credentials.token}` }),
  ...jiraOperations({
    api: 'rest/api/2',
    site: ({ api_url }) => api_url.replace(/\/+$/, ''),
    text: withWorkItem,
    rewritten,
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
