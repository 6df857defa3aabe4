import {
  type AssetType,
  type Client,
  counted as countedBody,
  type Import,
  type ImportCounts,
  type InputOf,
  type ReportFormat,
  RrsError,
  type ScanScope,
} from '@rrs/client';
import { flagOf, given, JSON_OPTION, listOf, textOf, timeOf } from '../arguments.ts';
import { type Call, type Command, EXIT, UsageError } from '../command.ts';
import { openReports, type ReportFile } from '../files/report-files.ts';
import { waitForImport } from '../imports.ts';
import { printJson } from '../print.ts';
import { rememberImports } from '../settings.ts';
import { bar, painter, printable, progress } from '../terminal.ts';

const SECONDS_PER_REQUEST = 30;
const MOST_REJECTED = 10;

export const importReports: Command = {
  arguments: 'FILE…',
  options: {
    format: { type: 'string', value: 'FORMAT', help: 'Format of the reports. Default: detected.' },
    asset: { type: 'string', value: 'TYPE:NAME', help: 'What was scanned, such as repository:github.com/acme/shop. Default: as the report says.' },
    'asset-version': { type: 'string', value: 'VERSION', help: 'Version, commit or digest that was scanned.' },
    track: { type: 'string', value: 'NAME', help: 'Branch, environment or release line, such as main or pr-17.' },
    'ended-track': {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'Pull request or branch of the asset that was merged or closed, such as pr-17. Its findings are not listed any more. Can be repeated.',
    },
    path: { type: 'string', value: 'FOLDER', help: 'Part of a repository that was scanned.' },
    'looked-for': {
      type: 'string',
      multiple: true,
      value: 'KIND',
      help: 'What the tool looked for although the report does not show it: secrets, misconfigurations or licenses, known if a report calls all findings new, or suppressed if it has ignored ones. Can be repeated.',
    },
    'scanned-at': { type: 'string', value: 'TIME', help: 'When the scan began. Default: as the report says, or now.' },
    complete: { type: 'boolean', help: 'The report has all findings: close those that it no longer has.' },
    wait: { type: 'boolean', help: 'Wait until the imports end. This is the default; --no-wait only uploads.' },
    'dry-run': { type: 'boolean', help: 'Show what would change, and change nothing.' },
    ...JSON_OPTION,
  },
  examples: ['rrs import trivy.json', "rrs import 'reports/**/*.json' --track main --complete", 'trivy image shop:1.4 -f json | rrs import - --format trivy'],
  exitStatus: '0 imported, 1 an import failed or waits for confirmation, 2 mistake in the command, 3 problem with the service.',
  run: async (call) => (await importAll(call)).status,
};

/** Returns the exit status and the imports that changed something. */
export async function importAll(call: Call): Promise<{ status: number; ids: string[] }> {
  const { positionals, terminal, folder } = call;
  if (positionals.length === 0) throw new UsageError('Name the report files, or "-" for standard input.');
  const reports = await openReports(positionals, folder);
  const client = call.client();
  const done: Import[] = [];
  for (const report of reports) {
    const ended = await upload(client, call, report);
    done.push(ended);
    if (!flagOf(call, 'json')) terminal.out(describe(ended, report.path, call));
    // After each, so that "rrs gate" knows those that were imported when a later one fails.
    remember(call, idsOf(done));
  }
  if (flagOf(call, 'json')) printJson(call, done);
  else if (done.length > 1) terminal.out(`${done.length} reports: ${flagOf(call, 'dry-run') ? 'would be ' : ''}${changesOf(sumOf(done))}\n`);
  const isFailed = done.some(({ status }) => status === 'failed' || status === 'needs_confirmation');
  return { status: isFailed ? EXIT.failed : EXIT.ok, ids: idsOf(done) };
}

const idsOf = (imports: readonly Import[]): string[] => imports.filter(({ dry_run, status }) => !dry_run && status !== 'failed').map(({ id }) => id);

/** A pipeline can run without a folder of its own for this. The reports are imported nevertheless. */
function remember({ env, folder, terminal }: Call, ids: readonly string[]): void {
  try {
    rememberImports(env, folder, ids);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.err(`"rrs gate" cannot find these imports by itself (${printable(reason)}). Name them: rrs gate ${ids.join(' ')}\n`);
  }
}

async function upload(client: Client, call: Call, { path, name, body }: ReportFile): Promise<Import> {
  const line = progress(call.terminal);
  const scope = scopeOf(call);
  const format = textOf(call, 'format');
  const waits = flagOf(call, 'wait') !== false;
  try {
    const first = await created(client, {
      // Without somebody who watches, the file can be sent again after a refusal.
      body: call.terminal.live ? countedBody(body, ({ sent, total }) => line.show(`${bar(sent / Math.max(1, total ?? sent))}  ${path}`)) : body,
      query: {
        filename: name,
        // The service checks the name and lists the formats.
        ...(format === undefined ? {} : { format: format as ReportFormat }),
        ...(Object.keys(scope).length > 0 ? { scan_scope: JSON.stringify(scope) } : {}),
        ...(flagOf(call, 'dry-run') ? { dry_run: true } : {}),
      },
      header: { Prefer: `wait=${waits ? SECONDS_PER_REQUEST : 0}` },
    });
    if (!waits) return first;
    return await waitForImport(client, first, ({ progress: { bytes_read, records_read }, bytes }) =>
      line.show(`${bar(bytes_read / Math.max(1, bytes))}  ${path}  ${records_read} records read`),
    );
  } finally {
    line.clear();
  }
}

