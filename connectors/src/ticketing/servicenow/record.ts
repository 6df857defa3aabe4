import { type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Json, Priority, Ticket, TicketChange, TicketState } from '../../core/contract.ts';
import {
  LabelField,
  type PriorityNames,
  PriorityNamesField,
  parseTime,
  priorityByName,
  priorityNames,
  type StateNames,
  StateNamesField,
  stateByName,
} from '../../core/tickets/mapping.ts';
import { oneLine } from '../../core/tickets/text.ts';

const MAX_TITLE = 160;
/** Urgency/impact. ServiceNow computes the priority from them. */
const PRIORITIES: PriorityNames = { critical: '1/1', high: '1/2', medium: '2/2', low: '3/2' };
const STATES: StateNames & Record<TicketState, readonly string[]> = { open: ['1'], in_progress: ['2', '3'], done: ['6', '7'], rejected: ['8'] };
const COMPUTED: Readonly<Record<string, Priority>> = { 1: 'critical', 2: 'high', 3: 'medium', 4: 'low', 5: 'low' };

export const Config = Type.Object({
  api_url: Type.String({
    title: 'URL',
    examples: ['https://acme.service-now.com'],
    description: 'URL of the instance, such as https://acme.service-now.com.',
    format: 'uri',
  }),
  table: Type.Optional(
    Type.String({ title: 'Table', description: 'Table for the tickets: incident, or a table that extends it.', default: 'incident', pattern: '^[a-z0-9_]+$' }),
  ),
  label: LabelField('Value of correlation_display, and the start of correlation_id, in every record that the service creates.'),
  priorities: PriorityNamesField(PRIORITIES, 'Urgency and impact, such as 1/2. ServiceNow computes the priority from them.'),
  states: StateNamesField('Values of the field state, if they differ from 1 new, 2 in progress, 3 on hold, 6 resolved, 7 closed, 8 canceled.'),
  close_code: Type.Optional(
    Type.String({
      title: 'Resolution code',
      'x-group': 'advanced',
      description: 'Value of close_code for resolved records. It must be one of the choices of the instance.',
      default: 'Solution provided',
    }),
  ),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      title: 'Additional fields',
      'x-group': 'advanced',
      examples: [{ assignment_group: 'd625dccec0a8016700a222a0f7900d06', category: 'security' }],
      description: 'Values for new records by field name. References are given by their sys_id.',
    }),
  ),
});
export type Config = Static<typeof Config>;

export function tableOf(config: Config): string {
  return config.table ?? 'incident';
}

/** With sysparm_display_value=all, each field has its stored value, with times in UTC, and its display value. */
export function stored(record: Obj, field: string): string | undefined {
  const value = record[field];
  return str(obj(value).value) ?? str(value);
}

function displayed(record: Obj, field: string): string | undefined {
  return str(obj(record[field]).display_value) ?? stored(record, field);
}

function statesOf(config: Config): Record<TicketState, readonly string[]> {
  const { open, in_progress, done, rejected } = config.states ?? {};
  return {
    open: open ?? STATES.open,
    in_progress: in_progress ?? STATES.in_progress,
    done: done ?? STATES.done,
    rejected: rejected ?? STATES.rejected,
  };
}

export function ticketOf(config: Config, record: Obj): Ticket {
  const id = stored(record, 'sys_id') ?? '';
  const key = stored(record, 'number') ?? id;
  const states = statesOf(config);
  const named = stateByName(states, stored(record, 'state')) ?? stateByName(states, displayed(record, 'state'));
  const priority = priorityByName(priorityNames(config.priorities, PRIORITIES), `${stored(record, 'urgency')}/${stored(record, 'impact')}`);
  return {
    id,
    key,
    url: `${config.api_url.replace(/(?<!\/)\/+$/, '')}/nav_to.do?uri=${encodeURIComponent(`${tableOf(config)}.do?sys_id=${id}`)}`,
    state: named ?? (stored(record, 'active') === 'false' ? 'done' : 'in_progress'),
    stateName: displayed(record, 'state') ?? '',
    title: stored(record, 'short_description') ?? '',
    priority: priority ?? COMPUTED[stored(record, 'priority') ?? ''] ?? null,
    dueDate: stored(record, 'due_date')?.slice(0, 10) ?? null,
    assignee: displayed(record, 'assigned_to') ?? null,
    updatedAt: parseTime(stored(record, 'sys_updated_on'), key),
    raw: record as Json,
  };
}

export function fieldsOf(config: Config, { title, priority, dueDate, state }: TicketChange): Record<string, string> {
  return {
    ...(title === undefined ? {} : { short_description: oneLine(title, MAX_TITLE) }),
    ...(priority === undefined ? {} : urgencyAndImpact(config, priority)),
    // Noon UTC is the same day in almost every time zone.
    ...(dueDate === undefined ? {} : { due_date: dueDate === null ? '' : `${dueDate} 12:00:00` }),
    ...(state === undefined ? {} : stateFields(config, state)),
  };
}

function urgencyAndImpact(config: Config, priority: Priority): Record<string, string> {
  const pair = priorityNames(config.priorities, PRIORITIES)[priority];
  const [, urgency, impact] = /^(\d)\s*\/\s*(\d)$/.exec(pair) ?? [];
  if (!urgency || !impact)
    throw new ConnectorError('configuration', `The priority ${priority} is configured as “${pair}”. It must be urgency and impact, such as 1/2.`);
  return { urgency, impact };
}

/** ServiceNow requires a close code and notes to resolve a record. */
function stateFields(config: Config, state: TicketState): Record<string, string> {
  const [value] = statesOf(config)[state];
  if (value === undefined) throw new ConnectorError('configuration', `No ServiceNow state is configured for ${state.replace('_', ' ')}.`);
  if (state === 'done')
    return { state: value, close_code: config.close_code ?? 'Solution provided', close_notes: 'The findings of the work item were remediated.' };
  return state === 'rejected' ? { state: value, close_notes: 'The work item will not be done.' } : { state: value };
}

/** Checks each record, because ServiceNow ignores conditions of a query that it does not understand. */
export function isOurs(record: Obj, label: string): boolean {
  return stored(record, 'correlation_display') === label && (stored(record, 'correlation_id') ?? '').startsWith(`${label}-`);
}
