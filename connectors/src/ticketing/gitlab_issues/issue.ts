import { arr, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, type Json, type Ticket } from '../../core/contract.ts';
import { type LabelNames, priorityByLabels, stateByLabels } from '../../core/tickets/labels.ts';
import { LabelField, moment, type PriorityNames, PriorityNamesField, priorityNames, StateNamesField } from '../../core/tickets/mapping.ts';

const PRIORITIES: PriorityNames = { critical: 'priority::critical', high: 'priority::high', medium: 'priority::medium', low: 'priority::low' };
const STATES: LabelNames = { in_progress: ['in progress', 'workflow::in progress'], rejected: ['rejected', 'wontfix', 'duplicate'] };

export const Config = Type.Object({
  api_url: Type.String({
    title: 'API address',
    description: 'https://gitlab.com/api/v4, or of your own GitLab https://<its name>/api/v4',
    format: 'uri',
    default: 'https://gitlab.com/api/v4',
  }),
  project: Type.String({ title: 'Project', description: 'Where issues are opened: its path, as group/project, or its number', minLength: 1 }),
  label: LabelField('Every issue that we open gets this label.'),
  priorities: PriorityNamesField(PRIORITIES, 'Labels that tell the priority'),
  states: StateNamesField('Labels that tell in progress from open and rejected from done; open and done need none. Labels that are missing are made'),
  confidential: Type.Optional(
    Type.Boolean({ title: 'Confidential', description: 'New issues are seen only by members of the project who may see such ones', default: true }),
  ),
});
export type Config = Static<typeof Config>;

export function namesOf(config: Config): { states: LabelNames; priorities: PriorityNames } {
  const names = {
    priorities: priorityNames(config.priorities, PRIORITIES),
    states: { in_progress: config.states?.in_progress ?? STATES.in_progress, rejected: config.states?.rejected ?? STATES.rejected },
  };
  const wrong = [...Object.values(names.priorities), ...Object.values(names.states).flat()].find((name) => name?.includes(','));
  if (wrong) throw new ConnectorError('configuration', `GitLab takes “${wrong}” for several labels. Choose one without a comma.`);
  return names;
}

export function ticketOf(config: Config, issue: Obj): Ticket {
  const { iid, web_url, state, labels, title, due_date, assignees, references, updated_at } = issue;
  const names = namesOf(config);
  return {
    id: str(iid) ?? '',
    key: str(obj(references).full) ?? `#${str(iid) ?? ''}`,
    url: str(web_url) ?? '',
    state: stateByLabels(strs(labels), state === 'closed', names.states),
    stateName: str(state) ?? '',
    title: str(title) ?? '',
    priority: priorityByLabels(strs(labels), names.priorities),
    dueDate: str(due_date) ?? null,
    assignee: str(obj(arr(assignees)[0]).username) ?? null,
    updatedAt: moment(updated_at, `issue ${str(iid) ?? ''}`),
    raw: issue as Json,
  };
}
