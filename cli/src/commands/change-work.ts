import { argumentsOrLines, choiceOf, endOf, flagOf, given, JSON_OPTION, oneArgument, textOf } from '../arguments.ts';
import { type Call, type Command, EXIT, UsageError } from '../command.ts';
import { FILTER_OPTIONS, type Filter, filterOf, isEmpty } from '../findings-filter.ts';
import { counted, printFacts, printJson } from '../print.ts';
import { printable } from '../terminal.ts';
import { factsOf, LEVELS } from './work.ts';

/** `--priority` is not a filter of findings, so there is no clash. `--owner` and `--status` are. */
const DETAILS = {
  description: { type: 'string', value: 'TEXT', help: 'What is to be done, in detail.' },
  assignee: { type: 'string', value: 'NAME', help: 'E-mail address of a member, or a team.' },
  priority: { type: 'string', value: 'LEVEL', help: `One of ${LEVELS.join(', ')}.`, choices: LEVELS },
  due: { type: 'string', value: 'TIME', help: 'Deadline, such as 2027-03-31.' },
  'external-ref': { type: 'string', value: 'TEXT', help: 'Number of a ticket or change.' },
} as const;

function detailsOf(call: Call) {
  return given({
    description: textOf(call, 'description'),
    assignee: textOf(call, 'assignee'),
    priority: choiceOf(call, 'priority', LEVELS),
    due_at: endOf(call, 'due'),
    external_ref: textOf(call, 'external-ref'),
  });
}

/** Findings by id or by filter, not both. */
function chosen(ids: string[], filter: Filter): { finding_ids?: string[]; filter?: Filter } {
  if (ids.length > 0 && !isEmpty(filter)) throw new UsageError('Name findings by their ids, or add filters, but not both.');
  if (ids.length > 0) return { finding_ids: ids };
  return isEmpty(filter) ? {} : { filter };
}

export const createWork: Command = {
  arguments: '[FINDING…]',
  options: { title: { type: 'string', value: 'TEXT', help: 'What is to be done.' }, ...DETAILS, ...JSON_OPTION, ...FILTER_OPTIONS },
  examples: [
    'rrs work create --title "Update the base image" --component openssl --status open --assignee ann@example.com --due 2027-03-31',
    'rrs work create 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --title "Escape the search term" --priority high',
  ],
  async run(call) {
    const title = textOf(call, 'title');
    if (title === undefined) throw new UsageError('Name the work: --title "Update the base image".');
    const findings = chosen(await argumentsOrLines(call), filterOf(call));
    const item = await call.client().call('createWorkItem', { body: { title, ...detailsOf(call), ...findings } });
    return printFacts(call, item, item.title, { ...factsOf(item), link: `${call.url()}/work/${item.id}` });
  },
};

export const addToWork: Command = {
  arguments: 'ID [FINDING…]',
  options: { ...JSON_OPTION, ...FILTER_OPTIONS },
  examples: [
    'rrs work add 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --cve CVE-2026-1234',
    "rrs findings list --kev --json | jq -r '.[].id' | rrs work add 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 -",
  ],
  async run(call) {
    const [id, ...findings] = await argumentsOrLines(call);
    if (id === undefined) throw new UsageError('Name the work item by its id, then findings or filters.');
    const body = chosen(findings, filterOf(call));
    if (Object.keys(body).length === 0) throw new UsageError('Name findings by their ids, or add filters.');
    const added = await call.client().call('addWorkItemFindings', { path: { id }, body });
    if (flagOf(call, 'json')) printJson(call, added);
    else call.terminal.out(`Added ${counted(added.linked, 'finding')}, ${added.already_linked} were already there.\n`);
    return EXIT.ok;
  },
};

const SETTABLE = ['open', 'in_progress', 'blocked', 'awaiting_verification', 'cancelled'] as const;

export const updateWork: Command = {
  arguments: 'ID',
  options: {
    title: { type: 'string', value: 'TEXT', help: 'New title.' },
    ...DETAILS,
    status: { type: 'string', value: 'STATUS', help: `One of ${SETTABLE.join(', ')}. Others follow from the findings.`, choices: SETTABLE },
    reason: { type: 'string', value: 'TEXT', help: 'Why the status changes.' },
    ...JSON_OPTION,
  },
  examples: ['rrs work update 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --status blocked --reason "Waits for the vendor"'],
  async run(call) {
    const id = oneArgument(call, 'one work item by its id. "rrs work list" shows ids');
    const body = { ...detailsOf(call), ...given({ title: textOf(call, 'title'), status: choiceOf(call, 'status', SETTABLE), reason: textOf(call, 'reason') }) };
    if (Object.keys(body).length === 0) throw new UsageError('Name a change, such as --assignee ann@example.com.');
    const item = await call.client().call('updateWorkItem', { path: { id }, body });
    return printFacts(call, item, item.title, factsOf(item));
  },
};

export const approveWork: Command = {
  arguments: 'ID',
  options: {
    reject: { type: 'boolean', help: 'Reject it instead.' },
    comment: { type: 'string', value: 'TEXT', help: 'Why.' },
    yes: { type: 'boolean', help: 'Approve. Without it, the command shows what you would approve.' },
    ...JSON_OPTION,
  },
  examples: [
    'rrs work approve 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11',
    'rrs work approve 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --yes --comment "Checked the rescan"',
  ],
  async run(call) {
    const id = oneArgument(call, 'one work item by its id. "rrs work list" shows ids');
    const client = call.client();
    const state = await client.call('getWorkItemState', { path: { id } });
    if (!flagOf(call, 'yes')) {
      if (flagOf(call, 'json')) printJson(call, state);
      else {
        call.terminal.out(`${state.lines.map(printable).join('\n')}\n`);
        call.terminal.err(
          `${state.independent ? '' : 'You took part in this work, so your approval is not independent. '}Add --yes to approve this state, or --yes --reject.\n`,
        );
      }
      return EXIT.ok;
    }
    const decision = flagOf(call, 'reject') ? 'rejected' : 'approved';
    const body = { decision, state_digest: state.state_digest, ...given({ comment: textOf(call, 'comment') }) } as const;
    const approval = await client.call('decideOnWorkItem', { path: { id }, body });
    if (flagOf(call, 'json')) printJson(call, approval);
    else
      call.terminal.out(
        `${decision === 'approved' ? 'Approved' : 'Rejected'}${approval.independent ? '' : ', but not independently: you took part in this work'}.\n`,
      );
    return EXIT.ok;
  },
};
