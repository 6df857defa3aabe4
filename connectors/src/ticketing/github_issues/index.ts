import { arr, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineTicketing, type Http, type Json, type TicketChange } from '../../core/contract.ts';
import { captureJson } from '../../core/tickets/capture.ts';
import { changes } from '../../core/tickets/changes.ts';
import { labelChanges } from '../../core/tickets/labels.ts';
import { includesName, labelOf, markerOf } from '../../core/tickets/mapping.ts';
import { fitParagraphs, footerOf, markdown, oneLine } from '../../core/tickets/text.ts';
import { isSigned, jsonBody, WebhookSecret } from '../../core/webhook-signatures.ts';
import { credentialProblems, githubCredentials, githubHeaders, githubLogin } from '../../shared/github/credentials.ts';
import { siteOf } from '../../shared/github/site.ts';
import { Config, comment, footer, labelsOf, namesOf, ticketOf, withDue } from './issue.ts';
import { linked } from './links.ts';

const MAX_TITLE = 256;
/** Half of the 65,536 allowed characters. Escaping may double the text. */
const MAX_TEXT = 30_000;
const Issue = Type.Object({ number: Type.Number() });
const Issues = Type.Array(Issue);

export const githubIssues = defineTicketing({
  id: 'github_issues',
  name: 'GitHub Issues',
  version: 1,
  description: 'Creates issues in a GitHub repository and tracks them. Pull requests and commits can be captured as evidence.',
  documentation: 'https://docs.github.com/en/rest/issues/issues',
  permissions:
    'a fine-grained token with write access to Issues and read access to Metadata of the repository, plus read access to Pull requests and Contents if their links become evidence, or a classic token with the scope repo, or a GitHub App with the same permissions',
  config: Config,
  credentials: Type.Object({
    ...githubCredentials,
    webhook_secret: WebhookSecret(
      'Secret of a repository webhook for the events Issues and Issue comments, with content type application/json.',
      'https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks',
    ),
  }),
  problems: ({ credentials }) => credentialProblems(credentials),
  baseUrl: ({ config }) => config.api_url,
  login: githubLogin,
  authorize: githubHeaders,
  /** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit */
  rateLimited(status, headers) {
    if (status !== 403 && status !== 429) return null;
    if (headers['retry-after'] !== undefined) return 1;
    return headers['x-ratelimit-remaining'] === '0' ? Math.max(1, Number(headers['x-ratelimit-reset'] ?? 0) - Math.floor(Date.now() / 1000)) : null;
  },

  async check({ http, config }) {
    const repository = await http.getJson(
      `repos/${config.repository}`,
      Type.Object({ has_issues: Type.Optional(Type.Boolean()), archived: Type.Optional(Type.Boolean()) }),
    );
    if (repository.has_issues === false || repository.archived === true)
      throw new ConnectorError('configuration', `${config.repository} does not accept issues. They are disabled, or the repository is archived.`);
    await http.getJson(issuesOf(config), Issues, { per_page: 1 });
  },

  /** Lists the newest issues, which the search index may not contain yet, and searches for older ones. */
  async find({ http, config }, key) {
    const marker = markerOf(labelOf(config), key);
    // Anyone can write the marker into an issue, but not set a label.
    const has = (issue: unknown): boolean => labelsOf(obj(issue)).includes(labelOf(config)) && (str(obj(issue).body) ?? '').includes(comment(marker));
    const newest = await http.json(Issues, {
      path: issuesOf(config),
      query: { labels: labelOf(config), state: 'all', sort: 'created', direction: 'desc', per_page: 100 },
    });
    const recent = newest.body.findLast(has);
    if (recent || !hasNext(newest.headers)) return recent ? ticketOf(config, obj(recent)) : null;
    const q = `repo:${config.repository} is:issue in:body label:${labelOf(config)} "${marker}"`;
    const { items } = await http.getJson('search/issues', Type.Object({ items: Issues }), { q, per_page: 10 });
    const found = items.find(has);
    return found ? ticketOf(config, obj(found)) : null;
  },

  async create({ http, config }, draft) {
    const label = labelOf(config);
    const json = {
      title: oneLine(draft.title, MAX_TITLE),
      body: `${markdown(fitParagraphs(draft.body, MAX_TEXT))}\n\n${footer(draft.url, draft.dueDate, markerOf(label, draft.key))}`,
      labels: [label, namesOf(config).priorities[draft.priority]],
    };
    const { body } = await http.json(Issue, { method: 'POST', path: issuesOf(config), json });
    if (!labelsOf(obj(body)).includes(label))
      throw new ConnectorError(
        'credentials',
        `Issue ${body.number} was created, but GitHub dropped its labels. The token needs push or triage access to ${config.repository}.`,
      );
    return ticketOf(config, obj(body));
  },

  async read({ http, config }, id) {
    const issue = await issueOf(http, config, id);
    return issue && ticketOf(config, issue);
  },

  async update({ http, config }, id, change) {
    const issue = await issueOf(http, config, id);
    if (!issue) throw new ConnectorError('configuration', `GitHub has no issue ${id} in ${config.repository}.`);
    const path = `${issuesOf(config)}/${encodeURIComponent(id)}`;
    const names = namesOf(config);
    const { add, remove } = labelChanges(labelsOf(issue), change, { ...names, states: { ...names.states, rejected: [] } });
    const obsolete =
      change.state === undefined || change.state === 'rejected' ? [] : labelsOf(issue).filter((name) => includesName(names.states.rejected ?? [], name));
    if (add.length > 0) await http.json(Type.Unknown(), { method: 'POST', path: `${path}/labels`, json: { labels: add }, repeatable: true });
    for (const name of [...remove, ...obsolete])
      await http.json(Type.Unknown(), { method: 'DELETE', path: `${path}/labels/${encodeURIComponent(name)}`, repeatable: true, accept: [404] });
    const json = fieldsOf(issue, change);
    // GitHub applies the reason only together with a change of state.
    if (issue.state === 'closed' && json.state === 'closed' && json.state_reason !== issue.state_reason)
      await http.json(Type.Unknown(), { method: 'PATCH', path, json: { state: 'open' }, repeatable: true });
    const { body } = await http.json(Issue, { method: 'PATCH', path, json, repeatable: true });
    return ticketOf(config, obj(body));
  },

  async comment({ http, config }, id, text) {
    const path = `${issuesOf(config)}/${encodeURIComponent(id)}/comments`;
    await http.json(Type.Unknown(), { method: 'POST', path, json: { body: markdown(fitParagraphs(text.split(/\n{2,}/), MAX_TEXT)) } });
  },

  changedSince({ http, config }, since) {
    return changes(since, 1_000, async (from, next) => {
      // GitHub does not document whether the bound is inclusive.
      const time = new Date(Math.max(0, from.getTime() - 1_000)).toISOString().replace(/\.\d+Z$/, 'Z');
      for (let page = Number(next ?? 1); ; page++) {
        const query = { labels: labelOf(config), state: 'all', since: time, sort: 'updated', direction: 'asc', per_page: 100, page };
        const { headers, body } = await http.json(Issues, { path: issuesOf(config), query });
        const tickets = body.filter((issue) => !('pull_request' in issue)).map((issue) => ticketOf(config, obj(issue)));
        if (tickets.length > 0 || body.length === 0 || !hasNext(headers)) return { tickets, next: hasNext(headers) ? String(page + 1) : null };
      }
    });
  },

  inbound({ config, credentials }, message) {
    if (!isSigned(message, 'x-hub-signature-256', credentials.webhook_secret)) return null;
    const { issue, repository } = jsonBody(message);
    const isOurs = str(obj(repository).full_name)?.toLowerCase() === config.repository.toLowerCase() && !('pull_request' in obj(issue));
    return { ticket: isOurs ? (str(obj(issue).number) ?? null) : null };
  },

  async capture({ http, config }, url) {
    const link = linked(url, config.api_url);
    const readable = [config.repository, ...(config.evidence_repositories ?? [])].map((name) => name.toLowerCase());
    if (!link || !readable.includes(link.repository.toLowerCase())) return null;
    return captureJson(http, { path: link.path }, async ({ number, sha, title, commit, html_url }) => {
      if (!(await isOf(http, link.repository, str(html_url) ?? '', siteOf(config.api_url)))) return null;
      const name = number === undefined ? `@${(str(sha) ?? '').slice(0, 12)}` : `#${str(number)}`;
      return `GitHub ${link.what} ${link.repository}${name}: ${str(title) ?? str(obj(commit).message)?.split('\n')[0] ?? ''}`;
    });
  },
});

