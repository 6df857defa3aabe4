import { obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import type { Json, Ticket, TicketState } from '../../core/contract.ts';
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

/** What Jira Cloud and Jira Data Center have in common: their words. */

const PRIORITIES: PriorityNames = { critical: 'Highest', high: 'High', medium: 'Medium', low: 'Low' };
const REJECTED = [
  "Won't Do",
  "Won't Fix",
  'Declined',
  'Rejected',
  'Cancelled',
  'Canceled',
  'Duplicate',
  'Invalid',
  'Obsolete',
  'Cannot Reproduce',
  'Known Error',
];

/** Fields of the configuration that both have. */
export const jiraFields = {
  project_key: Type.String({ title: 'Project key', description: 'What stands before the number of its issues: SEC', pattern: '^[A-Za-z][A-Za-z0-9_]*$' }),
  issue_type: Type.Optional(
    Type.String({ title: 'Issue type', description: 'Name or id of the type of new issues: Task, Bug, Vulnerability', default: 'Task', minLength: 1 }),
  ),
  label: LabelField('Every issue that we open gets this label and one more that begins with it.'),
  priorities: PriorityNamesField(PRIORITIES, 'Names of priorities in Jira. Where the project has none by that name, the issue keeps its own'),
  states: StateNamesField(
    'Only where the category of a status (to do, in progress, done) is not enough. What counts as rejected is also told by the resolution',
  ),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      title: 'Further fields',
      description: 'Set on new issues, by the id of the field, as Jira documents them: {"customfield_10050": {"value": "Security"}}',
    }),
  ),
};

const JiraConfig = Type.Object(jiraFields);
export type JiraConfig = Static<typeof JiraConfig>;

export const issueFields = [
  'summary',
  'status',
  'resolution',
  'resolutiondate',
  'assignee',
  'reporter',
  'priority',
  'duedate',
  'created',
  'updated',
  'labels',
  'project',
  'issuetype',
  'description',
];

export function jiraPriorities(config: JiraConfig): PriorityNames {
  return priorityNames(config.priorities, PRIORITIES);
}

export function isRejection(config: JiraConfig, name: string | undefined): boolean {
  return isCalled([...(config.states?.rejected ?? []), ...REJECTED], name);
}

/** By the names that were configured, else by the category that every status has. */
export function stateOfStatus(config: JiraConfig, status: unknown, resolution?: unknown): TicketState {
  const { name, statusCategory } = obj(status);
  const named = stateCalled(config.states, str(name));
  if (named !== null && named !== 'done') return named;
  const category = str(obj(statusCategory).key);
  if (named !== 'done' && category !== 'done') return category === 'indeterminate' ? 'in_progress' : 'open';
  const isRejected = (named === null && isRejection(config, str(name))) || isRejection(config, str(obj(resolution).name));
  return isRejected ? 'rejected' : 'done';
}

export function ticketOf(config: JiraConfig, site: string, issue: unknown): Ticket {
  const { id, key, fields } = obj(issue);
  const { summary, status, resolution, assignee, priority, duedate, updated } = obj(fields);
  return {
    id: str(id) ?? '',
    key: str(key) ?? '',
    url: `${site}/browse/${str(key) ?? ''}`,
    state: stateOfStatus(config, status, resolution),
    stateName: str(obj(status).name) ?? '',
    title: str(summary) ?? '',
    priority: priorityCalled(jiraPriorities(config), str(obj(priority).name)),
    dueDate: str(duedate) ?? null,
    assignee: str(obj(assignee).displayName) ?? str(obj(assignee).name) ?? null,
    updatedAt: moment(updated, str(key) ?? 'an issue'),
    raw: issue as Json,
  };
}
