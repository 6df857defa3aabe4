import { obj } from '@rrs/scan-reports/read.ts';
import type { Json, Settings } from '../../core/contract.ts';
import type { FakeOptions, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';
import { type FakeTickets, fakeTickets, type Stored } from '../../testing/fake-tickets.ts';

type Fields = Record<string, Json>;
type Tickets = FakeTickets<{ fields: Fields; relations: Json[] }>;
type Item = Tickets['all'][number];

const TOKEN = 'azure-pat-0123456789abcdef';
const PROJECT = 'Shop Floor';
const DUE = 'Microsoft.VSTS.Scheduling.DueDate';
const settings = (origin: string, token: string, work_item_type = 'Task') => ({
  config: { api_url: `${origin}/acme`, project: PROJECT, work_item_type },
  credentials: { token, webhook_secret: 'azure-secret-0123456789' },
});
const state = (name: string, category: string): Json => ({ name, color: 'b2b2b2', category });
const STATES: Record<string, Json[]> = {
  Task: [state('New', 'Proposed'), state('Active', 'InProgress'), state('Closed', 'Completed'), state('Removed', 'Removed')],
  /** Cannot be removed, as in the Agile process. */
  Bug: [state('New', 'Proposed'), state('Active', 'InProgress'), state('Resolved', 'Resolved'), state('Closed', 'Completed')],
};
const FIELDS: Record<string, string[]> = {
  Task: ['System.Title', 'System.Description', 'Microsoft.VSTS.Common.Priority', DUE],
  Bug: ['System.Title', 'Microsoft.VSTS.TCM.ReproSteps', 'Microsoft.VSTS.Common.Priority', DUE],
};
const failed = (status: number, message: string): FakeResponse => ({
  status,
  body: { $id: '1', innerException: null, message, typeKey: 'Exception', errorCode: 0 },
});

function toJson({ number, fields, relations, createdAt, updatedAt }: Item): Json {
  return {
    id: number,
    rev: 1,
    fields: {
      ...fields,
      'System.CreatedDate': createdAt.toISOString(),
      'System.ChangedDate': updatedAt.toISOString(),
      'System.AssignedTo': { displayName: 'Ada Lovelace', uniqueName: 'ada@acme.example' },
    },
    relations,
  };
}

/** Applies a JSON Patch. Null if a rule forbids the result. */
function patched(fields: Fields, relations: Json[], patch: readonly Json[]): { fields: Fields; relations: Json[]; history: string[] } | null {
  const after = { fields: { ...fields }, relations: [...relations], history: [] as string[] };
  for (const step of patch) {
    const { op, path, value } = obj(step);
    const field = String(path).replace('/fields/', '');
    if (path === '/relations/-') after.relations.push(value as Json);
    else if (op === 'remove') delete after.fields[field];
    else if (field === 'System.History') after.history.push(String(value));
    else after.fields[field] = value as Json;
  }
  const { 'System.Title': title = '', 'System.State': name, 'System.WorkItemType': type } = after.fields;
  const isState = STATES[String(type)]?.some((one) => obj(one).name === name);
  return isState && String(title).length <= 255 && !/\n/.test(String(title)) ? after : null;
}

function queried(tickets: Tickets, wiql: string, top: number, { pageSize, endless }: FakeOptions): FakeResponse {
  const tag = /\[System\.Tags\] CONTAINS '([^']*)'/.exec(wiql)?.[1];
  if (!tag || !wiql.includes('[System.TeamProject] = @project')) return failed(400, 'TF51006: The query statement is missing a clause.');
  const since = /\[System\.ChangedDate\] >= '([^']*)'/.exec(wiql)?.[1];
  const except = (/NOT IN \(([^)]*)\)/.exec(wiql)?.[1] ?? '').split(', ').map(Number);
  const tagged = tickets.changed(since ? Date.parse(since) : 0).filter(({ fields }) => String(fields['System.Tags']).split('; ').includes(tag));
  const found = tagged.filter(({ number }) => !except.includes(number));
  const page = found.slice(0, Math.min(top, pageSize));
  const workItems = (endless && page.length === 0 ? tickets.all.slice(-1) : page).map(({ number }) => ({ id: number, url: `https://dev.azure.com/${number}` }));
  return { page: true, body: { queryType: 'flat', asOf: tickets.tick().toISOString(), workItems } };
}

