import { arr, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, type Json, type Ticket, type TicketChange, type TicketState } from '../../core/contract.ts';
import {
  isCalled,
  LabelField,
  moment,
  type PriorityNames,
  PriorityNamesField,
  priorityCalled,
  priorityNames,
  StateNamesField,
  stateCalled,
} from '../../core/tickets/mapping.ts';
import { fitting, html, oneLine } from '../../core/tickets/text.ts';

const TITLE = 255;
const TEXT = 100_000;
const PRIORITIES: PriorityNames = { critical: '1', high: '2', medium: '3', low: '4' };
const CATEGORIES: Readonly<Record<string, TicketState>> = {
  Proposed: 'open',
  InProgress: 'in_progress',
  Resolved: 'done',
  Completed: 'done',
  Removed: 'rejected',
};
/** In order of preference, for setting a state. */
const TARGETS: Readonly<Record<TicketState, readonly string[]>> = {
  open: ['Proposed'],
  in_progress: ['InProgress'],
  done: ['Completed', 'Resolved'],
  rejected: ['Removed', 'Completed', 'Resolved'],
};
const REASONS = ["Won't Fix", 'As Designed', 'Cannot Reproduce', 'Duplicate', 'Obsolete', 'Rejected', 'Abandoned', 'Deferred', 'Overtaken by Events', 'Cut'];
const REJECTED_TAG = 'rejected';

const STATE = 'System.State';
const TAGS = 'System.Tags';
const PRIORITY = 'Microsoft.VSTS.Common.Priority';
const DUE = 'Microsoft.VSTS.Scheduling.DueDate';
const STEPS = 'Microsoft.VSTS.TCM.ReproSteps';

export const Config = Type.Object({
  api_url: Type.String({
    title: 'Address',
    description: 'Of the organization: https://dev.azure.com/acme. For a server of your own, of the collection: https://<its name>/DefaultCollection',
    format: 'uri',
  }),
  project: Type.String({ title: 'Project', description: 'Its name, as in the address', minLength: 1 }),
  work_item_type: Type.Optional(
    Type.String({ title: 'Work item type', description: 'Of new work items: Task, Bug, Issue or one of your own', default: 'Task', minLength: 1 }),
  ),
  label: LabelField('Every work item that we open gets this tag and one more that begins with it.'),
  priorities: PriorityNamesField(PRIORITIES, 'Numbers of the field Priority'),
  states: StateNamesField('Only where the category of a state (proposed, in progress, completed, removed) is not enough'),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      title: 'Further fields',
      description: 'Set on new work items, by reference name: {"System.AreaPath": "Shop\\\\Security"}',
    }),
  ),
});
export type Config = Static<typeof Config>;

/** What a type of work items has, by which its states and fields are understood. */
export interface ItemType {
  states: readonly { name: string; category: string }[];
  fields: ReadonlySet<string>;
}

export function itemType(type: Obj): ItemType {
  return {
    states: arr(type.states).map((state) => ({ name: str(obj(state).name) ?? '', category: str(obj(state).category) ?? '' })),
    fields: new Set(arr(type.fields).flatMap((field) => str(obj(field).referenceName) ?? [])),
  };
}

export function typeNameOf(item: Obj): string {
  return str(obj(item.fields)['System.WorkItemType']) ?? '';
}

export function tagsOf(item: Obj): string[] {
  return (str(obj(item.fields)[TAGS]) ?? '')
    .split(';')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

export function changedAt(item: Obj): Date {
  return moment(obj(item.fields)['System.ChangedDate'], `work item ${str(item.id) ?? ''}`);
}

function stateOf(config: Config, type: ItemType, item: Obj): TicketState {
  const fields = obj(item.fields);
  const name = str(fields[STATE]);
  const category = type.states.find((state) => isCalled([state.name], name))?.category ?? '';
  const state = stateCalled(config.states, name) ?? CATEGORIES[category] ?? 'in_progress';
  const isDeclined = isCalled(tagsOf(item), REJECTED_TAG) || isCalled(REASONS, str(fields['System.Reason']));
  return state === 'done' && isDeclined ? 'rejected' : state;
}

export function ticketOf(config: Config, type: ItemType, item: Obj): Ticket {
  const id = str(item.id) ?? '';
  const fields = obj(item.fields);
  const assigned = fields['System.AssignedTo'];
  return {
    id,
    key: `#${id}`,
    url: `${config.api_url.replace(/\/+$/, '')}/${encodeURIComponent(config.project)}/_workitems/edit/${id}`,
    state: stateOf(config, type, item),
    stateName: str(fields[STATE]) ?? '',
    title: str(fields['System.Title']) ?? '',
    priority: priorityCalled(priorityNames(config.priorities, PRIORITIES), str(fields[PRIORITY])),
    dueDate: str(fields[DUE])?.slice(0, 10) ?? null,
    assignee: str(obj(assigned).displayName) ?? str(assigned) ?? null,
    updatedAt: changedAt(item),
    raw: item as Json,
  };
}

export type Patch = { op: string; path: string; value?: Json }[];

export function set(field: string, value: Json): Patch {
  return [{ op: 'add', path: `/fields/${field}`, value }];
}

/** Fields that the type lacks are left out: a work item without a due date is better than none. */
export function patchOf(config: Config, type: ItemType, { title, body, priority, dueDate }: TicketChange, before: Obj = {}): Patch {
  const number = priority && priorityNames(config.priorities, PRIORITIES)[priority];
  const hasDue = str(obj(before.fields)[DUE]) !== undefined;
  const due: Patch = dueDate ? set(DUE, `${dueDate}T12:00:00Z`) : hasDue ? [{ op: 'remove', path: `/fields/${DUE}` }] : [];
  return [
    ...(title === undefined ? [] : set('System.Title', oneLine(title, TITLE))),
    ...(body === undefined ? [] : set(type.fields.has(STEPS) ? STEPS : 'System.Description', html(fitting(body, TEXT)))),
    ...(number !== undefined && type.fields.has(PRIORITY) ? set(PRIORITY, Number(number)) : []),
    ...(dueDate !== undefined && type.fields.has(DUE) ? due : []),
  ];
}

export function tagged(tags: readonly string[]): Patch {
  return set(TAGS, tags.join('; '));
}

/** Where a type cannot be removed, a tag tells that it was rejected. */
export function statePatch(config: Config, type: ItemType, state: TicketState, before: Obj): Patch {
  if (stateOf(config, type, before) === state) return [];
  const named = (config.states?.[state] ?? []).flatMap((name) => type.states.filter((one) => isCalled([name], one.name)));
  const fitting = TARGETS[state].flatMap((category) => type.states.filter((one) => one.category === category));
  const target = [...named, ...fitting][0];
  if (!target) {
    const offers = type.states.map(({ name }) => name).join(', ');
    throw new ConnectorError('configuration', `No state of the work item means ${state.replace('_', ' ')}. Name one under States; there are: ${offers}.`);
  }
  const isTold = state !== 'rejected' || stateCalled(config.states, target.name) === 'rejected' || CATEGORIES[target.category] === 'rejected';
  const tags = tagsOf(before).filter((tag) => !isCalled([REJECTED_TAG], tag));
  const wanted = isTold ? tags : [...tags, REJECTED_TAG];
  return [...set(STATE, target.name), ...(wanted.length === tagsOf(before).length ? [] : tagged(wanted))];
}
