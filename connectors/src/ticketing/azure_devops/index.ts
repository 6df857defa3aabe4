import { arr, date, num, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineTicketing, type Http, type HttpRequest, type Json, type Ticket } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';
import { captureJson, isJson, linkWithin } from '../../core/tickets/capture.ts';
import { createDeduplicator, repeatedPage } from '../../core/tickets/changes.ts';
import { includesName, labelOf, markerOf } from '../../core/tickets/mapping.ts';
import { fitParagraphs, html } from '../../core/tickets/text.ts';
import { isEqual, jsonBody, WebhookSecret } from '../../core/webhook-signatures.ts';
import { Config, changedAt, type ItemType, itemType, type Patch, patchOf, set, statePatch, tagged, tagsOf, ticketOf, typeNameOf } from './work-item.ts';

const PAGE_SIZE = 200;
const PERMISSIONS = 'a personal access token with the scope Work Items (read & write), of a member of the project';

export const azureDevops = defineTicketing({
  id: 'azure_devops',
  name: 'Azure DevOps',
  version: 1,
  description: 'Creates work items in an Azure DevOps project and tracks their state.',
  documentation: 'https://learn.microsoft.com/en-us/rest/api/azure/devops/wit/work-items',
  permissions: PERMISSIONS,
  config: Config,
  credentials: Type.Object({
    token: Secret('Personal access token', 'Create one in Azure DevOps under User settings, Personal access tokens.', {
      link: 'https://learn.microsoft.com/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate',
    }),
    webhook_secret: WebhookSecret(
      'Password for basic authentication of a “Web Hooks” service hook for updated work items. The user name does not matter.',
      'https://learn.microsoft.com/azure/devops/service-hooks/services/webhooks',
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({
    authorization: `Basic ${Buffer.from(`:${credentials.token}`).toString('base64')}`,
    // Without this header, Azure DevOps redirects requests with an unknown token to a sign-in page.
    'x-tfs-fedauthredirect': 'Suppress',
  }),

  async check({ http, config }) {
    await typeOf(http, config, config.work_item_type ?? 'Task');
  },

  async find({ http, config }, key) {
    const marker = markerOf(labelOf(config), key);
    const { ids } = await query(http, config, { condition: `[System.Tags] CONTAINS '${marker}'`, order: '[System.Id]' });
    const items = await itemsOf(http, config, ids);
    const found = items.find((item) => includesName(tagsOf(item), marker));
    return found ? ticketOf(config, await typeOf(http, config, typeNameOf(found)), found) : null;
  },

  async create({ http, config }, draft) {
    const name = config.work_item_type ?? 'Task';
    const type = await typeOf(http, config, name);
    const label = labelOf(config);
    const additional = Object.entries(config.fields ?? {}).flatMap(([field, value]) => set(field, value as Json));
    const link = { rel: 'Hyperlink', url: draft.url, attributes: { comment: 'Work item' } };
    const patch = [
      ...additional,
      ...patchOf(config, type, draft),
      ...tagged([label, markerOf(label, draft.key)]),
      { op: 'add', path: '/relations/-', value: link },
    ];
    const item = await send(http, {
      method: 'POST',
      path: `${pathOf(config)}/workitems/$${encodeURIComponent(name)}`,
      query: { $expand: 'relations' },
      ...asPatch(patch),
    });
    return ticketOf(config, type, item);
  },

  async read({ http, config }, id) {
    const item = await itemOf(http, config, id);
    return item && ticketOf(config, await typeOf(http, config, typeNameOf(item)), item);
  },

  async update({ http, config }, id, change) {
    const before = await itemOf(http, config, id);
    if (!before) throw new ConnectorError('configuration', `Azure DevOps has no work item ${id}, or this token may not read it.`);
    const type = await typeOf(http, config, typeNameOf(before));
    const patch = [...patchOf(config, type, change, before), ...(change.state ? statePatch(config, type, change.state, before) : [])];
    if (patch.length === 0) return ticketOf(config, type, before);
    const request = {
      method: 'PATCH',
      path: `${pathOf(config)}/workitems/${encodeURIComponent(id)}`,
      query: { $expand: 'relations' },
      repeatable: true,
    } as const;
    return ticketOf(config, type, await send(http, { ...request, ...asPatch(patch) }));
  },

  async comment({ http, config }, id, text) {
    const patch = set('System.History', html(fitParagraphs(text.split(/\n{2,}/), 30_000)));
    await send(http, { method: 'PATCH', path: `${pathOf(config)}/workitems/${encodeURIComponent(id)}`, ...asPatch(patch) });
  },

  /** A query returns only ids and has no paging. So each query starts at the time of the last change and excludes known ids. */
  async *changedSince({ http, config }, since) {
    const label = labelOf(config);
    const onlyNew = createDeduplicator(since);
    const types = new Map<string, ItemType>();
    const ticket = async (item: Obj): Promise<Ticket> => {
      const name = typeNameOf(item);
      const type = types.get(name) ?? (await typeOf(http, config, name));
      types.set(name, type);
      return ticketOf(config, type, item);
    };
    let [from, known] = [since, new Set<number>()];
    for (;;) {
      const except = known.size === 0 ? '' : ` AND [System.Id] NOT IN (${[...known].join(', ')})`;
      const condition = `[System.Tags] CONTAINS '${label}' AND [System.ChangedDate] >= '${from.toISOString()}'${except}`;
      const { ids, asOf } = await query(http, config, { condition, order: '[System.ChangedDate], [System.Id]' });
      if (ids.length === 0) return;
      // Items that changed after the query come up again in a later one.
      const items = (await itemsOf(http, config, ids)).filter((item) => asOf === null || changedAt(item) <= asOf);
      const tickets: Ticket[] = [];
      for (const item of items) if (includesName(tagsOf(item), label)) tickets.push(await ticket(item));
      const fresh = onlyNew(tickets);
      if (fresh.length > 0) yield fresh;
      const last = Math.max(from.getTime(), ...items.map((item) => changedAt(item).getTime()));
      if (last > from.getTime()) {
        from = new Date(last);
        known = new Set(items.filter((item) => changedAt(item).getTime() >= last - 1_000).flatMap(({ id }) => num(id) ?? []));
      } else if (ids.every((id) => known.has(id))) throw repeatedPage();
      else known = new Set([...known, ...ids]);
    }
  },

  inbound({ credentials }, { headers, body }) {
    const { webhook_secret: secret } = credentials;
    const [, encoded] = /^basic (.+)$/i.exec(headers.authorization ?? '') ?? [];
    const [, password] = /^[^:]*:([\s\S]*)$/.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
    if (secret === undefined || !isEqual(password, secret)) return null;
    const { eventType, resource } = jsonBody({ headers, body });
    const { workItemId, id } = obj(resource);
    return { ticket: str(eventType)?.startsWith('workitem.') ? (str(workItemId) ?? str(id) ?? null) : null };
  },

  async capture({ http, config }, url) {
    const link = linkWithin(url, config.api_url);
    const id = /\/_workitems\/edit\/(\d+)\/?$/.exec(link?.path ?? '')?.[1] ?? link?.query.get('workitem') ?? '';
    if (!/^\d+$/.test(id)) return null;
    const request = { path: `_apis/wit/workitems/${id}`, query: { 'api-version': '7.1', $expand: 'all' } };
    return captureJson(http, request, ({ fields }) => {
      const { 'System.TeamProject': project, 'System.Title': title } = obj(fields);
      return str(project)?.toLowerCase() === config.project.toLowerCase() ? `Azure DevOps work item #${id}: ${str(title) ?? ''}` : null;
    });
  },
});

function pathOf(config: Config): string {
  return `${encodeURIComponent(config.project)}/_apis/wit`;
}

function asPatch(patch: Patch): Pick<HttpRequest, 'json' | 'headers'> {
  return { json: patch, headers: { 'content-type': 'application/json-patch+json' } };
}

/** Azure DevOps responds to unknown credentials with 203 and a sign-in page. */
async function send(http: Http, request: HttpRequest): Promise<Obj> {
  const isComplete = (text: string): boolean => isJson(text) || text.trimStart().startsWith('<');
  const { status, body } = await http.text({ ...request, query: { 'api-version': '7.1', ...request.query }, isComplete });
  if (status === 203)
    throw new ConnectorError('credentials', `Azure DevOps did not accept the credentials and returned a sign-in page. They need: ${PERMISSIONS}.`);
  if (status === 404) return {};
  if (!isJson(body)) throw new ConnectorError('invalid_answer', 'Azure DevOps returned a web page instead of JSON.');
  return obj(JSON.parse(body));
}

async function typeOf(http: Http, config: Config, name: string): Promise<ItemType> {
  const type = itemType(await send(http, { path: `${pathOf(config)}/workitemtypes/${encodeURIComponent(name)}` }));
  if (type.states.length === 0) throw new ConnectorError('invalid_answer', `Azure DevOps returned no states for the work item type ${name}.`);
  return type;
}

async function itemOf(http: Http, config: Config, id: string): Promise<Obj | null> {
  const item = await send(http, { path: `${pathOf(config)}/workitems/${encodeURIComponent(id)}`, query: { $expand: 'relations' }, accept: [404] });
  return 'fields' in item ? item : null;
}

async function query(http: Http, config: Config, { condition, order }: { condition: string; order: string }): Promise<{ ids: number[]; asOf: Date | null }> {
  const wiql = `SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project AND ${condition} ORDER BY ${order}`;
  const request = {
    method: 'POST',
    path: `${pathOf(config)}/wiql`,
    query: { timePrecision: true, $top: PAGE_SIZE },
    json: { query: wiql },
    repeatable: true,
  } as const;
  const { workItems, asOf } = await send(http, request);
  return { ids: arr(workItems).flatMap((item) => num(obj(item).id) ?? []), asOf: date(asOf) };
}

async function itemsOf(http: Http, config: Config, ids: readonly number[]): Promise<Obj[]> {
  if (ids.length === 0) return [];
  const json = { ids, $expand: 'Relations', errorPolicy: 'Omit' };
  const { value } = await send(http, { method: 'POST', path: `${pathOf(config)}/workitemsbatch`, json, repeatable: true });
  const items = new Map(arr(value).map((item) => [num(obj(item).id), obj(item)] as const));
  return ids.flatMap((id): Obj[] => [items.get(id)].filter((item) => item !== undefined));
}
