import { obj, strs } from '@rrs/scan-reports/read.ts';
import type { Json, Settings } from '../../core/contract.ts';
import { hmac } from '../../core/webhook-signatures.ts';
import type { FakeApp } from '../../shared/github/fake-app.ts';
import type { FakeOptions, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';
import { type FakeTickets, fakeTickets, pageAt, type Stored } from '../../testing/fake-tickets.ts';

interface Fields {
  title: string;
  body: string;
  labels: string[];
  state: string;
  state_reason: string | null;
  isPullRequest?: boolean;
}
type Tickets = FakeTickets<Fields>;

const TOKEN = 'github_pat_0123456789abcdef';
const REPOSITORY = 'acme/security';
const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e';
const settings = (origin: string, token: string) => ({
  config: { api_url: `${origin}/api/v3`, repository: REPOSITORY },
  credentials: { token, webhook_secret: 'github-secret-0123456789' },
});
const failed = (status: number, message: string): FakeResponse => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
});
const time = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, 'Z');

function toJson({ number, createdAt, updatedAt, isPullRequest, labels, ...fields }: Fields & Stored, origin: string): Json {
  return {
    ...fields,
    number,
    html_url: `${origin}/${REPOSITORY}/issues/${number}`,
    labels: labels.map((name, id) => ({ id, name, color: 'ededed' })),
    assignees: [{ login: 'ada' }],
    comments: fields.comments.length,
    created_at: time(createdAt),
    updated_at: time(updatedAt),
    ...(isPullRequest ? { pull_request: { url: `${origin}/api/v3/repos/${REPOSITORY}/pulls/${number}` } } : {}),
  };
}

function listed(tickets: Tickets, url: URL, options: FakeOptions): FakeResponse {
  const { labels, since, sort, direction, page: number = '1' } = Object.fromEntries(url.searchParams);
  const found = tickets.changed(since ? Date.parse(since) : 0).filter((issue) => issue.labels.includes(labels ?? ''));
  if (sort === 'created') found.sort((one, other) => one.number - other.number);
  if (direction === 'desc') found.reverse();
  const { page, more } = pageAt(found, (Number(number) - 1) * options.pageSize, options);
  const link: Record<string, string> = more
    ? { link: `<${url.origin}${url.pathname}?page=${Number(number) + 1}>; rel="next", <${url.origin}/x>; rel="last"` }
    : {};
  return { page: true, headers: link, body: page.map((issue) => toJson(issue, url.origin)) };
}

function searched(tickets: Tickets, url: URL): FakeResponse {
  const q = url.searchParams.get('q') ?? '';
  const marker = /"([^"]+)"/.exec(q)?.[1];
  if (!q.includes(`repo:${REPOSITORY} is:issue in:body label:rrs`) || !marker) return failed(422, 'Validation Failed');
  return {
    body: {
      total_count: 1,
      incomplete_results: false,
      items: tickets.all.filter(({ body }) => body.includes(marker)).map((issue) => toJson(issue, url.origin)),
    },
  };
}

function refused({ title = '', body = '' }: Record<string, unknown>): FakeResponse | null {
  const isFine = String(title).length <= 256 && !/\n/.test(String(title)) && String(body).length <= 65_536;
  return isFine ? null : failed(422, 'Validation Failed');
}

function changed(issue: Fields & Stored, given: Record<string, unknown>): void {
  const { state, state_reason, ...rest } = given;
  Object.assign(issue, rest);
  if (state === undefined || state === issue.state) return;
  issue.state = String(state);
  issue.state_reason = state === 'open' ? 'reopened' : String(state_reason ?? 'completed');
}

