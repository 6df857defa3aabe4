import { arr, num, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { type Static, type TSchema, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Capture, Http, HttpRequest, HttpResponse, Inbound, InboundMessage, Json, Ticket, TicketChange, TicketDraft } from '../../core/contract.ts';
import { captureJson, linkWithin } from '../../core/tickets/capture.ts';
import { changes, minutesAgo } from '../../core/tickets/changes.ts';
import { includesName, labelOf, markerOf } from '../../core/tickets/mapping.ts';
import { fitParagraphs, oneLine } from '../../core/tickets/text.ts';
import { isSigned, jsonBody } from '../../core/webhook-signatures.ts';
import { issueFields, type JiraConfig, jiraPriorities, ticketOf } from './mapping.ts';
import { moveTo } from './transitions.ts';

/** The operations of Jira Cloud and Jira Data Center. */

export interface Edition {
  /** The path of the API: rest/api/3 */
  api: string;
  /** The URL where people view issues. */
  site(config: Urls): string;
  text(paragraphs: readonly string[], workItem: string): Json;
  /** The new text with the footer of the current one. */
  replaceText(paragraphs: readonly string[], before: unknown): Json;
  comment(paragraphs: readonly string[]): Json;
  search(http: Http, jql: string, next: string | null): Promise<{ issues: readonly unknown[]; next: string | null }>;
}

interface Urls {
  api_url: string;
  site_url?: string;
}

interface JiraContext {
  http: Http;
  config: JiraConfig & Urls;
}

const MAX_SUMMARY = 255;
const MAX_TEXT = 32_000;
const Issue = Type.Object({ id: Type.String(), key: Type.String(), fields: Type.Object({}) });
export const Issues = Type.Array(Issue);

export function jiraOperations(edition: Edition) {
  const { api } = edition;
  const ticket = (config: JiraContext['config'], issue: unknown): Ticket => ticketOf(config, edition.site(config), issue);
  const pathOf = (id: string): string => `${api}/issue/${encodeURIComponent(id)}`;

  const issueOf = async ({ http }: JiraContext, id: string): Promise<Static<typeof Issue> | null> => {
    const { status, body } = await send(http, Type.Unknown(), { path: pathOf(id), query: { fields: issueFields.join(',') }, accept: [404] });
    if (status === 404) return null;
    if (!('id' in obj(body) && 'fields' in obj(body))) throw new ConnectorError('invalid_answer', `The response for issue ${id} is not an issue.`);
    return body as Static<typeof Issue>;
  };
  const existing = async (context: JiraContext, id: string): Promise<Static<typeof Issue>> => {
    const issue = await issueOf(context, id);
    if (!issue) throw new ConnectorError('configuration', `Jira has no issue ${id}, or these credentials may not read it.`);
    return issue;
  };

  return {
    async check({ http, config }: JiraContext): Promise<void> {
      await send(http, Type.Unknown(), { path: `${api}/myself` });
      await creationMeta(http, api, config);
    },

    async find({ http, config }: JiraContext, key: string): Promise<Ticket | null> {
      const marker = markerOf(labelOf(config), key);
      const { issues } = await edition.search(http, `project = "${config.project_key}" AND labels = "${marker}" ORDER BY created ASC`, null);
      const found = issues.find((issue) => strs(obj(obj(issue).fields).labels).includes(marker));
      return found === undefined ? null : ticket(config, found);
    },

    async create(context: JiraContext, draft: TicketDraft): Promise<Ticket> {
      const { http, config } = context;
      const { type, fields: possible } = await creationMeta(http, api, config);
      const labels = [labelOf(config), markerOf(labelOf(config), draft.key), ...strs(config.fields?.labels)];
      const wanted = { ...fieldsOf(config, draft), description: edition.text(fitParagraphs(draft.body, MAX_TEXT), draft.url) };
      const fields = {
        ...(config.fields as Record<string, Json>),
        ...settableFields(wanted, possible),
        project: { key: config.project_key },
        issuetype: { id: type },
        labels,
      };
      const { body } = await send(http, Type.Object({ id: Type.String() }), { method: 'POST', path: `${api}/issue`, json: { fields } });
      return ticket(config, await existing(context, body.id));
    },

    async read(context: JiraContext, id: string): Promise<Ticket | null> {
      const issue = await issueOf(context, id);
      return issue && ticket(context.config, issue);
    },

    async update(context: JiraContext, id: string, change: TicketChange): Promise<Ticket> {
      const { http, config } = context;
      const before = await existing(context, id);
      const { state } = change;
      const move = async (): Promise<void> => {
        const current = async () => obj((await existing(context, id)).fields) as { status: unknown; resolution: unknown };
        if (state) await moveTo({ http, config, path: pathOf(id), state, current });
      };
      // Closed issues may not be editable, so the issue is reopened before the edit and closed after it.
      const reopens = state === 'open' || state === 'in_progress';
      if (reopens) await move();
      const { body } = change;
      const description = body && edition.replaceText(fitParagraphs(body, MAX_TEXT), obj(before.fields).description);
      const wanted = { ...fieldsOf(config, change), ...(description === undefined ? {} : { description }) };
      if (Object.keys(wanted).length > 0) {
        const meta = await send(http, Type.Object({ fields: Type.Unknown() }), { path: `${pathOf(id)}/editmeta` });
        const fields = settableFields(wanted, obj(meta.body.fields));
        if (Object.keys(fields).length > 0) await send(http, Type.Unknown(), { method: 'PUT', path: pathOf(id), json: { fields }, repeatable: true });
      }
      if (!reopens) await move();
      return ticket(config, await existing(context, id));
    },

    async comment({ http }: JiraContext, id: string, text: string): Promise<void> {
      await send(http, Type.Unknown(), {
        method: 'POST',
        path: `${pathOf(id)}/comment`,
        json: { body: edition.comment(fitParagraphs(text.split(/\n{2,}/), MAX_TEXT)) },
      });
    },

    changedSince({ http, config }: JiraContext, since: Date): AsyncGenerator<readonly Ticket[]> {
      // Without the project, because issues can be moved to another one.
      const ours = `labels = "${labelOf(config)}"`;
      return changes(since, 60_000, async (from, next) => {
        // Absolute times would be interpreted in the time zone of the account, with a resolution of one minute.
        const page = await edition.search(http, `${ours} AND updated >= "-${minutesAgo(from)}m" ORDER BY updated ASC, key ASC`, next);
        return { tickets: page.issues.map((issue) => ticket(config, issue)), next: page.next };
      });
    },

    inbound({ credentials }: { credentials: { webhook_secret?: string } }, message: InboundMessage): Inbound | null {
      return isSigned(message, 'x-hub-signature', credentials.webhook_secret) ? { ticket: str(obj(jsonBody(message).issue).id) ?? null } : null;
    },

    async capture({ http, config }: JiraContext, url: string): Promise<Capture | null> {
      const key = issueKey(url, edition.site(config));
      const isOurs = (name: string): boolean => name.toUpperCase().startsWith(`${config.project_key.toUpperCase()}-`);
      if (key === null || !isOurs(key)) return null;
      const request = { path: pathOf(key), query: { fields: '*all', expand: 'names,changelog' } };
      // An issue that was moved to another project answers to its old key, too.
      return captureJson(http, request, (issue) =>
        isOurs(str(issue.key) ?? '') ? `Jira issue ${key} with its history: ${str(obj(issue.fields).summary) ?? ''}` : null,
      );
    },
  };
}

/** Jira answers some requests anonymously if it does not know the credentials, so this checks the header that says so. */
async function send<T extends TSchema>(http: Http, schema: T, request: HttpRequest): Promise<HttpResponse<Static<T>>> {
  const response = await http.json(schema, request);
  if (/AUTHENTICAT(ED|ION)_(FAILED|DENIED)/.test(response.headers['x-seraph-loginreason'] ?? ''))
    throw new ConnectorError('credentials', 'Jira did not recognize the credentials and treated the request as anonymous. Check the user and the token.');
  return response;
}

function fieldsOf(config: JiraConfig, { title, priority, dueDate }: TicketChange): Record<string, Json> {
  return {
    ...(title === undefined ? {} : { summary: oneLine(title, MAX_SUMMARY) }),
    ...(priority === undefined ? {} : { priority: { name: jiraPriorities(config)[priority] } }),
    ...(dueDate === undefined ? {} : { duedate: dueDate }),
  };
}

/** Drops fields that are not on the project's screens. A ticket without a priority is better than no ticket. */
function settableFields(wanted: Record<string, Json>, possible: Obj): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([id, value]) => {
      if (id === 'summary') return true;
      const allowed = arr(obj(possible[id]).allowedValues).flatMap((one) => str(obj(one).name) ?? []);
      return id in possible && (allowed.length === 0 || includesName(allowed, str(obj(value).name)));
    }),
  );
}