export const azureDevopsFake: FakeVendor = {
  id: 'azure_devops',
  settings: (origin) => settings(origin, TOKEN),
  refused: (origin) => settings(origin, 'azure-pat-revoked'),
  variants: [{ work_item_type: 'Bug' }],
  answer(options) {
    const blank = (type: string): Fields => ({ 'System.WorkItemType': type, 'System.State': 'New', 'System.Reason': 'New', 'System.TeamProject': PROJECT });
    const tickets: Tickets = fakeTickets((n, isOurs) => ({
      fields: { ...blank('Task'), 'System.Title': `Weakness ${n}`, 'System.Tags': isOurs ? `other; rrs; rrs-seed-${n}` : 'rrs-like; other' },
      relations: [],
    }));
    const itemAt = (path: string): (Item & Stored) | undefined => tickets.all.find(({ number }) => path.endsWith(`/workitems/${number}`));
    return ({ method, url, headers, body }) => {
      if (headers.authorization !== `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`)
        return { status: 203, headers: { 'content-type': 'text/html' }, body: '<!DOCTYPE html><html><title>Azure DevOps Services | Sign In</title></html>' };
      if (url.searchParams.get('api-version') !== '7.1') return failed(400, 'No api-version was supplied for the request.');
      const path = decodeURIComponent(url.pathname).replace('/acme/', '').replace(`${PROJECT}/`, '');
      const given = (body === '' ? {} : JSON.parse(body)) as Json;
      const name = /(?:workitemtypes\/|workitems\/\$)(\w+)$/.exec(path)?.[1];
      if (name !== undefined && !(name in STATES)) return failed(404, `VS402323: Work item type ${name} does not exist in project ${PROJECT}`);
      if (name !== undefined && method === 'GET')
        return { body: { name, states: STATES[name] ?? [], fields: (FIELDS[name] ?? []).map((referenceName) => ({ referenceName })) } };
      if (path === '_apis/wit/wiql') return queried(tickets, String(obj(given).query), Number(url.searchParams.get('$top')), options);
      if (path === '_apis/wit/workitemsbatch') {
        const ids = obj(given).ids as number[];
        return ids.length > 200 ? failed(400, 'VS403474: too many ids') : { body: { count: ids.length, value: ids.map((id) => shownOf(tickets, id)) } };
      }
      if (method !== 'GET' && headers['content-type'] !== 'application/json-patch+json') return failed(415, 'TF400898: Unsupported media type');
      const item = itemAt(path);
      if (name === undefined && !item) return failed(404, 'TF401232: Work item does not exist, or you do not have permissions to read it.');
      if (method === 'GET' && item) return { body: toJson(item) };
      const after = patched(item?.fields ?? blank(name ?? ''), item?.relations ?? [], given as Json[]);
      if (!after) return failed(400, 'TF401320: Rule Error for field.');
      const { history, ...rest } = after;
      if (!item) return { page: true, body: toJson(tickets.add(rest)) };
      Object.assign(item, rest);
      item.comments.push(...history);
      tickets.touch(item);
      return { body: toJson(item) };
    };
  },
  inbound(given: Settings, ticketId) {
    const password = String(obj(given.credentials).webhook_secret);
    const changed = { eventType: 'workitem.updated', resource: { workItemId: Number(ticketId), rev: 2, fields: {} } };
    const body = Buffer.from(JSON.stringify(ticketId === null ? { eventType: 'build.complete', resource: { id: 2, status: 'completed' } } : changed));
    return { headers: { authorization: `Basic ${Buffer.from(`rrs:${password}`).toString('base64')}` }, body };
  },
};

function shownOf(tickets: Tickets, id: number): Json {
  const item = tickets.all.find(({ number }) => number === id);
  return item ? toJson(item) : null;
}