/** The app, if there is one, is accepted instead of the token. */
export const githubIssuesWith = ({ app }: { app?: FakeApp } = {}): FakeVendor => ({
  id: 'github_issues',
  settings: (origin) => settings(origin, TOKEN),
  refused: (origin) => settings(origin, 'github_pat_revoked0123'),
  variants: [{ states: { in_progress: ['doing'], rejected: ['not now'] }, priorities: { critical: 'P0', high: 'P1', medium: 'P2', low: 'P3' } }],
  answer(options) {
    const tickets: Tickets = fakeTickets((n, isOurs) => ({
      title: `Weakness ${n}`,
      body: `Text ${n}\n\nWork item: https://rrs.example/${n}  \n<!-- rrs-seed-${n} -->`,
      labels: isOurs ? ['rrs', 'priority: low'] : ['bug'],
      state: 'open',
      state_reason: null,
    }));
    const { number: pull, ...pullRequest } = tickets.add({
      title: 'Fix it',
      body: 'For #1',
      labels: ['rrs'],
      state: 'open',
      state_reason: null,
      isPullRequest: true,
    });
    return (request) => {
      const { method, url, headers, body } = request;
      const granted = app?.answer(request);
      if (granted) return granted;
      if (headers.authorization !== `Bearer ${TOKEN}` && !app?.isValid(headers.authorization)) return failed(401, 'Bad credentials');
      const path = url.pathname.replace(/^\/api\/v3\//, '');
      const given = (body === '' ? {} : JSON.parse(body)) as Record<string, unknown>;
      if (path === `repos/${REPOSITORY}`) return { body: { full_name: REPOSITORY, has_issues: true, archived: false } };
      if (path === 'search/issues') return searched(tickets, url);
      if (path === `repos/acme/shop/pulls/7`)
        return { body: { number: 7, title: pullRequest.title, merged: true, merge_commit_sha: SHA, html_url: `${url.origin}/acme/shop/pull/7` } };
      if (path === `repos/acme/shop/commits/${SHA}`)
        return {
          body: {
            sha: SHA,
            html_url: `${url.origin}/acme/shop/commit/${SHA}`,
            commit: { message: 'Upgrade log4j\n\nCloses #7', author: { name: 'Ada' } },
            files: [],
          },
        };
      if (path === `repos/${REPOSITORY}/issues` && method === 'GET') return listed(tickets, url, options);
      if (path === `repos/${REPOSITORY}/issues`) {
        const reason = refused(given);
        if (reason) return reason;
        const issue = tickets.add({ title: String(given.title), body: String(given.body), labels: strs(given.labels), state: 'open', state_reason: null });
        return { status: 201, page: true, body: toJson(issue, url.origin) };
      }
      const [, number, rest, name] = new RegExp(`^repos/${REPOSITORY}/issues/(\\d+)(?:/(labels|comments))?(?:/(.+))?$`).exec(path) ?? [];
      const issue = tickets.all.find((one) => one.number === Number(number));
      if (!issue || issue.number === pull) return failed(404, 'Not Found');
      if (method === 'GET') return { body: toJson(issue, url.origin) };
      const reason = refused(given);
      if (reason) return reason;
      if (rest === 'comments') issue.comments.push(String(given.body));
      else if (rest === 'labels' && method === 'POST') issue.labels = [...new Set([...issue.labels, ...strs(given.labels)])];
      else if (rest === 'labels') issue.labels = issue.labels.filter((label) => label !== decodeURIComponent(name ?? ''));
      else changed(issue, given);
      tickets.touch(issue);
      if (rest === 'labels') return { body: issue.labels.map((label) => ({ name: label })) };
      return { status: rest ? 201 : 200, body: toJson(issue, url.origin) };
    };
  },
  inbound(given: Settings, ticketId) {
    const event = ticketId === null ? { zen: 'Keep it logically awesome.', hook_id: 1 } : { action: 'edited', issue: { number: Number(ticketId) } };
    const body = Buffer.from(JSON.stringify({ ...event, repository: { full_name: REPOSITORY } }));
    const signature = hmac(String(obj(given.credentials).webhook_secret), body, 'hex');
    return {
      headers: { 'x-github-event': ticketId === null ? 'ping' : 'issues', 'x-github-delivery': 'd1', 'x-hub-signature-256': `sha256=${signature}` },
      body,
    };
  },
});

export const githubIssuesFake = githubIssuesWith();