/** The id of the issue type and the fields of its create screen. */
async function creationMeta(http: Http, api: string, config: JiraConfig): Promise<{ type: string; fields: Obj }> {
  const path = `${api}/issue/createmeta/${encodeURIComponent(config.project_key)}/issuetypes`;
  const wanted = config.issue_type ?? 'Task';
  const types = await listAll(http, path, 'issueTypes');
  const type = str(types.find(({ id, name }) => str(id) === wanted || includesName([wanted], str(name)))?.id);
  if (type === undefined) {
    const names = types.flatMap(({ name }) => str(name) ?? []).join(', ') || 'none that these credentials can create';
    throw new ConnectorError('configuration', `Project ${config.project_key} has no issue type “${wanted}”. It has: ${names}.`);
  }
  const fields = await listAll(http, `${path}/${encodeURIComponent(type)}`, 'fields');
  const possible = Object.fromEntries(fields.map((field) => [str(field.fieldId) ?? str(field.key) ?? '', field]));
  if (!('labels' in possible))
    throw new ConnectorError(
      'configuration',
      `The create screen of ${config.project_key} does not have the field Labels, which the service needs to find its issues. Add it.`,
    );
  return { type, fields: possible };
}

async function listAll(http: Http, path: string, name: 'issueTypes' | 'fields'): Promise<Obj[]> {
  const all: Obj[] = [];
  for (;;) {
    const { body } = await send(http, Type.Object({}), { path, query: { startAt: all.length, maxResults: 50 } });
    const { [name]: records, values, total, isLast } = obj(body);
    const page = arr(records ?? values).map(obj);
    all.push(...page);
    if (page.length === 0 || isLast === true || all.length >= (num(total) ?? 0)) return all;
  }
}

function issueKey(url: string, site: string): string | null {
  const link = linkWithin(url, site);
  const key = /\/(?:browse|issues)\/([^/]+)\/?$/.exec(link?.path ?? '')?.[1] ?? link?.query.get('selectedIssue') ?? '';
  return /^[A-Za-z][A-Za-z0-9_]*-\d+$/.test(key) ? key.toUpperCase() : null;
}
