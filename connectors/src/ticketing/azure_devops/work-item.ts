import { arr, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Json, Ticket, TicketChange, TicketState } from '../../core/contract.ts';
import {
  includesName,
  LabelField,
  type PriorityNames,
  PriorityNamesField,
  parseTime,
  priorityByName,
  priorityNames,
  StateNamesField,
  stateByName,
} from '../../core/tickets/mapping.ts';
import { fitParagraphs, html, oneLine } from '../../core/tickets/text.ts';

const MAX_TITLE = 255;
/** Escaping can double it, and the footer after it must be within what is read again (`str`). */
const MAX_TEXT = 45_000;
const PRIORITIES: PriorityNames = { critical: '1', high: '2', medium: '3', low: '4' };
const CATEGORIES: Readonly<Record<string, TicketState>> = {
  Proposed: 'open',
  InProgress: 'in_progress',
  Resolved: 'done',
  Completed: 'done',
  Removed: 'rejected',
};
/** The categories to choose from when setting a state, in order of preference. */
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
    title: 'URL',
    examples: ['https://dev.azure.com/acme', 'https://azure-devops.example.com/DefaultCollection'],
    description: 'URL of the organization, such as https://dev.azure.com/acme. For Azure DevOps Server: https://<host>/DefaultCollection.',
    format: 'uri',
  }),
  project: Type.String({ title: 'Project', examples: ['Shop'], description: 'Name of the project, as in its URL.', minLength: 1 }),
  work_item_type: Type.Optional(
    Type.String({ title: 'Work item type', description: 'Type of new work items: Task, Bug, Issue or a custom type.', default: 'Task', minLength: 1 }),
  ),
  label: LabelField('Every work item that the service creates gets this tag and a second one that starts with it.'),
  priorities: PriorityNamesField(PRIORITIES, 'Values of the field Priority.'),
  states: StateNamesField('Names of states. Needed only if the category of a state (proposed, in progress, completed, removed) is not enough.'),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      title: 'Additional fields',
      'x-group': 'advanced',
      examples: [{ 'System.AreaPath': 'Shop\\Security' }],
      description: 'Values for new work items by reference name.',
    }),
  ),
});
export type Config = Static<typeof Config>;

/** The states and fields of a work item type. */
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
  return parseTime(obj(item.fields)['System.ChangedDate'], `work item ${str(item.id) ?? ''}`);
}

function stateOf(config: Config, type: ItemType, item: Obj): TicketState {
  const fields = obj(item.fields);
  const name = str(fields[STATE]);
  const category = type.states.find((state) => includesName([state.name], name))?.category ?? '';
  const state = stateByName(config.states, name) ?? CATEGORIES[category] ?? 'in_progress';
  const isDeclined = includesName(tagsOf(item), REJECTED_TAG) || includesName(REASONS, str(fields['System.Reason']));
  return state === 'done' && isDeclined ? 'rejected' : state;
}

export function ticketOf(config: Config, type: ItemType, item: Obj): Ticket {
  const id = str(item.id) ?? '';
  const fields = obj(item.fields);
  const assigned = fields['System.AssignedTo'];
  return {
    id,
    key: `#${id}`,
    url: `${config.api_url.replace(/(?<!\/)\/+$/, '')}/${encodeURIComponent(config.project)}/_workitems/edit/${id}`,
    state: stateOf(config, type, item),
    stateName: str(fields[STATE]) ?? '',
    title: str(fields['System.Title']) ?? '',
    priority: priorityByName(priorityNames(config.priorities, PRIORITIES), str(fields[PRIORITY])),
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

/** Leaves out fields that the type does not have. A work item without a due date is better than no work item. */
export function patchOf(config: Config, type: ItemType, { title, body, priority, dueDate }: TicketChange, before: Obj = {}): Patch {
  const number = priority && priorityNames(config.priorities, PRIORITIES)[priority];
  const hasDue = str(obj(before.fields)[DUE]) !== undefined;
  const due: Patch = dueDate ? set(DUE, `${dueDate}T12:00:00Z`) : hasDue ? [{ op: 'remove', path: `/fields/${DUE}` }] : [];
  return [
    ...(title === undefined ? [] : set('System.Title', oneLine(title, MAX_TITLE))),
    ...(body === undefined ? [] : set(type.fields.has(STEPS) ? STEPS : 'System.Description', html(fitParagraphs(body, MAX_TEXT)))),
    ...(number !== undefined && type.fields.has(PRIORITY) ? set(PRIORITY, Number(number)) : []),
    ...(dueDate !== undefined && type.fields.has(DUE) ? due : []),
  ];
}

export function tagged(tags: readonly string[]): Patch {
  return set(TAGS, tags.join('; '));
}

/** If the type has no removed state, a tag marks the item as rejected. */
export function statePatch(config: Config, type: ItemType, state: TicketState, before: Obj): Patch {
  if (stateOf(config, type, before) === state) return [];
  const named = (config.states?.[state] ?? []).flatMap((name) => type.states.filter((one) => includesName([name], one.name)));
  const fitting = TARGETS[state].flatMap((category) => type.states.filter((one) => one.category === category));
  const target = [...named, ...fitting][0];
  if (!target) {
    const offers = type.states.map(({ name }) => name).join(', ');
    throw new ConnectorError(
      'configuration',
      `No state of the work item means ${state.replace('_', ' ')}. Set one of these under States in the configuration: ${offers}.`,
    );
  }
  const needsNoTag = state !== 'rejected' || stateByName(config.states, target.name) === 'rejected' || CATEGORIES[target.category] === 'rejected';
  const tags = tagsOf(before).filter((tag) => !includesName([REJECTED_TAG], tag));
  const wanted = needsNoTag ? tags : [...tags, REJECTED_TAG];
  return [...set(STATE, target.name), ...(wanted.length === tagsOf(before).length ? [] : tagged(wanted))];
}
