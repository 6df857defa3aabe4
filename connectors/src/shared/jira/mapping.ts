import { obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import type { Json, Ticket, TicketState } from '../../core/contract.ts';
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

/** Settings and field mapping of Jira Cloud and Jira Data Center. */

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

/** Configuration fields of both editions. */
export const jiraFields = {
  project_key: Type.String({
    title: 'Project key',
    examples: ['SEC'],
    description: 'The letters before the number of an issue, such as SEC.',
    pattern: '^[A-Za-z][A-Za-z0-9_]*$',
  }),
  issue_type: Type.Optional(
    Type.String({
      title: 'Issue type',
      description: 'Name or id of the type of new issues, such as Task, Bug or Vulnerability.',
      default: 'Task',
      minLength: 1,
    }),
  ),
  label: LabelField('Every issue that the service creates gets this label and a second one that starts with it.'),
  priorities: PriorityNamesField(PRIORITIES, 'Names of priorities in Jira. If the project does not have a priority, issues keep the one they have.'),
  states: StateNamesField(
    'Names of statuses. Needed only if the status categories (to do, in progress, done) are not enough. The resolution also determines whether an issue is rejected.',
  ),
  fields: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      title: 'Additional fields',
      'x-group': 'advanced',
      examples: [{ customfield_10050: { value: 'Security' } }],
      description: 'Values for new issues by field id, in the format of the Jira API.',
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
  return includesName([...(config.states?.rejected ?? []), ...REJECTED], name);
}

/** Uses the configured names first, then the category of the status. */
export function stateOfStatus(config: JiraConfig, status: unknown, resolution?: unknown): TicketState {
  const { name, statusCategory } = obj(status);
  const named = stateByName(config.states, str(name));
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
    priority: priorityByName(jiraPriorities(config), str(obj(priority).name)),
    dueDate: str(duedate) ?? null,
    assignee: str(obj(assignee).displayName) ?? str(obj(assignee).name) ?? null,
    updatedAt: parseTime(updated, str(key) ?? 'an issue'),
    raw: issue as Json,
  };
}
