import { obj } from '@rrs/scan-reports/read.ts';
import type { InboundMessage, Json, Settings } from '../../core/contract.ts';
import { hmac } from '../../core/webhook-signatures.ts';
import type { FakeOptions, FakeRequest, FakeResponse } from '../../testing/fake-server.ts';
import { type FakeTickets, fakeTickets, pageAt, type Stored } from '../../testing/fake-tickets.ts';

/** The common parts of the fakes of both Jira editions. */

interface Fields extends Record<string, Json> {
  summary: string;
  description: Json;
  labels: readonly string[];
  priority: { name: string };
  duedate: string | null;
  status: string;
  resolution: string | null;
}
type Issue = { fields: Fields } & Stored;

interface Workflow {
  /** Name and category of each status. New issues have the first one. */
  statuses: Readonly<Record<string, 'new' | 'indeterminate' | 'done'>>;
  /** The transitions from each status, with the resolutions on their screen. */
  transitions: Readonly<Record<string, readonly { to: string; resolutions?: readonly string[] }[]>>;
}

export interface JiraFake {
  api: string;
  workflow: Workflow;
  isAllowed(request: FakeRequest): boolean;
  /** Why this edition refuses a description. Null if it accepts it. */
  textProblem(text: Json): string | null;
  text(plain: string): Json;
  searchPath: string;
  page(found: { issues: Json[]; from: number; more: boolean; total: number }): Json;
  from(search: Record<string, Json>): number;
}

/** Issues from the start. Newer ones may be missing from the search. */
const SEEDED = 26;
const PRIORITIES = ['Highest', 'High', 'Medium', 'Low', 'Lowest'];

export function jiraHandler(edition: JiraFake, options: FakeOptions): (request: FakeRequest) => FakeResponse {
  const first = Object.keys(edition.workflow.statuses)[0] ?? '';
  const blank = { priority: { name: 'Medium' }, duedate: null, resolution: null, status: first };
  const tickets: FakeTickets<{ fields: Fields }> = fakeTickets((n, isOurs) => ({
    fields: { ...blank, summary: `Weakness ${n}`, description: edition.text(`Text ${n}`), labels: isOurs ? ['rrs', `rrs-seed-${n}`] : ['other'] },
  }));

  return (request) => {
    if (!edition.isAllowed(request)) return { status: 401, body: 'Client must be authenticated to access this resource.' };
    const path = request.url.pathname.replace(`/${edition.api}/`, '');
    const body = (request.body === '' ? {} : JSON.parse(request.body)) as Record<string, Json>;
    if (path === 'myself') return { body: { accountId: '5b10', displayName: 'Bot', active: true, timeZone: 'Pacific/Apia' } };
    if (path === 'issue/createmeta/SEC/issuetypes') return listed(edition, 'issueTypes', [{ id: '10001', name: 'Task', subtask: false }]);
    if (path === 'issue/createmeta/SEC/issuetypes/10001') return listed(edition, 'fields', metaFields());
    if (path === edition.searchPath) return { ...searched(edition, tickets, body, options), page: true };
    if (path === 'issue' && request.method === 'POST') return { ...created(edition, tickets, blank, body), page: true };
    const [, id = '', rest] = /^issue\/([^/]+)(?:\/([a-z]+))?$/.exec(path) ?? [];
    const issue = tickets.all.find(({ number }) => [`${10_000 + number}`, `SEC-${number}`].includes(id));
    if (!issue) return failed(404, 'Issue does not exist or you do not have permission to see it.');
    return onIssue(edition, tickets, issue, { request, body, rest });
  };
}

function listed(edition: JiraFake, name: string, records: Json[]): FakeResponse {
  return { body: { startAt: 0, maxResults: 50, total: records.length, [edition.api.endsWith('3') ? name : 'values']: records } };
}

function metaFields(): Json[] {
  const ids = ['summary', 'description', 'labels', 'duedate', 'issuetype', 'project'];
  return [...ids.map((fieldId) => ({ fieldId, key: fieldId })), { fieldId: 'priority', key: 'priority', allowedValues: PRIORITIES.map((name) => ({ name })) }];
}

function failed(status: number, message: string): FakeResponse {
  return { status, body: { errorMessages: [message], errors: {}, status } };
}

/** Jira's error for invalid fields. */
function refused(edition: JiraFake, fields: Record<string, Json>): FakeResponse | null {
  const { summary, labels, duedate, priority, description } = fields;
  if (typeof summary === 'string' && (summary.length > 255 || summary.includes('\n')))
    return failed(400, 'Summary must be one line of at most 255 characters.');
  if (Array.isArray(labels) && labels.some((label) => /\s/.test(String(label)))) return failed(400, 'The label contains spaces which is invalid.');
  if (typeof duedate === 'string' && !/^\d{4}-\d\d-\d\d$/.test(duedate)) return failed(400, "Error parsing date string: Date should be in format 'yyyy-MM-dd'");
  if (priority && !PRIORITIES.includes(String(obj(priority).name))) return failed(400, 'The priority selected is invalid.');
  const reason = description === undefined ? null : edition.textProblem(description);
  return reason === null ? null : failed(400, reason);
}

