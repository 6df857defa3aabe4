import { Type } from 'typebox';
import { defineTicketing } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';
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
  description: 'Creates issues in a Jira Cloud project and tracks their status.',
  documentation: 'https://developer.atlassian.com/cloud/jira/platform/rest/v3/intro/',
  permissions: 'an API token of a user who may browse the project and create, edit, transition and comment on its issues',
  config: Type.Object({
    api_url: Type.String({
      title: 'API URL',
      examples: ['https://acme.atlassian.net'],
      description: 'URL of the site, such as https://acme.atlassian.net. For a token with scopes: https://api.atlassian.com/ex/jira/<cloud id>.',
      format: 'uri',
    }),
    site_url: Type.Optional(
      Type.String({
        title: 'Site URL',
        examples: ['https://acme.atlassian.net'],
        'x-group': 'advanced',
        description: 'URL where people open issues, if it differs from the API URL: https://acme.atlassian.net.',
        format: 'uri',
      }),
    ),
    ...jiraFields,
  }),
  credentials: Type.Object({
    email: Type.String({ title: 'Email', examples: ['ada@example.com'], description: 'Email address of the user who owns the token.', minLength: 3 }),
    token: Secret('API token', 'Create one in the Atlassian account of the user, under Security.', {
      link: 'https://id.atlassian.com/manage-profile/security/api-tokens',
    }),
    webhook_secret: WebhookSecret(
      'Secret of a webhook for issue events, which a Jira administrator creates under System, WebHooks.',
      'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Basic ${Buffer.from(`${credentials.email}:${credentials.token}`).toString('base64')}` }),
  ...jiraOperations({
    api: 'rest/api/3',
    site: ({ site_url, api_url }) => (site_url ?? api_url).replace(/(?<!\/)\/+$/, ''),
    text: (paragraphs, url) => document(paragraphs, [footer(url)]),
    replaceText: (paragraphs, before) => document(paragraphs, footerIn(before)),
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
