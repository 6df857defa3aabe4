import { createHash } from 'node:crypto';
import { obj } from '@rrs/scan-reports/read.ts';
import type { Json, Settings } from '../../core/contract.ts';
import { hmac } from '../../core/webhook-signatures.ts';
import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';
import { fakeTickets, pageAt, type Stored } from '../../testing/fake-tickets.ts';

type Fields = Record<string, string>;
type Incident = { fields: Fields } & Stored;

const PASSWORD = 'servicenow-password-0123';
const settings = (origin: string, password: string) => ({
  config: { api_url: origin },
  credentials: { username: 'rrs.bot', password, webhook_secret: 'servicenow-secret-0123456789' },
});
const STATES: Fields = { 1: 'New', 2: 'In Progress', 3: 'On Hold', 6: 'Resolved', 7: 'Closed', 8: 'Canceled' };
const sysId = (number: number): string => createHash('md5').update(`incident ${number}`).digest('hex');
const time = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');
const failed = (status: number, message: string): FakeResponse => ({ status, body: { error: { message, detail: '' }, status: 'failure' } });

function toJson({ number, fields, createdAt, updatedAt }: Incident): Json {
  const { urgency = '3', impact = '3' } = fields;
  const all: Fields = {
    ...fields,
    sys_id: sysId(number),
    number: `INC${String(number).padStart(7, '0')}`,
    priority: String(Math.min(5, Number(urgency) + Number(impact) - 1)),
    sys_created_on: time(createdAt),
    sys_updated_on: time(updatedAt),
  };
  const local = new Date(updatedAt.getTime() - 5 * 3_600_000);
  const display: Fields = { state: STATES[fields.state ?? ''] ?? '', sys_updated_on: time(local), assigned_to: 'Ada Lovelace' };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, { value, display_value: display[name] ?? value }]));
}

function refused(fields: Fields): string | null {
  const { short_description = '', description = '', state = '1', close_code, close_notes } = fields;
  if (short_description.length > 160 || /\n/.test(short_description)) return 'Value of short_description is too long';
  if (description.length > 4000) return 'Value of description is too long';
  if (!(state in STATES)) return 'Invalid state';
  return state === '6' && !(close_code && close_notes) ? 'Data Policy Exception: Resolution code and Resolution notes are mandatory' : null;
}

export const servicenowFake: FakeVendor = {
  id: 'servicenow',
  settings: (origin) => settings(origin, PASSWORD),
  refused: (origin) => settings(origin, 'old-password-0123'),
  variants: [{ states: { open: ['1'], in_progress: ['3', '2'], done: ['7', '6'] }, priorities: { high: '2/1', low: '3/3' }, close_code: 'Resolved by change' }],
  answer(options) {
    const blank = { state: '1', urgency: '3', impact: '3', active: 'true', due_date: '', assigned_to: '6816f79cc0a8016401c5a33be04be441' };
    const tickets = fakeTickets<{ fields: Fields }>((n, isOurs) => ({
      fields: {
        ...blank,
        short_description: `Weakness ${n}`,
        description: `Text ${n}`,
        correlation_display: isOurs ? 'rrs' : 'other',
        correlation_id: `${isOurs ? 'rrs' : 'other'}-seed-${n}`,
      },
    }));
    const listed = (url: URL): FakeResponse => {
      const parts = (url.searchParams.get('sysparm_query') ?? '').split('^');
      const minutes = parts.map((part) => /^sys_updated_onRELATIVEGT@minute@ago@(\d+)$/.exec(part)?.[1]).find((found) => found !== undefined);
      // ServiceNow ignores conditions that it does not understand.
      const conditions = parts.flatMap((part) => [/^(\w+?)(=|STARTSWITH)(.*)$/.exec(part)].filter((found) => found !== null));
      const found = tickets
        .changed(minutes === undefined ? 0 : Date.now() - Number(minutes) * 60_000)
        .filter(({ fields }) =>
          conditions.every(([, field = '', operator, value = '']) => (operator === '=' ? fields[field] === value : fields[field]?.startsWith(value))),
        );
      const { page, more } = pageAt(found, Number(url.searchParams.get('sysparm_offset') ?? 0), options);
      const link = `<${url.origin}${url.pathname}?sysparm_offset=0>;rel="first"${more ? `,<${url.origin}${url.pathname}?sysparm_offset=${page.length}>;rel="next"` : ''}`;
      return { page: true, headers: { link, 'x-total-count': String(found.length) }, body: { result: page.map(toJson) } };
    };
    return ({ method, url, headers, body }) => {
      if (headers.authorization !== `Basic ${Buffer.from(`rrs.bot:${PASSWORD}`).toString('base64')}`) return failed(401, 'User Not Authenticated');
      const [, id] = /^\/api\/now\/table\/incident(?:\/(\w+))?$/.exec(url.pathname) ?? [null, null];
      if (id === null) return failed(400, 'Invalid table');
      const given = (body === '' ? {} : JSON.parse(body)) as Fields;
      if (id === undefined && method === 'GET') return listed(url);
      if (id === undefined) {
        const fields = { ...blank, ...given };
        const reason = refused(fields);
        return reason === null ? { status: 201, page: true, body: { result: toJson(tickets.add({ fields })) } } : failed(403, reason);
      }
      const incident = tickets.all.find(({ number }) => sysId(number) === id);
      if (!incident) return failed(404, 'No Record found');
      if (method === 'PATCH') {
        const reason = refused({ ...incident.fields, ...given });
        if (reason !== null) return failed(403, reason);
        const { work_notes, ...fields } = given;
        if (work_notes !== undefined) incident.comments.push(work_notes);
        Object.assign(incident.fields, fields, { active: ['7', '8'].includes(fields.state ?? incident.fields.state ?? '') ? 'false' : 'true' });
        tickets.touch(incident);
      }
      return { body: { result: toJson(incident) } };
    };
  },
  inbound(given: Settings, ticketId) {
    const body = Buffer.from(JSON.stringify(ticketId === null ? {} : { sys_id: ticketId }));
    return { headers: { 'x-rrs-signature': hmac(String(obj(given.credentials).webhook_secret), body, 'base64') }, body };
  },
};
