import type { Finding, ListedFinding } from '@rrs/client';
import { choiceOf, JSON_OPTION, LIMIT_OPTION, oneArgument, textOf } from '../arguments.ts';
import { type Command, EXIT } from '../command.ts';
import { save } from '../files/save.ts';
import { FILTER_OPTIONS, filterOf } from '../findings-filter.ts';
import { dayOf, pageSize, printFacts, printList } from '../print.ts';
import type { Column } from '../terminal.ts';

export const findingColumns: readonly Column<ListedFinding>[] = [
  { title: 'severity', value: ({ severity }) => severity, style: ({ severity }) => severity },
  { title: 'risk', value: ({ risk_score }) => String(Math.round(risk_score)) },
  { title: 'status', value: ({ status }) => status },
  { title: 'id', value: ({ id }) => id },
  { title: 'vulnerability', value: ({ vulnerability_ids, rule }) => vulnerability_ids[0] ?? rule ?? '' },
  { title: 'asset', value: ({ asset }) => asset.name, isCut: true },
  { title: 'title', value: ({ title }) => title },
];

const SORTS = ['risk_score', '-risk_score', 'severity', '-severity', 'due_at', '-due_at', 'last_seen', '-last_seen', 'first_seen', '-first_seen'] as const;

export const listFindings: Command = {
  options: {
    sort: {
      type: 'string',
      value: 'FIELD',
      help: `Order: ${SORTS.filter((sort) => !sort.startsWith('-')).join(', ')}. Descending with "-": --sort=-due_at. Default: -risk_score.`,
    },
    ...LIMIT_OPTION,
    ...JSON_OPTION,
    ...FILTER_OPTIONS,
  },
  examples: [
    'rrs findings list --severity critical,high --status open',
    'rrs findings list --asset shop --has-fix --json',
    'rrs findings list --kev --sort due_at',
  ],
  run(call) {
    const sort = choiceOf(call, 'sort', SORTS);
    const query = { ...filterOf(call), ...(sort === undefined ? {} : { sort }), limit: pageSize(call) };
    return printList(call, call.client().list('listFindings', { query }), findingColumns, 'No findings.');
  },
};

export const showFinding: Command = {
  arguments: 'ID',
  options: JSON_OPTION,
  examples: ['rrs findings show 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'],
  async run(call) {
    const id = oneArgument(call, 'one finding by its id. "rrs findings list" shows ids');
    const finding = await call.client().call('getFinding', { path: { id } });
    return printFacts(call, finding, finding.title, { ...factsOf(finding), link: `${call.url()}/findings/${id}` });
  },
};

export function placeOf({ location: { path, component, version, url } }: Pick<ListedFinding, 'location'>): string {
  return [path, component && `${component} ${version ?? ''}`.trim(), url].filter(Boolean).join(', ');
}

function factsOf(finding: Finding): Record<string, string | null> {
  const { id, severity, status, risk_score, asset, vulnerability_ids, first_seen, last_seen, due_at, sources, tags } = finding;
  return {
    id,
    severity,
    risk: String(risk_score),
    status,
    vulnerability: vulnerability_ids.join(', '),
    asset: `${asset.name} (${asset.type})`,
    location: placeOf(finding),
    fix: fixOf(finding),
    seen: `${dayOf(first_seen)} to ${dayOf(last_seen)} by ${sources.map(({ name }) => name).join(', ')}`,
    deadline: dayOf(due_at) || 'none',
    tags: tags.join(', '),
  };
}

function fixOf({ location: { fixed_version }, fix_published_date }: Finding): string {
  return [fixed_version, fix_published_date && `published ${fix_published_date}`].filter(Boolean).join(', ');
}

const EXPORT_FORMATS = ['csv', 'ndjson', 'sarif', 'cyclonedx-vex', 'openvex'] as const;

export const exportFindings: Command = {
  options: {
    format: { type: 'string', value: 'FORMAT', help: `One of ${EXPORT_FORMATS.join(', ')}. Default: csv.`, choices: EXPORT_FORMATS },
    output: { type: 'string', value: 'FILE', help: 'Where to write. Default: standard output.' },
    ...FILTER_OPTIONS,
  },
  examples: ['rrs findings export --severity critical > critical.csv', 'rrs findings export --format sarif --asset shop --output shop.sarif'],
  async run(call) {
    const format = choiceOf(call, 'format', EXPORT_FORMATS) ?? 'csv';
    const { body } = await call.client().call('exportFindings', { query: { ...filterOf(call), format } });
    await save(call, body, textOf(call, 'output') ?? '-');
    return EXIT.ok;
  },
};
