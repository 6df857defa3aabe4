import { type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineTicketing, type Http, type InboundMessage, type Json, type TicketChange } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';
import { captureJson } from '../../core/tickets/capture.ts';
import { changes } from '../../core/tickets/changes.ts';
import { labelChanges } from '../../core/tickets/labels.ts';
import { labelOf, markerOf } from '../../core/tickets/mapping.ts';
import { fitParagraphs, footerOf, markdown, oneLine, workItemLine } from '../../core/tickets/text.ts';
import { isEqual, isStandardSigned, jsonBody, WebhookSecret } from '../../core/webhook-signatures.ts';
import { Config, namesOf, ticketOf } from './issue.ts';
import { linked } from './links.ts';

const MAX_TITLE = 255;
/** Escaping can double it, and the footer after it must be within what is read again (`str`). */
const MAX_TEXT = 45_000;
const Issue = Type.Object({ iid: Type.Number() });
const Issues = Type.Array(Issue);

export const gitlabIssues = defineTicketing({
  id: 'gitlab_issues',
  name: 'GitLab Issues',
  version: 1,
  description: 'Creates issues in a GitLab project and tracks them. Merge requests and commits can be captured as evidence.',
  documentation: 'https://docs.gitlab.com/api/issues/',
  permissions: 'a personal, project or group access token with the scope api and at least the role Reporter in the project',
  config: Config,
  credentials: Type.Object({
    token: Secret('Access token', 'Create one in GitLab under Settings, Access tokens, of the project, the group or the user.', {
      link: 'https://gitlab.com/-/user_settings/personal_access_tokens',
    }),
    webhook_secret: WebhookSecret(
      'Signing token (whsec_…) or, in older versions, secret token of a project webhook for issue events and comments.',
      'https://docs.gitlab.com/user/project/integrations/webhooks/',
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ 'private-token': credentials.token }),

  async check({ http, config }) {
    namesOf(config);
    await http.getJson(issuesOf(config), Issues, { per_page: 1 });
  },

  async find({ http, config }, key) {
    const marker = `<!-- ${markerOf(labelOf(config), key)} -->`;
    const has = (issue: unknown): boolean => (str(obj(issue).description) ?? '').includes(marker);
    // Anyone can write the marker into an issue, but not set a label.
    const order = { state: 'all', labels: labelOf(config), order_by: 'created_at', sort: 'desc', per_page: 100 };
    const newest = await http.json(Issues, { path: issuesOf(config), query: order });
    const recent = newest.body.findLast(has);
    if (recent || !hasNext(newest.headers)) return recent ? ticketOf(config, obj(recent)) : null;
    const found = (await http.getJson(issuesOf(config), Issues, { ...order, search: markerOf(labelOf(config), key), in: 'description' })).findLast(has);
    return found ? ticketOf(config, obj(found)) : null;
  },

  async create({ http, config }, draft) {
    const label = labelOf(config);
    const footer = `${workItemLine(draft.url)}\n<!-- ${markerOf(label, draft.key)} -->`;
    const json = {
      title: oneLine(draft.title, MAX_TITLE),
      description: `${markdown(fitParagraphs(draft.body, MAX_TEXT))}\n\n${footer}`,
      labels: [label, namesOf(config).priorities[draft.priority]].join(','),
      confidential: config.confidential ?? true,
      ...(draft.dueDate === null ? {} : { due_date: draft.dueDate }),
    };
    const { body } = await http.json(Issue, { method: 'POST', path: issuesOf(config), json });
    return ticketOf(config, obj(body));
  },

  async read({ http, config }, id) {
    const issue = await issueOf(http, config, id);
    return issue && ticketOf(config, issue);
  },

  async update({ http, config }, id, change) {
    const issue = await issueOf(http, config, id);
    if (!issue) throw new ConnectorError('configuration', `GitLab has no issue ${id} in ${config.project}.`);
    const { add, remove } = labelChanges(strs(issue.labels), change, namesOf(config));
    const json = {
      ...fieldsOf(issue, change),
      ...(add.length === 0 ? {} : { add_labels: add.join(',') }),
      ...(remove.length === 0 ? {} : { remove_labels: remove.join(',') }),
    };
    if (Object.keys(json).length === 0) return ticketOf(config, issue);
    const { body } = await http.json(Issue, { method: 'PUT', path: `${issuesOf(config)}/${encodeURIComponent(id)}`, json, repeatable: true });
    return ticketOf(config, obj(body));
  },

  async comment({ http, config }, id, text) {
    const path = `${issuesOf(config)}/${encodeURIComponent(id)}/notes`;
    await http.json(Type.Unknown(), { method: 'POST', path, json: { body: markdown(fitParagraphs(text.split(/\n{2,}/), MAX_TEXT)) } });
  },

  changedSince({ http, config }, since) {
    return changes(since, 1_000, async (from, next) => {
      const updated_after = new Date(Math.max(0, from.getTime() - 1_000)).toISOString();
      const query = { labels: labelOf(config), state: 'all', scope: 'all', updated_after, order_by: 'updated_at', sort: 'asc', per_page: 100, page: next ?? 1 };
      const { headers, body } = await http.json(Issues, { path: issuesOf(config), query });
      return { tickets: body.map((issue) => ticketOf(config, obj(issue))), next: hasNext(headers) ? String(Number(next ?? 1) + 1) : null };
    });
  },

  inbound({ config, credentials }, message) {
    if (!isGenuine(message, credentials.webhook_secret)) return null;
    const { object_kind, object_attributes, issue, project } = jsonBody(message);
    const { id, path_with_namespace } = obj(project);
    const isOurs = [str(id), str(path_with_namespace)?.toLowerCase()].includes(config.project.toLowerCase());
    const about = object_kind === 'note' ? issue : object_kind === 'issue' ? object_attributes : null;
    return { ticket: isOurs ? (str(obj(about).iid) ?? null) : null };
  },

  async capture({ http, config }, url) {
    const link = linked(url, config.api_url);
    if (!link) return null;
    const isNamed = [config.project, ...(config.evidence_projects ?? [])].some((path) => path.toLowerCase() === link.project.toLowerCase());
    if (!isNamed && !/^\d+$/.test(config.project)) return null;
    // A project that is configured by its number has a path that only the record tells.
    const path = isNamed ? link.path : link.path.replace(/^projects\/[^/]+/, `projects/${config.project}`);
    return captureJson(http, { path }, ({ title, web_url }) => {
      const isOurs = isNamed || linked(str(web_url) ?? '', config.api_url)?.project.toLowerCase() === link.project.toLowerCase();
      return isOurs ? `GitLab ${link.what} ${link.project}${link.name}: ${str(title) ?? ''}` : null;
    });
  },
});

function issuesOf(config: Config): string {
  return `projects/${encodeURIComponent(config.project)}/issues`;
}

async function issueOf(http: Http, config: Config, id: string): Promise<Obj | null> {
  const { status, body } = await http.json(Type.Unknown(), { path: `${issuesOf(config)}/${encodeURIComponent(id)}`, accept: [404] });
  return status === 404 ? null : obj(body);
}

function hasNext(headers: Readonly<Record<string, string>>): boolean {
  return (headers['x-next-page'] ?? '') !== '' || /rel="next"/.test(headers.link ?? '');
}

/** A signing token authenticates the content, a secret token only the sender. */
function isGenuine(message: InboundMessage, secret: string | undefined): boolean {
  if (secret === undefined) return false;
  return secret.startsWith('whsec_') ? isStandardSigned(message, secret) : isEqual(message.headers['x-gitlab-token'], secret);
}

function fieldsOf(issue: Obj, { title, body, dueDate, state }: TicketChange): Record<string, Json> {
  const footer = footerOf(str(issue.description) ?? '');
  const wanted = state === undefined ? issue.state : state === 'done' || state === 'rejected' ? 'closed' : 'opened';
  return {
    ...(title === undefined ? {} : { title: oneLine(title, MAX_TITLE) }),
    ...(body === undefined ? {} : { description: `${markdown(fitParagraphs(body, MAX_TEXT))}\n\n${footer}`.trim() }),
    ...(dueDate === undefined ? {} : { due_date: dueDate ?? '' }),
    ...(wanted === issue.state ? {} : { state_event: wanted === 'closed' ? 'close' : 'reopen' }),
  };
}
