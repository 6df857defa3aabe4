import type { ListedWorkItem, WorkItem } from '@rrs/client';
import { choicesOf, flagOf, given, JSON_OPTION, LIMIT_OPTION, oneArgument, textOf } from '../arguments.ts';
import { type Command, EXIT } from '../command.ts';
import { dayOf, pageSize, printFacts, printJson, printList } from '../print.ts';
import { type Column, table } from '../terminal.ts';

export const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
const STATUSES = ['open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled'] as const;

const columns: readonly Column<ListedWorkItem>[] = [
  { title: 'priority', value: ({ priority }) => priority, style: ({ priority }) => priority },
  { title: 'status', value: ({ status }) => status },
  { title: 'due', value: ({ due_at, overdue }) => `${dayOf(due_at)}${overdue ? ' !' : ''}`, style: ({ overdue }) => (overdue ? 'red' : '') },
  { title: 'verified', value: ({ findings }) => `${findings.verified} of ${findings.total}` },
  { title: 'assignee', value: ({ assignee }) => assignee ?? '', isCut: true },
  { title: 'id', value: ({ id }) => id },
  { title: 'title', value: ({ title }) => title },
];

export const listWork: Command = {
  options: {
    status: { type: 'string', multiple: true, value: 'LIST', help: `One of ${STATUSES.join(', ')}.`, choices: STATUSES },
    priority: { type: 'string', multiple: true, value: 'LIST', help: `One of ${LEVELS.join(', ')}.`, choices: LEVELS },
    assignee: { type: 'string', value: 'NAME', help: 'Assigned to this person or team.' },
    overdue: { type: 'boolean', help: 'Past the deadline.' },
    'finding-id': { type: 'string', value: 'ID', help: 'With this finding.' },
    q: { type: 'string', value: 'WORDS', help: 'Words to search for.' },
    ...LIMIT_OPTION,
    ...JSON_OPTION,
  },
  examples: ['rrs work list --status open,in_progress --overdue', 'rrs work list --assignee ann@example.com --json'],
  run(call) {
    const [status, priority] = [choicesOf(call, 'status', STATUSES), choicesOf(call, 'priority', LEVELS)];
    const query = given({
      status: status.length > 0 ? status : undefined,
      priority: priority.length > 0 ? priority : undefined,
      assignee: textOf(call, 'assignee'),
      overdue: flagOf(call, 'overdue'),
      finding_id: textOf(call, 'finding-id'),
      q: textOf(call, 'q'),
    });
    return printList(call, call.client().list('listWorkItems', { query: { ...query, limit: pageSize(call) } }), columns, 'No work items.');
  },
};

const SHOWN_FINDINGS = 50;

export const showWork: Command = {
  arguments: 'ID',
  options: JSON_OPTION,
  examples: ['rrs work show 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
  async run(call) {
    const client = call.client();
    const id = oneArgument(call, 'one work item by its id. "rrs work list" shows ids');
    const item = await client.call('getWorkItem', { path: { id } });
    const { data: findings } = await client.call('listWorkItemFindings', { path: { id }, query: { limit: SHOWN_FINDINGS } });
    if (flagOf(call, 'json')) printJson(call, { ...item, linked_findings: findings });
    else {
      printFacts(call, item, item.title, { ...factsOf(item), link: `${call.url()}/work/${id}` });
      if (findings.length > 0) {
        const linked = [
          { title: 'severity', value: (one: (typeof findings)[number]) => one.severity, style: (one: (typeof findings)[number]) => one.severity },
          { title: 'status', value: (one: (typeof findings)[number]) => one.status },
          { title: 'asset', value: (one: (typeof findings)[number]) => one.asset.name, isCut: true },
          { title: 'title', value: (one: (typeof findings)[number]) => one.title },
        ];
        call.terminal.out(`\n${table(findings, linked, call.terminal)}`);
      }
      if (item.findings.total > findings.length)
        call.terminal.err(`It has ${item.findings.total} findings. List them all with "rrs findings list --work-item-id ${id}".\n`);
    }
    return EXIT.ok;
  },
};

export function factsOf(item: WorkItem): Record<string, string | null> {
  const { id, status, status_reason, priority, assignee, due_at, overdue, findings, tickets, approvals, follows, followed_by } = item;
  return {
    id,
    status: [status, status_reason].filter(Boolean).join(': '),
    priority,
    assignee,
    deadline: due_at === null ? null : `${dayOf(due_at)}${overdue ? ' (overdue)' : ''}`,
    findings: `${findings.total}: ${findings.open} open, ${findings.in_progress} in progress, ${findings.remediated} remediated, ${findings.verified} verified, ${findings.excepted} excepted`,
    tickets: tickets.length === 0 ? null : String(tickets.length),
    approvals: approvals.map(({ decision, person }) => `${decision} by ${person?.name ?? 'somebody'}`).join(', '),
    follows,
    'followed by': followed_by,
  };
}