/** An import that failed while the request waited for it is a refusal. Its details are in the import. */
async function created(client: Client, input: InputOf<'createImport'>): Promise<Import> {
  try {
    return await client.call('createImport', input);
  } catch (error) {
    const id = error instanceof RrsError && error.code === 'import_failed' ? error.location?.split('/').at(-1) : undefined;
    if (id === undefined) throw error;
    return client.call('getImport', { path: { id } });
  }
}

function scopeOf(call: Call): ScanScope {
  const asset = textOf(call, 'asset');
  const ended = listOf(call, 'ended-track');
  const lookedFor = listOf(call, 'looked-for');
  return given({
    coverage: flagOf(call, 'complete') ? ('complete' as const) : undefined,
    asset: asset === undefined ? undefined : assetOf(asset),
    version: textOf(call, 'asset-version'),
    track: textOf(call, 'track'),
    path: textOf(call, 'path'),
    ended_tracks: ended.length > 0 ? ended : undefined,
    // The service checks the kinds and lists them.
    looked_for: lookedFor.length > 0 ? (lookedFor as ScanScope['looked_for']) : undefined,
    started_at: timeOf(call, 'scanned-at'),
  });
}

function assetOf(text: string): { type: AssetType; name: string } {
  const [type = '', ...name] = text.split(':');
  if (name.length === 0) throw new UsageError(`--asset needs a type and a name: repository:${text}.`);
  // The service checks the type and lists the allowed ones.
  return { type: type as AssetType, name: name.join(':') };
}

type Changes = Pick<ImportCounts, 'created' | 'reopened' | 'closed' | 'updated' | 'unchanged'>;

function changesOf({ created, reopened, closed, updated, unchanged }: Changes): string {
  return `${created} new, ${reopened} reopened, ${closed} fixed, ${updated} updated, ${unchanged} unchanged`;
}

function sumOf(done: readonly Import[]): Changes {
  const sum = (name: keyof Changes): number => done.reduce((total, { counts }) => total + counts[name], 0);
  return { created: sum('created'), reopened: sum('reopened'), closed: sum('closed'), updated: sum('updated'), unchanged: sum('unchanged') };
}

const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;

/** `new: 2 critical, 1 high`, and the same of what came back. */
export function severityLines({ created, reopened }: Pick<Import['counts_by_severity'], 'created' | 'reopened'>): string[] {
  return Object.entries({ new: created, reopened }).flatMap(([kind, counts]) => {
    const some = severities.filter((severity) => counts[severity] > 0);
    return some.length === 0 ? [] : [`${kind}: ${some.map((severity) => `${counts[severity]} ${severity}`).join(', ')}`];
  });
}

const OPTIONS: Readonly<Record<string, string>> = {
  asset: '--asset, such as --asset repository:github.com/acme/shop',
  track: '--track, such as --track main',
  started_at: '--scanned-at',
};

/** The service names the fields of the API. Here they are options. */
const inOptions = (text: string): string =>
  text
    .replaceAll(/Set `(\w+)` in `scan_scope`/g, (whole, field) => (OPTIONS[field] ? `Add ${OPTIONS[field]}` : whole))
    .replaceAll('`scan_scope.asset`', '--asset')
    .replace('Set `format` if it is', 'Add --format if it is')
    .replace('Set `format` to one of', 'Add --format with one of');

function describe(done: Import, path: string, { terminal, url }: Call): string {
  const { id, status, counts, rejected, notes, error, dry_run } = done;
  const paint = painter(terminal);
  const title = `${printable(path)}: `;
  if (status === 'failed') return `${title}${paint('failed', 'red')}. ${printable(inOptions(error ?? ''))}\n`;
  if (status === 'queued' || status === 'running') return `${title}queued as import ${id}\n`;
  return [
    `${title}${dry_run ? 'would be ' : ''}${changesOf(counts)}${counts.rejected > 0 ? `, ${paint(`${counts.rejected} rejected`, 'red')}` : ''}`,
    ...severityLines(done.counts_by_severity).map((line) => `  ${line}`),
    ...rejected.slice(0, MOST_REJECTED).map(({ place, reason }) => `  rejected: ${printable(place)}: ${printable(inOptions(reason))}`),
    ...(counts.rejected > MOST_REJECTED ? [`  rejected: ${counts.rejected - MOST_REJECTED} more, listed at ${url()}/imports/${id}`] : []),
    ...notes.map((note) => `  ${printable(inOptions(note))}`),
    ...(status === 'needs_confirmation'
      ? [`  ${paint('It would close unusually many findings and waits for a person to confirm it:', 'red')} ${url()}/imports/${id}`]
      : []),
    '',
  ].join('\n');
}
