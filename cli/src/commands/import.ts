import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type AssetType, type Client, counted, type Import, type ReportFormat, type ScanScope } from '@rrs/client';
import { type Call, type Command, EXIT, JSON_OPTION, printJson, textOf, UsageError } from '../command.ts';
import { rememberImports } from '../settings.ts';
import { painter, printable, progress } from '../terminal.ts';

const SECONDS_PER_REQUEST = 30;
const MOST_REJECTED = 10;

export const importReports: Command = {
  summary: 'Import scan reports and show what changed',
  arguments: 'FILE…',
  options: {
    format: { type: 'string', value: 'FORMAT', help: 'Format of the reports. Default: detected.' },
    asset: { type: 'string', value: 'TYPE:NAME', help: 'What was scanned, such as repository:github.com/acme/shop. Default: as the report says.' },
    'asset-version': { type: 'string', value: 'VERSION', help: 'Version, commit or digest that was scanned.' },
    track: { type: 'string', value: 'NAME', help: 'Branch, environment or release line, such as main or pr-17.' },
    path: { type: 'string', value: 'FOLDER', help: 'Part of a repository that was scanned.' },
    complete: { type: 'boolean', help: 'The report has all findings: close those that it no longer has.' },
    'dry-run': { type: 'boolean', help: 'Show what would change, and change nothing.' },
    ...JSON_OPTION,
  },
  examples: ['rrs import trivy.json', 'rrs import reports/*.json --track main --complete', 'trivy image shop:1.4 -f json | rrs import - --format trivy'],
  async run(call) {
    const { positionals: files, terminal } = call;
    if (files.length === 0) throw new UsageError('Name the report files, or "-" for standard input.');
    const reports = await Promise.all(files.map(open));
    const client = call.client();
    const done: Import[] = [];
    for (const report of reports) {
      const finished = await upload(client, call, report);
      done.push(finished);
      if (!call.values.json) terminal.out(describe(finished, report.name, call));
    }
    const ids = done.filter(({ status, dry_run }) => status === 'succeeded' && !dry_run).map(({ id }) => id);
    rememberImports(call.env, call.folder, ids);
    if (call.values.json) printJson(call, done);
    return done.every(({ status }) => status === 'succeeded') ? EXIT.ok : EXIT.failed;
  },
};

interface ReportFile {
  name: string;
  body: Blob;
}

/** All files are opened before the first is sent, so that a typing error stops everything. */
async function open(file: string): Promise<ReportFile> {
  if (file === '-') return { name: 'report', body: new Blob([await buffer(process.stdin)]) };
  try {
    return { name: basename(file), body: await openAsBlob(file) };
  } catch {
    throw new UsageError(`${file} cannot be read. Check its name.`);
  }
}

async function upload(client: Client, call: Call, { name, body }: ReportFile): Promise<Import> {
  const line = progress(call.terminal);
  const scope = scopeOf(call);
  const format = textOf(call, 'format');
  const shown = ({ sent, total }: { sent: number; total: number | null }): void =>
    line.show(`${name}  uploading  ${Math.floor((100 * sent) / Math.max(1, total ?? sent))} %`);
  try {
    let current = await client.call('createImport', {
      // Without somebody who watches, the file can be sent again after a refusal.
      body: call.terminal.live ? counted(body, shown) : body,
      query: {
        filename: name,
        // The service checks the name and lists the formats.
        ...(format === undefined ? {} : { format: format as ReportFormat }),
        ...(Object.keys(scope).length > 0 ? { scan_scope: JSON.stringify(scope) } : {}),
        ...(call.values['dry-run'] ? { dry_run: true } : {}),
      },
      header: { Prefer: `wait=${SECONDS_PER_REQUEST}` },
    });
    while (current.status === 'queued' || current.status === 'running') {
      line.show(`${name}  reading  ${current.progress.records_read} records`);
      await new Promise((resolve) => setTimeout(resolve, 500));
      current = await client.call('getImport', { path: { id: current.id } });
    }
    return current;
  } finally {
    line.clear();
  }
}

function scopeOf(call: Call): ScanScope {
  const asset = textOf(call, 'asset');
  const [version, track, path] = ['asset-version', 'track', 'path'].map((name) => textOf(call, name));
  return {
    ...(call.values.complete ? { coverage: 'complete' as const } : {}),
    ...(asset === undefined ? {} : { asset: assetOf(asset) }),
    ...(version === undefined ? {} : { version }),
    ...(track === undefined ? {} : { track }),
    ...(path === undefined ? {} : { path }),
  };
}

function assetOf(text: string): { type: AssetType; name: string } {
  const [type = '', ...name] = text.split(':');
  if (name.length === 0) throw new UsageError(`--asset needs a type and a name: repository:${text}.`);
  // The service checks the type and lists the allowed ones.
  return { type: type as AssetType, name: name.join(':') };
}

function describe({ status, counts, rejected, notes, error, dry_run }: Import, name: string, { terminal }: Call): string {
  const paint = painter(terminal);
  const title = `${printable(name)}: `;
  if (status === 'failed') return `${title}${paint('failed', 'red')}. ${printable(error ?? '')}\n`;
  const changes = [
    `${counts.created} new`,
    `${counts.reopened} reopened`,
    `${counts.closed} fixed`,
    `${counts.updated} updated`,
    `${counts.unchanged} unchanged`,
  ];
  return [
    `${title}${dry_run ? 'would be ' : ''}${changes.join(', ')}${counts.rejected > 0 ? `, ${paint(`${counts.rejected} rejected`, 'red')}` : ''}`,
    ...rejected.slice(0, MOST_REJECTED).map(({ place, reason }) => `  rejected: ${printable(place)}: ${printable(reason)}`),
    ...notes.map((note) => `  ${printable(note)}`),
    ...(status === 'needs_confirmation' ? [`  ${paint('It would close unusually many findings and waits for a person to confirm it.', 'red')}`] : []),
    '',
  ].join('\n');
}
