import { obj } from '@rrs/scan-reports/read.ts';
import type { Json, Settings } from '../../core/contract.ts';
import { hmac } from '../../core/webhook-signatures.ts';
import type { FakeOptions, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';
import { type FakeTickets, fakeTickets, pageAt, type Stored } from '../../testing/fake-tickets.ts';

interface Fields {
  title: string;
  description: string;
  labels: string[];
  state: string;
  due_date: string | null;
  confidential: boolean;
}
type Tickets = FakeTickets<Fields>;

const TOKEN = 'glpat-0123456789abcdef';
const PROJECT = 'acme/platform/security';
const SHA = '6104942438c14ec7bd21c6cd5bd995272b3faff6';
const settings = (origin: string, token: string) => ({
  config: { api_url: `${origin}/api/v4`, project: PROJECT },
  credentials: { token, webhook_secret: `whsec_${Buffer.from('gitlab-signing-secret-0123456789').toString('base64')}` },
});
const names = (list: unknown): string[] => (typeof list === 'string' && list !== '' ? list.split(',') : []);

function toJson({ number, createdAt, updatedAt, comments, ...fields }: Fields & Stored, origin: string): Json {
  return {
    ...fields,
    id: 70_000 + number,
    iid: number,
    web_url: `${origin}/${PROJECT}/-/issues/${number}`,
    references: { short: `#${number}`, full: `${PROJECT}#${number}` },
    assignees: [{ username: 'ada' }],
    user_notes_count: comments.length,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

function listed(tickets: Tickets, url: URL, options: FakeOptions): FakeResponse {
  const { labels, search, updated_after, order_by, sort, page: number = '1' } = Object.fromEntries(url.searchParams);
  const found = tickets
    .changed(updated_after ? Date.parse(updated_after) : 0)
    .filter((issue) => (labels === undefined || issue.labels.includes(labels)) && (search === undefined || issue.description.includes(search)));
  if (order_by === 'created_at') found.sort((one, other) => one.number - other.number);
  if (sort !== 'asc') found.reverse();
  const { page, more } = pageAt(found, (Number(number) - 1) * options.pageSize, options);
  return {
    page: true,
    headers: { 'x-page': number, 'x-next-page': more ? String(Number(number) + 1) : '' },
    body: page.map((issue) => toJson(issue, url.origin)),
  };
}

function refused({ title = '', due_date, labels }: Record<string, unknown>): FakeResponse | null {
  if (String(title).length > 255) return { status: 400, body: { message: { title: ['is too long (maximum is 255 characters)'] } } };
  if (due_date && !/^\d{4}-\d\d-\d\d$/.test(String(due_date))) return { status: 400, body: { error: 'due_date is invalid' } };
  return labels !== undefined && typeof labels !== 'string' ? { status: 400, body: { error: 'labels is invalid' } } : null;
}

function changed(issue: Fields & Stored, given: Record<string, unknown>): void {
  const { add_labels, remove_labels, state_event, due_date, ...rest } = given;
  Object.assign(issue, rest);
  if (due_date !== undefined) issue.due_date = due_date === '' ? null : String(due_date);
  issue.labels = [...new Set([...issue.labels.filter((label) => !names(remove_labels).includes(label)), ...names(add_labels)])];
  if (state_event !== undefined) issue.state = state_event === 'close' ? 'closed' : 'opened';
}

export const gitlabIssuesFake: FakeVendor = {
  id: 'gitlab_issues',
  settings: (origin) => settings(origin, TOKEN),
  refused: (origin) => settings(origin, 'glpat-revoked0123'),
  variants: [
    { states: { in_progress: ['doing'], rejected: ['not now'] }, priorities: { critical: 'P0', high: 'P1', medium: 'P2', low: 'P3' }, confidential: false },
  ],
  answer(options) {
    const blank = { state: 'opened', due_date: null, confidential: true };
    const tickets: Tickets = fakeTickets((n, isOurs) => ({
      ...blank,
      title: `Weakness ${n}`,
      description: `Text ${n}\n\n<!-- rrs-seed-${n} -->`,
      labels: isOurs ? ['rrs', 'priority::low'] : ['bug'],
    }));
    return ({ method, url, headers, body }) => {
      if (headers['private-token'] !== TOKEN) return { status: 401, body: { message: '401 Unauthorized' } };
      const path = url.pathname.replace(/^\/api\/v4\//, '');
      const given = (body === '' ? {} : JSON.parse(body)) as Record<string, unknown>;
      const shop = `projects/${encodeURIComponent('acme/shop')}`;
      if (path === `${shop}/merge_requests/7`) return { body: { iid: 7, title: 'Upgrade log4j', state: 'merged', merge_commit_sha: SHA } };
      if (path === `${shop}/repository/commits/${SHA}`) return { body: { id: SHA, title: 'Upgrade log4j', message: 'Upgrade log4j\n' } };
      const match = new RegExp(`^projects/${encodeURIComponent(PROJECT)}/issues(?:/(\\d+)(/notes)?)?$`).exec(path);
      if (!match) return { status: 404, body: { message: '404 Project Not Found' } };
      const [, number, notes] = match;
      const reason = refused(given);
      if (reason) return reason;
      if (number === undefined && method === 'GET') return listed(tickets, url, options);
      if (number === undefined) {
        const { title, description, labels, due_date, confidential } = given;
        const issue = tickets.add({
          ...blank,
          title: String(title),
          description: String(description),
          labels: names(labels),
          due_date: due_date ? String(due_date) : null,
          confidential: confidential === true,
        });
        return { status: 201, page: true, body: toJson(issue, url.origin) };
      }
      const issue = tickets.all.find((one) => one.number === Number(number));
      if (!issue) return { status: 404, body: { message: '404 Issue Not Found' } };
      if (method === 'GET') return { body: toJson(issue, url.origin) };
      if (notes) issue.comments.push(String(given.body));
      else changed(issue, given);
      tickets.touch(issue);
      return { status: notes ? 201 : 200, body: notes ? { id: 1, body: String(given.body) } : toJson(issue, url.origin) };
    };
  },
  inbound(given: Settings, ticketId) {
    const secret = String(obj(given.credentials).webhook_secret);
    const event =
      ticketId === null
        ? { object_kind: 'push', ref: 'refs/heads/main' }
        : { object_kind: 'issue', object_attributes: { iid: Number(ticketId), action: 'update' } };
    const body = Buffer.from(JSON.stringify({ ...event, project: { id: 42, path_with_namespace: PROJECT } }));
    const [id, timestamp] = ['f5e5f430-f57b-4e6e-9fac-d9128cd7232f', String(Math.floor(Date.now() / 1000))];
    const signature = hmac(Buffer.from(secret.replace('whsec_', ''), 'base64'), `${id}.${timestamp}.${body}`, 'base64');
    return {
      headers: {
        'x-gitlab-event': ticketId === null ? 'Push Hook' : 'Issue Hook',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    };
  },
};
