import { obj, str, strs } from '@rrs/scan-reports/read.ts';
import type { Json, Settings } from '../../core/contract.ts';
import { hmac } from '../../core/webhook-signatures.ts';
import type { FakeOptions, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';
import { type FakeTickets, fakeTickets, pageAt, type Stored } from '../../testing/fake-tickets.ts';
import { uuidOf } from './graphql.ts';

interface Fields {
  id: string;
  title: string;
  description: string;
  priority: number;
  dueDate: string | null;
  stateId: string;
  labelIds: string[];
}
type Tickets = FakeTickets<Fields>;

const TOKEN = 'lin_api_0123456789abcdef';
const TEAM = uuidOf('team');
const STATES = [
  { id: uuidOf('done'), name: 'Done', type: 'completed', position: 4 },
  { id: uuidOf('backlog'), name: 'Backlog', type: 'backlog', position: 0 },
  { id: uuidOf('todo'), name: 'Todo', type: 'unstarted', position: 1 },
  { id: uuidOf('review'), name: 'In Review', type: 'started', position: 3 },
  { id: uuidOf('progress'), name: 'In Progress', type: 'started', position: 2 },
  { id: uuidOf('canceled'), name: 'Canceled', type: 'canceled', position: 5 },
  { id: uuidOf('duplicate'), name: 'Duplicate', type: 'duplicate', position: 6 },
];
const settings = (origin: string, token: string) => ({
  config: { api_url: origin, team_key: 'SEC' },
  credentials: { token, webhook_secret: 'lin_wh_0123456789abcdef' },
});
const failed = (message: string, code: string, status = 200): FakeResponse => ({
  status,
  body: { data: null, errors: [{ message, path: ['x'], extensions: { code, type: code.toLowerCase().replaceAll('_', ' '), userError: true } }] },
});

function toJson({ number, createdAt, updatedAt, stateId, labelIds, comments, ...fields }: Fields & Stored, labels: Map<string, string>): Json {
  return {
    ...fields,
    identifier: `SEC-${number}`,
    url: `https://linear.app/acme/issue/SEC-${number}/weakness`,
    state: STATES.find(({ id }) => id === stateId) ?? null,
    assignee: { id: uuidOf('ada'), name: 'Ada Lovelace', displayName: 'ada' },
    labels: { nodes: labelIds.map((id) => ({ id, name: labels.get(id) ?? '' })) },
    team: { id: TEAM, key: 'SEC' },
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    trashed: null,
  };
}

/** Why an input is invalid. Null if it is valid. */
function refused({ title = '', priority = 0, dueDate, stateId, labelIds }: Record<string, unknown>, labels: Map<string, string>): string | null {
  if (String(title).length > 512) return 'title must be shorter than or equal to 512 characters';
  if (!Number.isInteger(priority) || Number(priority) < 0 || Number(priority) > 4) return 'priority must be one of 0, 1, 2, 3, 4';
  if (typeof dueDate === 'string' && !/^\d{4}-\d\d-\d\d$/.test(dueDate)) return 'dueDate must be a date';
  if (stateId !== undefined && !STATES.some(({ id }) => id === stateId)) return 'stateId is not a state of the team';
  return strs(labelIds).every((id) => labels.has(id)) ? null : 'labelIds has a label that does not exist';
}

function fieldsOf({ id, title, description, priority, dueDate, stateId, labelIds }: Record<string, Json>): Fields {
  return {
    id: String(id),
    title: String(title),
    description: String(description),
    priority: Number(priority),
    dueDate: str(dueDate) ?? null,
    stateId: String(stateId),
    labelIds: strs(labelIds),
  };
}

/** Lists the newest change first. */
function listed(tickets: Tickets, labels: Map<string, string>, variables: Record<string, unknown>, options: FakeOptions): FakeResponse {
  const { filter, after } = variables;
  const since = Date.parse(String(obj(obj(filter).updatedAt).gte));
  const label = obj(obj(obj(obj(filter).labels).some).name).eq;
  const found = tickets
    .changed(since)
    .filter(({ labelIds }) => labelIds.some((id) => labels.get(id) === label))
    .reverse();
  const from = typeof after === 'string' ? found.findIndex(({ id }) => id === after) + 1 : 0;
  const { page, more } = pageAt(found, from, options);
  const pageInfo = { hasNextPage: more, endCursor: page.at(-1)?.id ?? null };
  return { page: true, body: { data: { issues: { nodes: page.map((issue) => toJson(issue, labels)), pageInfo } } } };
}

export const linearFake: FakeVendor = {
  id: 'linear',
  settings: (origin) => settings(origin, TOKEN),
  refused: (origin) => settings(origin, 'lin_api_revoked0123'),
  variants: [{ states: { in_progress: ['In Review'], open: ['Backlog'], rejected: ['Duplicate'] }, priorities: { low: '0' } }],
  answer(options) {
    const labels = new Map([
      [uuidOf('rrs'), 'rrs'],
      [uuidOf('other'), 'other'],
    ]);
    const tickets: Tickets = fakeTickets((n, isOurs) => ({
      id: uuidOf(`issue SEC rrs seed-${n}`),
      title: `Weakness ${n}`,
      description: `Text ${n}`,
      priority: 4,
      dueDate: null,
      stateId: uuidOf('todo'),
      labelIds: [uuidOf(isOurs ? 'rrs' : 'other')],
    }));
    return ({ url, headers, body }) => {
      if (headers.authorization !== TOKEN) return failed('Authentication required, not authenticated', 'AUTHENTICATION_ERROR', 400);
      if (url.pathname !== '/graphql') return { status: 404, body: 'Not found' };
      const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
      const input = obj(variables.input) as Record<string, Json>;
      const issue = tickets.all.find(({ id, number }) => [id, `SEC-${number}`].includes(String(variables.id ?? input.issueId)));
      if (query.includes('teams(')) {
        const found = [...labels].filter(([, name]) => name === variables.label).map(([id, name]) => ({ id, name, team: null }));
        const teams = variables.team === 'SEC' ? [{ id: TEAM, key: 'SEC', name: 'Security', states: { nodes: STATES } }] : [];
        return { body: { data: { teams: { nodes: teams }, issueLabels: { nodes: found } } } };
      }
      if (query.includes('issueLabelCreate(')) {
        labels.set(String(input.id), String(input.name));
        return { body: { data: { issueLabelCreate: { success: true, issueLabel: { id: String(input.id) } } } } };
      }
      if (query.includes('issueCreate(')) {
        const reason = tickets.all.some(({ id }) => id === input.id) ? 'Entity Issue with this id already exists' : refused(input, labels);
        if (reason !== null) return failed(reason, 'INPUT_ERROR');
        return { page: true, body: { data: { issueCreate: { success: true, issue: toJson(tickets.add(fieldsOf(input)), labels) } } } };
      }
      if (query.includes('issues(') && 'filter' in variables) return listed(tickets, labels, variables, options);
      if (query.includes('issues(')) return { body: { data: { issues: { nodes: issue ? [toJson(issue, labels)] : [] } } } };
      if (!issue) return failed('Entity not found: Issue', 'INPUT_ERROR', 400);
      if (query.includes('commentCreate(')) {
        issue.comments.push(String(input.body));
        return { body: { data: { commentCreate: { success: true, comment: { id: uuidOf('comment') } } } } };
      }
      if (query.includes('issueUpdate(')) {
        const reason = refused(input, labels);
        if (reason !== null) return failed(reason, 'INPUT_ERROR');
        Object.assign(issue, input);
        tickets.touch(issue);
        return { body: { data: { issueUpdate: { success: true, issue: toJson(issue, labels) } } } };
      }
      return { body: { data: { issue: toJson(issue, labels) } } };
    };
  },
  inbound(given: Settings, ticketId) {
    const event = ticketId === null ? { type: 'Project', data: { id: 'p1' } } : { type: 'Issue', data: { id: ticketId } };
    const body = Buffer.from(JSON.stringify({ action: 'update', ...event, webhookTimestamp: Date.now() }));
    return { headers: { 'linear-signature': hmac(String(obj(given.credentials).webhook_secret), body, 'hex'), 'linear-timestamp': String(Date.now()) }, body };
  },
};
