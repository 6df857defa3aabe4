import { type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError, defineTicketing, type Http, Secret } from '../../core/contract.ts';
import { captured, linkWithin } from '../../core/tickets/capture.ts';
import { newsSince, sameAgain } from '../../core/tickets/changes.ts';
import { labelOf } from '../../core/tickets/mapping.ts';
import { fitting, markdown, workItemLine } from '../../core/tickets/text.ts';
import { hmac, isRecent, isSame, told, WebhookSecret } from '../../core/webhook-signatures.ts';
import { ask, dataOf, nodes, PERMISSIONS, requestOf, uuidOf } from './graphql.ts';
import { Config, ISSUE, inputOf, labelFor, stateFor, TEXT, teamOf, ticketOf } from './issue.ts';

const SITE = 'https://linear.app';

export const linear = defineTicketing({
  id: 'linear',
  name: 'Linear',
  version: 1,
  description: 'Opens issues of a Linear team and follows their state.',
  documentation: 'https://linear.app/developers/graphql',
  permissions: PERMISSIONS,
  config: Config,
  credentials: Type.Object({
    token: Secret('API key', 'In Linear under Settings, Security & access, Personal API keys'),
    webhook_secret: WebhookSecret('The signing secret of a webhook for issues and comments, in Linear under Settings, API'),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: credentials.token.startsWith('lin_oauth_') ? `Bearer ${credentials.token}` : credentials.token }),
  /** Spent budgets come with 400; the moment when they are filled again is in milliseconds. */
  rateLimited(status, headers) {
    const spent = ['requests', 'complexity'].find((budget) => headers[`x-ratelimit-${budget}-remaining`] === '0');
    if (status !== 400 || spent === undefined) return null;
    return Math.max(1, (Number(headers[`x-ratelimit-${spent}-reset`] ?? 0) - Date.now()) / 1000);
  },

  async check({ http, config }) {
    await teamOf(http, config);
  },

  async find({ http, config }, key) {
    const issue = await issueOf(http, idOf(config, key));
    return issue && ticketOf(config, issue);
  },

  /** The id is derived from our key, so that the same issue cannot be made twice, however often it is asked for. */
  async create({ http, config }, draft) {
    const team = await teamOf(http, config);
    const id = idOf(config, draft.key);
    const input = {
      ...inputOf(config, { title: draft.title, priority: draft.priority, dueDate: draft.dueDate }),
      id,
      teamId: team.id,
      description: `${markdown(fitting(draft.body, TEXT))}\n\n${workItemLine(draft.url)}`,
      labelIds: [await labelFor(http, config, team)],
      stateId: stateFor(config, team, 'open'),
    };
    const query = `mutation($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { ${ISSUE} } } }`;
    try {
      const data = await ask(http, { query, variables: { input }, repeatable: true });
      return ticketOf(config, obj(obj(data.issueCreate).issue));
    } catch (error) {
      const made = error instanceof ConnectorError && error.kind === 'configuration' ? await issueOf(http, id) : null;
      if (made) return ticketOf(config, made);
      throw error;
    }
  },

  async read({ http, config }, id) {
    const issue = await issueOf(http, id);
    return issue && ticketOf(config, issue);
  },

  async update({ http, config }, id, change) {
    const before = await issueOf(http, id);
    if (!before) throw new ConnectorError('configuration', `Linear has no issue ${id}, or does not show it to this key.`);
    const isThere = change.state === undefined || ticketOf(config, before).state === change.state;
    const state = change.state === undefined || isThere ? {} : { stateId: stateFor(config, await teamOf(http, config), change.state) };
    const input = { ...inputOf(config, change, str(before.description)), ...state };
    if (Object.keys(input).length === 0) return ticketOf(config, before);
    const query = `mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success issue { ${ISSUE} } } }`;
    const data = await ask(http, { query, variables: { id, input }, repeatable: true });
    return ticketOf(config, obj(obj(data.issueUpdate).issue));
  },

  async comment({ http }, id, text) {
    const query = 'mutation($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id } } }';
    const input = { issueId: id, body: markdown(fitting(text.split(/\n{2,}/), TEXT)) };
    await ask(http, { query, variables: { input }, repeatable: false });
  },

  /** Linear does not promise in which direction it orders, so everything is read before the first is told. */
  async *changedSince({ http, config }, since) {
    const query = `query($filter: IssueFilter, $after: String) { issues(first: 50, after: $after, filter: $filter, orderBy: updatedAt, includeArchived: true) {
      nodes { ${ISSUE} } pageInfo { hasNextPage endCursor } } }`;
    const filter = {
      team: { key: { eq: config.team_key } },
      labels: { some: { name: { eq: labelOf(config) } } },
      updatedAt: { gte: new Date(Math.max(0, since.getTime() - 1_000)).toISOString() },
    };
    const news = newsSince(since);
    const all = [];
    for (let after: string | null = null; ; ) {
      const { issues }: Obj = await ask(http, { query, variables: { filter, after }, repeatable: true });
      all.push(...news(nodes(issues).map((issue) => ticketOf(config, issue))));
      const { hasNextPage, endCursor } = obj(obj(issues).pageInfo);
      if (hasNextPage !== true) break;
      const next = str(endCursor);
      if (next === undefined || next === after) throw sameAgain();
      after = next;
    }
    all.sort((one, other) => one.updatedAt.getTime() - other.updatedAt.getTime());
    for (let at = 0; at < all.length; at += 50) yield all.slice(at, at + 50);
  },

  inbound({ credentials }, message) {
    const { webhook_secret: secret } = credentials;
    if (secret === undefined || !isSame(message.headers['linear-signature'], hmac(secret, message.body, 'hex'))) return null;
    const { type, data, webhookTimestamp } = told(message);
    if (!isRecent(Number(webhookTimestamp))) return null;
    return { ticket: (type === 'Issue' ? str(obj(data).id) : type === 'Comment' ? str(obj(data).issueId) : undefined) ?? null };
  },

  async capture({ http }, url) {
    const [, workspace, identifier] = /^\/([\w-]+)\/issue\/([A-Za-z0-9]+-\d+)(?:\/|$)/.exec(linkWithin(url, SITE)?.path ?? '') ?? [];
    if (workspace === undefined || identifier === undefined) return null;
    const query = `query($id: String!) { issue(id: $id) { ${ISSUE} creator { id name email }
      history(first: 50) { nodes { createdAt actor { name } fromState { name } toState { name } } }
      attachments(first: 50) { nodes { title url createdAt } } } }`;
    let isOurs = false;
    const capture = await captured(http, requestOf({ query, variables: { id: identifier }, repeatable: true }), (body) => {
      const issue = obj(dataOf(body).issue);
      isOurs = (str(issue.url) ?? '').toLowerCase().startsWith(`${SITE}/${workspace}/`.toLowerCase());
      return `Linear issue ${str(issue.identifier) ?? identifier} with its history: ${str(issue.title) ?? ''}`;
    });
    return isOurs ? capture : null;
  },
});

function idOf(config: Config, key: string): string {
  return uuidOf(`issue ${config.team_key} ${labelOf(config)} ${key}`);
}

async function issueOf(http: Http, id: string): Promise<Obj | null> {
  const query = `query($id: ID!) { issues(first: 1, filter: { id: { eq: $id } }, includeArchived: true) { nodes { ${ISSUE} } } }`;
  const { issues } = await ask(http, { query, variables: { id }, repeatable: true });
  return nodes(issues).find((issue) => issue.id === id) ?? null;
}