/** GitHub redirects from an issue that was transferred to where it is now, which may be any repository, and from the old name of a repository. */
async function isOf(http: Http, repository: string, url: string, site: string): Promise<boolean> {
  const isBelow = (name: string): boolean => url.toLowerCase().startsWith(`${site}/${name}/`.toLowerCase());
  if (isBelow(repository)) return true;
  const { full_name } = await http.getJson(`repos/${repository}`, Type.Object({ full_name: Type.String() }));
  return isBelow(full_name);
}

function issuesOf(config: { repository: string }): string {
  return `repos/${config.repository}/issues`;
}

/** Null if the issue is deleted, was moved to another repository or never existed. */
async function issueOf(http: Http, config: { repository: string }, id: string): Promise<Obj | null> {
  const { status, body } = await http.json(Type.Unknown(), { path: `${issuesOf(config)}/${encodeURIComponent(id)}`, accept: [404, 410] });
  const issue = obj(body);
  return status >= 400 || str(issue.number) !== id || 'pull_request' in issue ? null : issue;
}

function hasNext(headers: Readonly<Record<string, string>>): boolean {
  return arr(headers.link?.split(',')).some((link) => String(link).includes('rel="next"'));
}

function fieldsOf(issue: Obj, { title, body, dueDate, state }: TicketChange): Record<string, Json> {
  const before = str(issue.body) ?? '';
  const text = body === undefined ? before : `${markdown(fitParagraphs(body, MAX_TEXT))}\n\n${footerOf(before)}`.trim();
  const isClosed = state === 'done' || state === 'rejected';
  return {
    ...(title === undefined ? {} : { title: oneLine(title, MAX_TITLE) }),
    ...(body === undefined && dueDate === undefined ? {} : { body: dueDate === undefined ? text : withDue(text, dueDate) }),
    ...(state === undefined
      ? {}
      : { state: isClosed ? 'closed' : 'open', state_reason: { done: 'completed', rejected: 'not_planned', open: null, in_progress: null }[state] }),
  };
}
