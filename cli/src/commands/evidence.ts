import type { Client, EvidencePackage, EvidencePreview, ListedEvidencePackage } from '@rrs/client';
import { choiceOf, choicesOf, flagOf, given, JSON_OPTION, LIMIT_OPTION, oneArgument, textOf } from '../arguments.ts';
import { type Call, type Command, EXIT } from '../command.ts';
import { save } from '../files/save.ts';
import { counted, minuteOf, pageSize, printJson, printList } from '../print.ts';
import { type Column, painter, printable, progress } from '../terminal.ts';

const STATUSES = ['generating', 'ready', 'failed', 'superseded'] as const;
const FORMATS = ['pdf', 'html', 'json', 'jsonl', 'csv', 'oscal-ar', 'oscal-poam', 'openvex', 'cyclonedx-vex', 'sarif'] as const;
const DOWNLOADS = ['zip', ...FORMATS] as const;
const EXTENSIONS: Readonly<Partial<Record<(typeof DOWNLOADS)[number], string>>> = {
  'oscal-ar': 'oscal-ar.json',
  'oscal-poam': 'oscal-poam.json',
  openvex: 'openvex.json',
  'cyclonedx-vex': 'cdx.json',
};

const columns: readonly Column<ListedEvidencePackage>[] = [
  { title: 'status', value: ({ status }) => status },
  { title: 'grade', value: ({ completeness }) => completeness?.grade ?? '' },
  { title: 'conclusion', value: ({ conclusion }) => conclusion ?? '' },
  { title: 'sealed', value: ({ generated_at }) => minuteOf(generated_at) },
  { title: 'work item', value: ({ work_item_id, sequence }) => `${work_item_id} #${sequence}` },
  { title: 'id', value: ({ package_id }) => package_id },
];

export const listEvidence: Command = {
  options: {
    'work-item-id': { type: 'string', value: 'ID', help: 'Packages of this work item.' },
    status: { type: 'string', multiple: true, value: 'LIST', help: `One of ${STATUSES.join(', ')}.`, choices: STATUSES },
    ...LIMIT_OPTION,
    ...JSON_OPTION,
  },
  examples: ['rrs evidence list --status ready', 'rrs evidence list --work-item-id 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --json'],
  run(call) {
    const status = choicesOf(call, 'status', STATUSES);
    const query = given({ work_item_id: textOf(call, 'work-item-id'), status: status.length > 0 ? status : undefined });
    return printList(call, call.client().list('listEvidencePackages', { query: { ...query, limit: pageSize(call) } }), columns, 'No evidence packages.');
  },
};

export const sealEvidence: Command = {
  arguments: 'WORK_ITEM',
  options: {
    format: { type: 'string', multiple: true, value: 'LIST', help: `Readable files: ${FORMATS.join(', ')}. Default: all.`, choices: FORMATS },
    note: { type: 'string', value: 'TEXT', help: 'A note for the reader.' },
    'dry-run': { type: 'boolean', help: 'Show what the package would state, and seal nothing.' },
    ...JSON_OPTION,
  },
  examples: [
    'rrs evidence seal 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --dry-run',
    'rrs evidence seal 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --note "For the audit 2027"',
  ],
  exitStatus: '0 sealed, 1 the package could not be generated, 2 mistake in the command, 3 problem with the service.',
  async run(call) {
    const work_item_id = oneArgument(call, 'one work item by its id. "rrs work list" shows ids');
    const formats = choicesOf(call, 'format', FORMATS);
    const body = {
      work_item_id,
      dry_run: flagOf(call, 'dry-run') === true,
      ...given({ note: textOf(call, 'note'), formats: formats.length > 0 ? formats : undefined }),
    };
    const client = call.client();
    const result = await waitUntilSealed(client, call, await client.call('createEvidencePackage', { body, header: { Prefer: 'wait=30' } }));
    if (flagOf(call, 'json')) printJson(call, result);
    else call.terminal.out(describe(result, call));
    return 'status' in result && result.status === 'failed' ? EXIT.failed : EXIT.ok;
  },
};

const POLL_MS = 500;

async function waitUntilSealed(client: Client, call: Call, first: EvidencePackage | EvidencePreview): Promise<EvidencePackage | EvidencePreview> {
  const line = progress(call.terminal);
  let current = first;
  while ('package_id' in current && current.status === 'generating') {
    line.show('sealing');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    current = await client.call('getEvidencePackage', { path: { package_id: current.package_id } });
  }
  line.clear();
  return current;
}

function describe(result: EvidencePackage | EvidencePreview, { terminal }: Call): string {
  const paint = painter(terminal);
  if ('status' in result && result.status === 'failed') return `The package ${paint('failed', 'red')}: ${printable(result.error ?? '')}\n`;
  const { conclusion, completeness, counts } = result;
  const gaps = completeness?.gaps ?? [];
  return [
    'package_id' in result ? `Sealed ${result.package_id}` : 'The package would state:',
    `  conclusion  ${conclusion ?? ''}`,
    `  grade       ${completeness?.grade ?? ''}`,
    `  contains    ${counted(counts?.findings ?? 0, 'finding')}, ${counted(counts?.artifacts ?? 0, 'artifact')}, ${counted(counts?.scans ?? 0, 'scan')}`,
    ...gaps.map(({ weight, what }) => `  ${paint(`${weight} gap`.padEnd(12), weight === 'major' ? 'red' : 'dim')}${printable(what)}`),
    ...('package_id' in result ? ['', `Download it with: rrs evidence download ${result.package_id}`] : []),
    '',
  ].join('\n');
}

export const downloadEvidence: Command = {
  arguments: 'PACKAGE',
  options: {
    format: { type: 'string', value: 'FORMAT', help: `One of ${DOWNLOADS.join(', ')}. Default: zip, the whole package.`, choices: DOWNLOADS },
    output: { type: 'string', value: 'FILE', help: 'Where to write, "-" for standard output. Default: evidence-<id>.<format>.' },
  },
  examples: [
    'rrs evidence download 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11',
    'rrs evidence download 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --format pdf --output report.pdf',
  ],
  async run(call) {
    const package_id = oneArgument(call, 'one package by its id. "rrs evidence list" shows ids');
    const format = choiceOf(call, 'format', DOWNLOADS) ?? 'zip';
    const output = textOf(call, 'output') ?? `evidence-${package_id}.${EXTENSIONS[format] ?? format}`;
    const { body } = await call.client().call('downloadEvidencePackage', { path: { package_id }, query: { format } });
    await save(call, body, output);
    if (output !== '-') call.terminal.err(`Wrote ${output}.\n`);
    return EXIT.ok;
  },
};
