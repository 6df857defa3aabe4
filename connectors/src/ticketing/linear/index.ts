import { type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineTicketing, type Http } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';
import { captureJson, linkWithin } from '../../core/tickets/capture.ts';
import { createDeduplicator, repeatedPage } from '../../core/tickets/changes.ts';
import { labelOf } from '../../core/tickets/mapping.ts';
import { fitParagraphs, markdown, workItemLine } from '../../core/tickets/text.ts';
import { hmac, isEqual, isRecent, jsonBody, WebhookSecret } from '../../core/webhook-signatures.ts';
import { dataOf, nodes, PERMISSIONS, requestOf, send, uuidOf } from './graphql.ts';
import { Config, ISSUE, inputOf, labelFor, MAX_TEXT, stateFor, teamOf, ticketOf } from './issue.ts';

const SITE = 'https://linear.app';

export const linear = defineTicketing({
  id: 'linear',
  name: 'Linear',
  version: 1,
  description: 'Creates issues in a Linear team and tracks their state.',
  documentation: 'https://linear.app/developers/graphql',
  permissions: PERMISSIONS,
  config: Config,
  credentials: Type.Object({
    token: Secret('API key', 'Create one in Linear under Settings, Security & access, Personal API keys.', {
      link: 'https://linear.app/settings/account/security',
    }),
    webhook_secret: WebhookSecret(
      'Signing secret of a webhook for issues and comments, in Linear under Settings, API.',
      'https://linear.app/developers/webhooks',
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: credentials.token.startsWith('lin_oauth_') ? `Bearer ${credentials.token}` : credentials.token }),
  /** Linear reports a used-up budget with 400. The reset time is in milliseconds. */
  rateLimited(status, headers) {
    const exhausted = ['requests', 'complexity'].find((budget) => headers[`x-ratelimit-${budget}-remaining`] === '0');
    if (status !== 400 || exhausted === undefined) return null;
    return Math.max(1, (Number(headers[`x-ratelimit-${exhausted}-reset`] ?? 0) - Date.now()) / 1000);
  },

  async check({ http, config }) {
    await teamOf(http, config);
  },

  async find({ http, config }, key) {
    const issue = await issueOf(http, idOf(config, key));
    return issue && ticketOf(config, issue);
  },

  /** The id of the issue is derived from the key, so that retries cannot create a second issue. */
  async create({ http, config }, draft) {
    const team = await teamOf(http, config);
    const id = idOf(config, draft.key);
    const input = {
      ...inputOf(config, { title: draft.title, priority: draft.priority, dueDate: draft.dueDate }),
      id,
      teamId: team.id,
      description: `${markdown(fitParagraphs(draft.body, MAX_TEXT))}\n\n${workItemLine(draft.url)}`,
      labelIds: [await labelFor(http, config, team)],
      stateId: stateFor(config, team, 'open'),
    };
    const query = `mutation($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ${ISSUE} } } }`;
    try {
      const data = await send(http, { query, variables: { input }, repeatable: true });
      return ticketOf(config, obj(obj(data.issueCreate).issue));
    } catch (error) {
      const existing = error instanceof ConnectorError && error.kind === 'configuration' ? await issueOf(http, id) : null;
      if (existing) return ticketOf(config, existing);
      throw error;
    }
  },

  async read({ http, config }, id) {
    const issue = await issueOf(http, id);
    return issue && ticketOf(config, issue);
  },

  async update({ http, config }, id, change) {
    const before = await issueOf(http, id);
    if (!before) throw new ConnectorError('configuration', `Linear has no issue ${id}, or this key may not read it.`);
    const isInState = change.state === undefined || ticketOf(config, before).state === change.state;
    const state = change.state === undefined || isInState ? {} : { stateId: stateFor(config, await teamOf(http, config), change.state) };
    const input = { ...inputOf(config, change, str(before.description)), ...state };
    if (Object.keys(input).length === 0) return ticketOf(config, before);
    const query = `mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success issue { ${ISSUE} } } }`;
    const data = await send(http, { query, variables: { id, input }, repeatable: true });
    return ticketOf(config, obj(obj(data.issueUpdate).issue));
  },

  async comment({ http }, id, text) {
    const query = 'mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id } } }';
    const input = { issueId: id, body: markdown(fitParagraphs(text.split(/\n{2,}/), MAX_TEXT)) };
    await send(http, { query, variables: { input }, repeatable: false });
  },

  /** Linear does not document its sort direction, so all pages are read and sorted first. */
  async *changedSince({ http, config }, since) {
    const query = `query($filter: IssueFilter, $after: String) { issues(first: 50, after: $after, filter: $filter, orderBy: updatedAt, includeArchived: true) {
      nodes { ${ISSUE} } pageInfo { hasNextPage endCursor } } }`;
    const filter = {
      team: { key: { eq: config.team_key } },
      labels: { some: { name: { eq: labelOf(config) } } },
      updatedAt: { gte: new Date(Math.max(0, since.getTime() - 1_000)).toISOString() },
    };
    const onlyNew = createDeduplicator(since);
    const all = [];
    for (let after: string | null = null; ; ) {
      const { issues }: Obj = await send(http, { query, variables: { filter, after }, repeatable: true });
      all.push(...onlyNew(nodes(issues).map((issue) => ticketOf(config, issue))));
      const { hasNextPage, endCursor } = obj(obj(issues).pageInfo);
      if (hasNextPage !== true) break;
      const next = str(endCursor);
      if (next === undefined || next === after) throw repeatedPage();
      after = next;
    }
    all.sort((one, other) => one.updatedAt.getTime() - other.updatedAt.getTime());
    for (let at = 0; at < all.length; at += 50) yield all.slice(at, at + 50);
  },

  inbound({ credentials }, message) {
    const { webhook_secret: secret } = credentials;
    if (secret === undefined || !isEqual(message.headers['linear-signature'], hmac(secret, message.body, 'hex'))) return null;
    const { type, data, webhookTimestamp } = jsonBody(message);
    if (!isRecent(Number(webhookTimestamp))) return null;
    return { ticket: (type === 'Issue' ? str(obj(data).id) : type === 'Comment' ? str(obj(data).issueId) : undefined) ?? null };
  },

  async capture({ http, config }, url) {
    const [, workspace, identifier] = /^\/([\w-]+)\/issue\/([A-Za-z0-9]+-\d+)(?:\/|$)/.exec(linkWithin(url, SITE)?.path ?? '') ?? [];
    if (workspace === undefined || identifier === undefined || !isOfTeam(identifier, config)) return null;
    const query = `query($id: String!) { issue(id: $id) { ${ISSUE} creator { id name email }
      history(first: 50) { nodes { createdAt actor { name } fromState { name } toState { name } } }
      attachments(first: 50) { nodes { title url createdAt } } } }`;
    return captureJson(http, requestOf({ query, variables: { id: identifier }, repeatable: true }), (body) => {
      const issue = obj(dataOf(body).issue);
      const isOurs = (str(issue.url) ?? '').toLowerCase().startsWith(`${SITE}/${workspace}/`.toLowerCase()) && isOfTeam(str(issue.identifier) ?? '', config);
      if (!isOurs) return null;
      return `Linear issue ${str(issue.identifier) ?? identifier} with its history: ${str(issue.title) ?? ''}`;
    });
  },
});

function isOfTeam(identifier: string, { team_key }: Config): boolean {
  return identifier.toUpperCase().startsWith(`${team_key.toUpperCase()}-`);
}

function idOf(config: Config, key: string): string {
  return uuidOf(`issue ${config.team_key} ${labelOf(config)} ${key}`);
}

async function issueOf(http: Http, id: string): Promise<Obj | null> {
  const query = `query($id: ID!) { issues(first: 1, filter: { id: { eq: $id } }, includeArchived: true) { nodes { ${ISSUE} } } }`;
  const { issues } = await send(http, { query, variables: { id }, repeatable: true });
  return nodes(issues).find((issue) => issue.id === id) ?? null;
}
