import type { Finding, ListedFinding } from '@rrs/client';
import { type Call, type Command, EXIT, JSON_OPTION, printJson, textOf, UsageError } from '../command.ts';
import { FILTER_OPTIONS, filterOf } from '../findings-filter.ts';
import { type Column, printable, table } from '../terminal.ts';

export const findingColumns: readonly Column<ListedFinding>[] = [
  { title: 'severity', value: ({ severity }) => severity, style: ({ severity }) => severity },
  { title: 'risk', value: ({ risk_score }) => String(Math.round(risk_score)) },
  { title: 'status', value: ({ status }) => status },
  { title: 'id', value: ({ id }) => id },
  { title: 'vulnerability', value: ({ vulnerability_ids, rule }) => vulnerability_ids[0] ?? rule ?? '' },
  { title: 'asset', value: ({ asset }) => asset.name },
  { title: 'title', value: ({ title }) => title },
];

export const listFindings: Command = {
  summary: 'List findings, those with the highest risk first',
  options: { ...FILTER_OPTIONS, limit: { type: 'string', value: 'NUMBER', help: 'Most findings to list. Default: 50.' }, ...JSON_OPTION },
  examples: ['rrs findings list --severity critical,high --status open', 'rrs findings list --asset shop --has-fix true --json'],
  async run(call) {
    const most = countOf(textOf(call, 'limit') ?? '50');
    const found: ListedFinding[] = [];
    for await (const finding of call.client().list('listFindings', { query: { ...filterOf(call), limit: Math.min(most, 200) } })) {
      if (found.length === most) {
        if (!call.values.json) call.terminal.err(`There are more. Show them with --limit ${most * 2}, or add a filter.\n`);
        break;
      }
      found.push(finding);
    }
    if (call.values.json) printJson(call, found);
    else call.terminal.out(found.length === 0 ? 'No findings.\n' : table(found, findingColumns, call.terminal));
    return EXIT.ok;
  },
};

function countOf(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`--limit must be a number from 1 to 999999, not "${text}".`);
  return Number(text);
}

export const showFinding: Command = {
  summary: 'Show a finding',
  arguments: 'ID',
  options: JSON_OPTION,
  examples: ['rrs findings show 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
  async run(call) {
    const [id, surplus] = call.positionals;
    if (id === undefined || surplus !== undefined) throw new UsageError('Name one finding by its id. "rrs findings list" shows ids.');
    const finding = await call.client().call('getFinding', { path: { id } });
    if (call.values.json) printJson(call, finding);
    else call.terminal.out(describe(finding, call));
    return EXIT.ok;
  },
};

function describe(finding: Finding, { terminal }: Call): string {
  const { title, severity, status, risk_score, asset, vulnerability_ids, location, first_seen, last_seen, due_at, sources } = finding;
  const place = [location.path, location.component && `${location.component} ${location.version ?? ''}`.trim(), location.url].filter(Boolean).join(', ');
  const facts: readonly (readonly [string, string])[] = [
    ['severity', severity],
    ['risk', String(risk_score)],
    ['status', status],
    ['vulnerability', vulnerability_ids.join(', ')],
    ['asset', `${asset.name} (${asset.type})`],
    ['place', place],
    ['seen', `${first_seen.slice(0, 10)} to ${last_seen.slice(0, 10)} by ${sources.map(({ name }) => name).join(', ')}`],
    ['deadline', due_at?.slice(0, 10) ?? 'none'],
  ];
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(14)}${printable(value)}`);
  return `${table([title], [{ title: 'finding', value: (text) => text }], terminal).split('\n')[1]}\n${lines.join('\n')}\n`;
}
