import { arr, type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import type { Json, Ticket } from '../../core/contract.ts';
import { type LabelNames, priorityFromLabels, stateFromLabels } from '../../core/tickets/labels.ts';
import { LabelField, type PriorityNames, PriorityNamesField, parseTime, priorityNames, StateNamesField } from '../../core/tickets/mapping.ts';
import { footerOf, workItemLine } from '../../core/tickets/text.ts';

const PRIORITIES: PriorityNames = { critical: 'priority: critical', high: 'priority: high', medium: 'priority: medium', low: 'priority: low' };
const STATES: LabelNames = { in_progress: ['in progress'], rejected: ['wontfix', 'invalid', 'duplicate'] };

export const Config = Type.Object({
  api_url: Type.String({
    title: 'API URL',
    description: 'https://api.github.com, or https://<host>/api/v3 for GitHub Enterprise Server.',
    format: 'uri',
    default: 'https://api.github.com',
  }),
  repository: Type.String({
    title: 'Repository',
    examples: ['acme/shop'],
    description: 'Repository for the issues, as owner/name.',
    pattern: '^[\\w.-]+/[\\w.-]+$',
  }),
  evidence_repositories: Type.Optional(
    Type.Array(Type.String({ pattern: '^[\\w.-]+/[\\w.-]+$' }), {
      title: 'Evidence from',
      examples: [['acme/site']],
      description: 'Further repositories, as owner/name, whose issues, pull requests and commits can be captured as evidence.',
      default: [],
      maxItems: 100,
    }),
  ),
  label: LabelField('Every issue that the service creates gets this label.'),
  priorities: PriorityNamesField(PRIORITIES, 'Labels for the priorities.'),
  states: StateNamesField(
    'Labels that mark open issues as in progress and closed issues as rejected. The reason for closing also marks issues as rejected. Open and done need no label. The service creates missing labels.',
  ),
});
export type Config = Static<typeof Config>;

export function namesOf(config: Config): { states: LabelNames; priorities: PriorityNames } {
  return {
    priorities: priorityNames(config.priorities, PRIORITIES),
    states: { in_progress: config.states?.in_progress ?? STATES.in_progress, rejected: config.states?.rejected ?? STATES.rejected },
  };
}

export function labelsOf(issue: Obj): string[] {
  return arr(issue.labels).flatMap((label) => str(obj(label).name) ?? str(label) ?? []);
}

export function ticketOf(config: Config, issue: Obj): Ticket {
  const { number, html_url, state, state_reason, title, body, assignees, updated_at } = issue;
  const names = namesOf(config);
  const labels = labelsOf(issue);
  const isDeclined = state === 'closed' && (state_reason === 'not_planned' || state_reason === 'duplicate');
  return {
    id: str(number) ?? '',
    key: `${config.repository}#${str(number) ?? ''}`,
    url: str(html_url) ?? '',
    state: isDeclined ? 'rejected' : stateFromLabels(labels, state === 'closed', names.states),
    stateName: [str(state), str(state_reason)].filter(Boolean).join(', '),
    title: str(title) ?? '',
    priority: priorityFromLabels(labels, names.priorities),
    dueDate: dueIn(str(body) ?? ''),
    assignee: str(obj(arr(assignees)[0]).login) ?? null,
    updatedAt: parseTime(updated_at, `issue ${str(number) ?? ''}`),
    raw: issue as Json,
  };
}

/** Issues have no due date and no field for the service's key. Both are at the end of the text, the key in an HTML comment. */
export function footer(url: string, due: string | null, marker: string): string {
  return [workItemLine(url), ...(due === null ? [] : [`Due: ${due}`]), comment(marker)].join('  \n');
}

export function comment(marker: string): string {
  return `<!-- ${marker} -->`;
}

const DUE = /^Due: (\d{4}-\d\d-\d\d)[ \t]*\r?$\n?/m;

/** Splits the text before the footer from the footer. */
function parts(body: string): [string, string] {
  const ours = footerOf(body);
  return [body.slice(0, body.length - ours.length), ours];
}

function dueIn(body: string): string | null {
  return DUE.exec(parts(body)[1])?.[1] ?? null;
}

/** If somebody removed the footer, there is no due date. */
export function withDue(body: string, due: string | null): string {
  const [text, ours] = parts(body);
  const [first = '', ...rest] = ours.replace(DUE, '').split('\n');
  return text + [first, ...(due === null || ours === '' ? [] : [`Due: ${due}  `]), ...rest].join('\n');
}
