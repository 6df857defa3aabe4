import type { InputOf } from '@rrs/client';
import { argumentsOrLines, choiceOf, endOf, flagOf, given, JSON_OPTION, listOf, textOf } from '../arguments.ts';
import { type Call, type Command, EXIT, UsageError } from '../command.ts';
import { FILTER_OPTIONS, filterOf, isEmpty } from '../findings-filter.ts';
import { counted, printJson } from '../print.ts';
import { printable } from '../terminal.ts';

type Change = InputOf<'changeFindings'>['body']['change'];

const STATUSES = ['open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn'] as const;
const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info', 'unknown', 'reported'] as const;
const JUSTIFICATIONS = [
  'code_not_present',
  'code_not_reachable',
  'requires_configuration',
  'requires_dependency',
  'requires_environment',
  'protected_by_compiler',
  'protected_at_runtime',
  'protected_at_perimeter',
  'protected_by_mitigating_control',
  'inaccurate_finding',
] as const;
const ANSWERS = ['approve', 'reject'] as const;
const MOST_REFUSED = 10;

export const triageFindings: Command = {
  arguments: '[ID…]',
  options: {
    to: { type: 'string', value: 'STATUS', help: `New status: ${STATUSES.join(', ')}.`, choices: STATUSES },
    'to-severity': { type: 'string', value: 'SEVERITY', help: 'New severity. "reported" restores that of the tools.', choices: SEVERITIES },
    reason: { type: 'string', value: 'TEXT', help: 'Why.' },
    justification: { type: 'string', value: 'NAME', help: `Why a false positive is one: ${JUSTIFICATIONS.join(', ')}.`, choices: JUSTIFICATIONS },
    'accepted-by': { type: 'string', value: 'NAME', help: 'Who owns an accepted risk.' },
    expires: { type: 'string', value: 'TIME', help: 'When the acceptance of a risk ends, such as 2027-03-31.' },
    'compensating-control': { type: 'string', value: 'TEXT', help: 'What lowers an accepted risk meanwhile. "" removes it.' },
    acceptance: { type: 'string', value: 'ANSWER', help: 'Answer requests to accept the risk: approve or reject.', choices: ANSWERS },
    'add-tag': { type: 'string', multiple: true, value: 'LIST', help: 'Tags to add.' },
    'remove-tag': { type: 'string', multiple: true, value: 'LIST', help: 'Tags to remove.' },
    'add-to': { type: 'string', value: 'WORK_ITEM', help: 'Work item to add the findings to.' },
    'dry-run': { type: 'boolean', help: 'Show what would change, and change nothing.' },
    yes: { type: 'boolean', help: 'Change everything that matches the filter. Without it, a filter needs --dry-run.' },
    ...JSON_OPTION,
    ...FILTER_OPTIONS,
  },
  examples: [
    'rrs findings triage 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --to false_positive --justification code_not_reachable --reason "Only used in tests"',
    'rrs findings triage --cve CVE-2026-1234 --to risk_accepted --reason "Behind the VPN" --accepted-by ann@example.com --expires 2027-03-31 --dry-run',
    "rrs findings list --component openssl --json | jq -r '.[].id' | rrs findings triage - --add-tag base-image",
  ],
  exitStatus: '0 changed, 1 some findings were refused, 2 mistake in the command, 3 problem with the service.',
  async run(call) {
    const ids = await argumentsOrLines(call);
    const filter = filterOf(call);
    const change = changeOf(call);
    if (ids.length > 0 === !isEmpty(filter)) throw new UsageError('Name findings by their ids, or add filters, but not both.');
    if (Object.keys(change).length === 0) throw new UsageError('Name a change, such as --to in_progress or --add-tag NAME.');
    const dryRun = flagOf(call, 'dry-run') === true;
    if (ids.length === 0 && !dryRun && !flagOf(call, 'yes'))
      throw new UsageError('A filter can match many findings. See how many with --dry-run, then add --yes.');
    const result = await call.client().call('changeFindings', { body: { ...(ids.length > 0 ? { ids } : { filter }), change, dry_run: dryRun } });
    const { changed, unchanged, refused } = result.counts;
    if (flagOf(call, 'json')) printJson(call, result);
    else {
      call.terminal.out(`${dryRun ? 'Would change' : 'Changed'} ${counted(changed, 'finding')}: ${unchanged} unchanged, ${refused} refused.\n`);
      for (const { id, detail } of result.refused.slice(0, MOST_REFUSED)) call.terminal.out(`  ${id}: ${printable(detail)}\n`);
    }
    return refused > 0 ? EXIT.failed : EXIT.ok;
  },
};

function changeOf(call: Call): Change {
  const severity = choiceOf(call, 'to-severity', SEVERITIES);
  const [add, remove] = [listOf(call, 'add-tag'), listOf(call, 'remove-tag')];
  const control = textOf(call, 'compensating-control');
  return given({
    status: choiceOf(call, 'to', STATUSES),
    severity: severity === 'reported' ? null : severity,
    reason: textOf(call, 'reason'),
    justification: choiceOf(call, 'justification', JUSTIFICATIONS),
    owner: textOf(call, 'accepted-by'),
    expires_at: endOf(call, 'expires'),
    compensating_control: control === '' ? null : control,
    acceptance: choiceOf(call, 'acceptance', ANSWERS),
    add_tags: add.length > 0 ? add : undefined,
    remove_tags: remove.length > 0 ? remove : undefined,
    work_item_id: textOf(call, 'add-to'),
  });
}
