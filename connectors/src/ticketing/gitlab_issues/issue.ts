import { arr, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Json, Ticket } from '../../core/contract.ts';
import { type LabelNames, priorityFromLabels, stateFromLabels } from '../../core/tickets/labels.ts';
import { LabelField, type PriorityNames, PriorityNamesField, parseTime, priorityNames, StateNamesField } from '../../core/tickets/mapping.ts';

const PRIORITIES: PriorityNames = { critical: 'priority::critical', high: 'priority::high', medium: 'priority::medium', low: 'priority::low' };
const STATES: LabelNames = { in_progress: ['in progress', 'workflow::in progress'], rejected: ['rejected', 'wontfix', 'duplicate'] };

export const Config = Type.Object({
  api_url: Type.String({
    title: 'API URL',
    description: 'https://gitlab.com/api/v4, or https://<host>/api/v4 for a self-hosted GitLab.',
    format: 'uri',
    default: 'https://gitlab.com/api/v4',
  }),
  project: Type.String({
    title: 'Project',
    examples: ['acme/shop'],
    description: 'Project for the issues: its path, such as group/project, or its numeric id.',
    minLength: 1,
  }),
  evidence_projects: Type.Optional(
    Type.Array(Type.String({ pattern: '^[\\w.-]+(/[\\w.-]+)+$' }), {
      title: 'Evidence from',
      examples: [['acme/site']],
      description: 'Further projects, as group/project, whose issues, merge requests and commits can be captured as evidence.',
      default: [],
      maxItems: 100,
    }),
  ),
  label: LabelField('Every issue that the service creates gets this label.'),
  priorities: PriorityNamesField(PRIORITIES, 'Labels for the priorities.'),
  states: StateNamesField(
    'Labels that mark open issues as in progress and closed issues as rejected. Open and done need no label. The service creates missing labels.',
  ),
  confidential: Type.Optional(
    Type.Boolean({ title: 'Confidential', description: 'Makes new issues visible only to project members who may see confidential issues.', default: true }),
  ),
});
export type Config = Static<typeof Config>;

export function namesOf(config: Config): { states: LabelNames; priorities: PriorityNames } {
  const names = {
    priorities: priorityNames(config.priorities, PRIORITIES),
    states: { in_progress: config.states?.in_progress ?? STATES.in_progress, rejected: config.states?.rejected ?? STATES.rejected },
  };
  const wrong = [...Object.values(names.priorities), ...Object.values(names.states).flat()].find((name) => name?.includes(','));
  if (wrong) throw new ConnectorError('configuration', `GitLab reads “${wrong}” as several labels. Use a label without a comma.`);
  return names;
}

export function ticketOf(config: Config, issue: Obj): Ticket {
  const { iid, web_url, state, labels, title, due_date, assignees, references, updated_at } = issue;
  const names = namesOf(config);
  return {
    id: str(iid) ?? '',
    key: str(obj(references).full) ?? `#${str(iid) ?? ''}`,
    url: str(web_url) ?? '',
    state: stateFromLabels(strs(labels), state === 'closed', names.states),
    stateName: str(state) ?? '',
    title: str(title) ?? '',
    priority: priorityFromLabels(strs(labels), names.priorities),
    dueDate: str(due_date) ?? null,
    assignee: str(obj(arr(assignees)[0]).username) ?? null,
    updatedAt: parseTime(updated_at, `issue ${str(iid) ?? ''}`),
    raw: issue as Json,
  };
}