function created(edition: JiraFake, tickets: FakeTickets<{ fields: Fields }>, blank: object, body: Record<string, Json>): FakeResponse {
  const fields = obj(body.fields) as Record<string, Json>;
  if (obj(fields.project).key !== 'SEC' || obj(fields.issuetype).id !== '10001') return failed(400, 'Specify a valid project and issue type.');
  const reason = refused(edition, fields);
  if (reason) return reason;
  const { number } = tickets.add({ fields: { ...blank, ...fields } as Fields });
  return { status: 201, body: { id: `${10_000 + number}`, key: `SEC-${number}`, self: 'https://jira/x' } };
}

function searched(edition: JiraFake, tickets: FakeTickets<{ fields: Fields }>, body: Record<string, Json>, options: FakeOptions): FakeResponse {
  const jql = String(body.jql);
  const label = /labels = "([^"]+)"/.exec(jql)?.[1];
  if (!label) return failed(400, 'Unbounded JQL queries are not allowed here.');
  const minutes = /updated >= "-(\d+)m"/.exec(jql)?.[1];
  const since = minutes === undefined ? 0 : Date.now() - Number(minutes) * 60_000;
  const indexed = options.isSearchBehind?.() ? SEEDED : Number.POSITIVE_INFINITY;
  const found = tickets.changed(since).filter(({ fields, number }) => fields.labels.includes(label) && number <= indexed);
  const from = edition.from(body);
  const { page, more } = pageAt(found, from, options);
  return { body: edition.page({ issues: page.map((issue) => issueJson(edition, issue)), from, more, total: options.endless ? 1_000_000 : found.length }) };
}

interface IssueRequest {
  request: FakeRequest;
  body: Record<string, Json>;
  rest: string | undefined;
}

function onIssue(edition: JiraFake, tickets: FakeTickets<{ fields: Fields }>, issue: Issue, { request, body, rest }: IssueRequest): FakeResponse {
  const transitions = edition.workflow.transitions[issue.fields.status] ?? [];
  if (rest === 'editmeta') return { body: { fields: Object.fromEntries(metaFields().map((field) => [String(obj(field).fieldId), field])) } };
  if (rest === 'transitions' && request.method === 'GET') return { body: { transitions: transitions.map((one, index) => transition(edition, one, index)) } };
  if (rest === undefined && request.method === 'GET') return { body: issueJson(edition, issue, request.url.searchParams.get('expand')) };
  if (rest === 'transitions') {
    const chosen = transitions[Number(obj(body.transition).id) - 1];
    const resolution = obj(obj(body.fields).resolution).name;
    if (!chosen) return failed(400, 'It seems that you have tried to perform an illegal workflow operation.');
    if (chosen.resolutions && !chosen.resolutions.includes(String(resolution))) return failed(400, 'Resolution is required.');
    issue.fields.status = chosen.to;
    issue.fields.resolution = edition.workflow.statuses[chosen.to] === 'done' ? String(resolution ?? chosen.to) : null;
  } else if (rest === 'comment') {
    const reason = edition.textProblem(body.body ?? null);
    if (reason !== null) return failed(400, reason);
    issue.comments.push(JSON.stringify(body.body));
  } else {
    const fields = obj(body.fields) as Record<string, Json>;
    const reason = refused(edition, fields);
    if (reason) return reason;
    Object.assign(issue.fields, fields);
  }
  tickets.touch(issue);
  return { status: rest === 'comment' ? 201 : 204, ...(rest === 'comment' ? { body: { id: '1' } } : {}) };
}

function status(edition: JiraFake, name: string): Json {
  return { id: name, name, statusCategory: { key: edition.workflow.statuses[name] ?? 'new' } };
}

function transition(edition: JiraFake, { to, resolutions }: { to: string; resolutions?: readonly string[] }, index: number): Json {
  const fields = resolutions ? { resolution: { required: true, allowedValues: resolutions.map((name) => ({ name })) } } : {};
  return { id: String(index + 1), name: `Go to ${to}`, isAvailable: true, to: status(edition, to), fields };
}

function issueJson(edition: JiraFake, { number, fields, createdAt, updatedAt, comments }: Issue, expand: string | null = null): Json {
  const time = (at: Date): string => at.toISOString().replace('Z', '+0000');
  return {
    id: `${10_000 + number}`,
    key: `SEC-${number}`,
    fields: {
      ...fields,
      status: status(edition, fields.status),
      resolution: fields.resolution === null ? null : { name: fields.resolution },
      assignee: { displayName: 'Ada Lovelace' },
      project: { key: 'SEC' },
      created: time(createdAt),
      updated: time(updatedAt),
      comment: { comments: comments.map((body) => ({ body })) },
    },
    ...(expand?.includes('changelog') ? { changelog: { total: 0, histories: [] } } : {}),
  };
}

export function jiraWebhook(settings: Settings, ticketId: string | null): InboundMessage {
  const event =
    ticketId === null
      ? { webhookEvent: 'jira:version_released', version: { id: '10000', name: '1.0' } }
      : { webhookEvent: 'jira:issue_updated', issue: { id: ticketId, key: `SEC-${Number(ticketId) - 10_000}` } };
  const body = Buffer.from(JSON.stringify({ timestamp: Date.now(), ...event }));
  const secret = String(obj(settings.credentials).webhook_secret);
  return { headers: { 'content-type': 'application/json', 'x-hub-signature': `sha256=${hmac(secret, body, 'hex')}` }, body };
}
