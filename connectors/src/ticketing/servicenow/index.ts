import { arr, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineTicketing, type Http, type HttpRequest } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';
import { captureJson, linkWithin } from '../../core/tickets/capture.ts';
import { changes, minutesAgo } from '../../core/tickets/changes.ts';
import { labelOf, markerOf } from '../../core/tickets/mapping.ts';
import { fitParagraphs, footerOf, workItemLine } from '../../core/tickets/text.ts';
import { hmac, isEqual, jsonBody, WebhookSecret } from '../../core/webhook-signatures.ts';
import { Config, fieldsOf, isOurs, stored, tableOf, ticketOf } from './record.ts';

const MAX_TEXT = 3_500;
const MAX_NOTE = 30_000;
const fields = [
  ...['sys_id', 'number', 'sys_class_name', 'short_description', 'description', 'state', 'active', 'priority', 'urgency', 'impact', 'due_date'],
  ...['assigned_to', 'assignment_group', 'opened_at', 'opened_by', 'resolved_at', 'resolved_by', 'closed_at', 'closed_by', 'close_code', 'close_notes'],
  ...['correlation_id', 'correlation_display', 'sys_created_on', 'sys_updated_on', 'sys_updated_by'],
];
const WHOLE = { sysparm_display_value: 'all', sysparm_exclude_reference_link: 'true' };
const RECORD_QUERY = { ...WHOLE, sysparm_fields: fields.join(',') };

const One = Type.Object({ result: Type.Object({}) });
const ResponseBody = Type.Object({ result: Type.Optional(Type.Unknown()), error: Type.Optional(Type.Unknown()) });

