import { Type } from 'typebox';
import { defineTicketing, Secret } from '../../core/contract.ts';
import { WebhookSecret } from '../../core/webhook-signatures.ts';
import { issueFields, jiraFields } from '../../shared/jira/mapping.ts';
import { Issues, jiraOperations } from '../../shared/jira/operations.ts';
import { document, footer, footerIn } from './adf.ts';

const Page = Type.Object({
  issues: Issues,
  nextPageToken: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  isLast: Type.Optional(Type.Boolean()),
});

export const jira = defineTicketing({
  id: 'jira',
  name: 'Jira Cloud',
  version: 1,
  description: 'Opens issues in a project of Jira Cloud and follows their status.',
  documentation: 'https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/',
  permissions: 'an API token of a user who may browse the project and create, edit, transition and comment on its issues',
  config: Type.Object({
    api_url: Type.String({
      title: 'Address',
      description: 'Of the site: https://acme.atlassian.net. For a token with scopes https://api.atlassian.com/ex/jira/<cloud id>',
      format: 'uri',
    }),
    site_url: Type.Optional(
      Type.String({
        title: 'Site address',
        description: 'Where people open issues, when the address above is another one: https://acme.atlassian.net',
        format: 'uri',
      }),
    ),
    ...jiraFields,
  }),
  credentials: Type.Object({
    email: Type.String({ title: 'E-mail', description: 'Of the user whose token it is', minLength: 3 }),
    token: Secret('API token', 'Made at https://id.atlassian.com/manage-profile/security/api-tokens'),
    webhook_secret: WebhookSecret('The secret of the webhook that a Jira administrator made under System, WebHooks, for changes of issues'),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Basic ${Buffer.from(`${credentials.email}:${credentials.token}`).toString('base64')}` }),
  ...jiraOperations({
    api: 'rest/api/3',
    site: ({ site_url, api_url }) => (site_url ?? api_url).replace(/\/+$/, ''),
    text: (paragraphs, url) => document(paragraphs, [footer(url)]),
    rewritten: (paragraphs, before) => document(paragraphs, footerIn(before)),
    comment: (paragraphs) => document(paragraphs),
    async search(http, jql, next) {
      const { body } = await http.json(Page, {
        method: 'POST',
        path: 'rest/api/3/search/jql',
        json: { jql, fields: issueFields, maxResults: 100, ...(next === null ? {} : { nextPageToken: next }) },
        repeatable: true,
      });
      return { issues: body.issues, next: body.isLast === true ? null : (body.nextPageToken ?? null) };
    },
  }),
});