export const servicenow = defineTicketing({
  id: 'servicenow',
  name: 'ServiceNow',
  version: 1,
  description: 'Creates incidents, or records of a table that extends incident, in ServiceNow and tracks their state.',
  documentation: 'https://www.servicenow.com/docs/bundle/zurich-api-reference/page/integrate/inbound-rest/concept/c_TableAPI.html',
  permissions: 'a user with the role itil, or another role that can read, create and write the table and its work notes through REST',
  config: Config,
  credentials: Type.Object({
    username: Type.String({ title: 'User', examples: ['rrs.integration'], description: 'User ID of an integration account.', minLength: 1 }),
    password: Secret('Password', 'Password of the integration account.', {
      link: 'https://www.servicenow.com/docs/bundle/zurich-api-reference/page/integrate/inbound-rest/concept/c_TableAPI.html',
    }),
    webhook_secret: WebhookSecret(
      'Any long random text. Create a business rule that sends {"sys_id": "…"} for changed records, with the HMAC-SHA256 of the body in base64 in the header X-RRS-Signature (GlideCertificateEncryption.generateMac).',
      'https://www.servicenow.com/docs/bundle/zurich-api-reference/page/integrate/outbound-rest/concept/c_OutboundRESTWebService.html',
    ),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({ authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}` }),

  async check({ http, config }) {
    await http.getJson(pathOf(config), ResponseBody, { sysparm_limit: 1, sysparm_fields: 'sys_id,correlation_id,correlation_display' });
  },

  async find({ http, config }, key) {
    const marker = markerOf(labelOf(config), key);
    const { records } = await list(http, {
      path: pathOf(config),
      query: { ...RECORD_QUERY, sysparm_query: `correlation_id=${marker}^ORDERBYsys_created_on`, sysparm_limit: 10 },
    });
    const found = records.find((record) => stored(record, 'correlation_id') === marker);
    return found ? ticketOf(config, found) : null;
  },

  async create({ http, config }, draft) {
    const label = labelOf(config);
    const json = {
      ...config.fields,
      ...fieldsOf(config, draft),
      description: [...fitParagraphs(draft.body, MAX_TEXT), workItemLine(draft.url)].join('\n\n'),
      correlation_id: markerOf(label, draft.key),
      correlation_display: label,
    };
    const { body } = await http.json(One, { method: 'POST', path: pathOf(config), query: RECORD_QUERY, json });
    return ticketOf(config, obj(body.result));
  },

  async read({ http, config }, id) {
    const record = await recordOf(http, config, id);
    return record && ticketOf(config, record);
  },

  async update({ http, config }, id, change) {
    const path = `${pathOf(config)}/${encodeURIComponent(id)}`;
    const before = change.body ? await recordOf(http, config, id) : null;
    const footer = footerOf(before ? (stored(before, 'description') ?? '') : '');
    const description = change.body ? { description: [...fitParagraphs(change.body, MAX_TEXT), footer].join('\n\n').trim() } : {};
    const json = { ...fieldsOf(config, change), ...description };
    const { body } = await http.json(One, { method: 'PATCH', path, query: RECORD_QUERY, json, repeatable: true });
    return ticketOf(config, obj(body.result));
  },

  async comment({ http, config }, id, text) {
    // Journal fields render text between [code] tags as HTML.
    const work_notes = fitParagraphs([text], MAX_NOTE)
      .join('\n\n')
      .replaceAll(/\[(?=\/?code\])/gi, '[\u2060');
    await http.json(One, { method: 'PATCH', path: `${pathOf(config)}/${encodeURIComponent(id)}`, json: { work_notes } });
  },

  changedSince({ http, config }, since) {
    const label = labelOf(config);
    return changes(since, 60_000, async (from, next) => {
      const sysparm_query = `correlation_display=${label}^correlation_idSTARTSWITH${label}-^sys_updated_onRELATIVEGT@minute@ago@${minutesAgo(from)}^ORDERBYsys_updated_on^ORDERBYsys_id`;
      const page = await list(http, { path: pathOf(config), query: { ...RECORD_QUERY, sysparm_query, sysparm_limit: 100, sysparm_offset: next ?? 0 } });
      const tickets = page.records.filter((record) => isOurs(record, label)).map((record) => ticketOf(config, record));
      return { tickets, next: page.more ? String(Number(next ?? 0) + page.records.length) : null };
    });
  },

  inbound({ credentials }, message) {
    const { webhook_secret: secret } = credentials;
    if (secret === undefined || !isEqual(message.headers['x-rrs-signature'], hmac(secret, message.body, 'base64'))) return null;
    return { ticket: str(jsonBody(message).sys_id) ?? null };
  },

  async capture({ http, config }, url) {
    const id = recordIn(url, config);
    if (id === null) return null;
    return captureJson(http, { path: `${pathOf(config)}/${id}`, query: WHOLE }, ({ result }) => {
      const record = obj(result);
      return `ServiceNow ${tableOf(config)} ${stored(record, 'number') ?? id}: ${stored(record, 'short_description') ?? ''}`;
    });
  },
});

function pathOf(config: Static<typeof Config>): string {
  return `api/now/table/${tableOf(config)}`;
}

async function recordOf(http: Http, config: Static<typeof Config>, id: string) {
  const { status, body } = await http.json(ResponseBody, { path: `${pathOf(config)}/${encodeURIComponent(id)}`, query: RECORD_QUERY, accept: [404] });
  return status === 404 ? null : obj(body.result);
}

/** Older releases respond with 404 if the list is empty. */
async function list(http: Http, request: HttpRequest) {
  const { status, headers, body } = await http.json(ResponseBody, { ...request, accept: [404] });
  const message = str(obj(body.error).message) ?? '';
  if (status === 404 && !/no record/i.test(message))
    throw new ConnectorError('configuration', `ServiceNow does not have this table. Response: ${message.slice(0, 300)}`);
  return { records: arr(body.result).map(obj), more: /rel="?next"?/.test(headers.link ?? '') };
}

/** Recognizes links to the classic lists and forms, the frames around them, and the workspaces. */
function recordIn(url: string, config: Static<typeof Config>): string | null {
  const link = linkWithin(url, config.api_url);
  if (!link) return null;
  const text = unescaped(unescaped(`${link.path}?${link.query}`));
  return new RegExp(`(?:[/=]${tableOf(config)}\\.do\\?sys_id=|/record/${tableOf(config)}/)([0-9a-f]{32})(?![0-9a-f])`).exec(text)?.[1] ?? null;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
