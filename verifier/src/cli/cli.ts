import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Source } from '../archive/source.ts';
import { requireReadable } from '../checks/checkpoints.ts';
import { nodePlatform, openFile } from '../node.ts';
import { verifyWithOthers } from '../other-packages.ts';
import { addKeys, isVkey, type KeyFile, keyFilesIn } from '../trust/key-files.ts';
import { emptyTrust, type Trust } from '../trust/trust.ts';
import { printReport } from './output.ts';

const USAGE = `Usage: rrs-verify PACKAGE.zip [options]

Verifies an evidence package offline. The result is only as good as the keys: get them from a source other than the package.

Options:
  --keys FILE|FOLDER    Trusted keys: the response of GET /riskops-evidence/keys, or a folder of PEM files and verifier keys.
                        A P-256 key is a log key if its file name starts with "log". Otherwise it is a package key.
  --key FILE            Trusted package key (PEM, P-256).
  --log-key FILE        Trusted log key (PEM, P-256).
  --note-key FILE|VKEY  Trusted checkpoint key of the log (PEM, Ed25519, or a verifier key).
  --witness-key FILE|VKEY  Trusted witness of the log (verifier key). At least one of them must have confirmed the checkpoint.
  --tsa-root FILE       Trusted certificates of time-stamping authorities (PEM).
  --checkpoint FILE     Checkpoint of the log that you saved earlier. It is compared with the log in the package.
  --consistency FILE    Consistency proof between your checkpoint and the log in the package: the response of
                        GET /riskops-evidence/log/proof/consistency. Needed for large logs and newer checkpoints.
  --organization ID     Fail unless the package belongs to this organization.
  --origin NAME         Fail unless the package is in this log: <host>/orgs/<organization ID>, or a host for every log on it.
  --newer OTHER.zip     A later package of the same work item, verified with the same keys. If it is valid, this one is superseded.
  --previous OTHER.zip  An earlier package of the same work item, verified with the same keys. Fail unless this one still shows
                        every event that it showed.
  --status FILE         Statement of the service about the status of the package: the response of
                        GET /riskops-evidence/packages/{id}/status-statement.
  --time-limit SECONDS  Fail if checking takes longer. Default: 600.
  --deep                Also read the original scan reports. Only "rrs-server evidence verify --deep" can, which takes the same options.
  --json                Print the report as JSON.
  --version             Print the version.
  -h, --help            Print this help.

You can repeat --keys, --key, --log-key, --note-key, --witness-key, --tsa-root, --checkpoint and --consistency.

Exit status:
  0  Verified.
  1  Failed: something is wrong, or a limit was reached.
  2  Invalid arguments, a file could not be read, or a checkpoint, status statement or other package that cannot be used.
  3  Consistent, but not proven: keys or certificates are missing, a checkpoint could not be compared, or the readable files were
     written by a newer version.
  4  Verified, but superseded, as shown by --status or --newer.
If several apply, the first of 2, 1, 3, 4 is used.
`;

/** The readers of reports have dependencies, and this program has none. */
export const NOT_DEEP =
  '--deep reads the original scan reports of a package again, and only the service has the readers. Run "rrs-server evidence verify" with the same arguments.';

const EXIT = { verified: 0, failed: 1, usage: 2, consistent: 3, superseded: 4 } as const;
const DEFAULT_SECONDS = '600';

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  color: boolean;
}

const repeatable = { type: 'string', multiple: true } as const;
export const OPTIONS = {
  keys: repeatable,
  key: repeatable,
  'log-key': repeatable,
  'note-key': repeatable,
  'witness-key': repeatable,
  'tsa-root': repeatable,
  checkpoint: repeatable,
  consistency: repeatable,
  organization: { type: 'string' },
  origin: { type: 'string' },
  newer: { type: 'string' },
  previous: { type: 'string' },
  status: { type: 'string' },
  'time-limit': { type: 'string', default: DEFAULT_SECONDS },
  json: { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export async function main(args: string[], terminal: Terminal): Promise<number> {
  try {
    return await run(args, terminal);
  } catch (error) {
    terminal.err(`rrs-verify: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.usage;
  }
}

async function run(args: string[], terminal: Terminal): Promise<number> {
  if (args.includes('--deep')) throw new Error(NOT_DEEP);
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help) {
    terminal.out(USAGE);
    return 0;
  }
  if (values.version) {
    terminal.out(`${JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version}\n`);
    return 0;
  }
  const [path, ...rest] = positionals;
  if (path === undefined || rest.length > 0) {
    throw new Error(`expected one package, got ${positionals.length}. Run rrs-verify --help for usage.`);
  }
  const trust = { ...trustFrom(values), organization: values.organization ?? null, origin: values.origin ?? null };
  trust.consistencies = (values.consistency ?? []).map((file) => readFileSync(file, 'utf8'));
  trust.witnessKeys = (values['witness-key'] ?? []).map((value) => (isVkey(value) ? value : readFileSync(value, 'utf8')));
  if (values.status !== undefined) trust.status = readFileSync(values.status, 'utf8');
  await requireReadable(trust, nodePlatform().subtle);
  const options = { timeLimit: millisecondsOf(values['time-limit']) };
  const { report, isSuperseded } = await withFiles(async (open) => {
    const other = async (name: string | undefined) => (name === undefined ? undefined : { name, source: await open(name) });
    const others = { newer: await other(values.newer), previous: await other(values.previous) };
    return verifyWithOthers(await open(path), others, { trust, platform: nodePlatform(), options });
  });
  if (report.status?.problem) throw new Error(`${values.status} cannot be used as --status: ${report.status.problem}`);
  terminal.out(values.json ? `${JSON.stringify(report, null, 2)}\n` : printReport(report, { path, color: terminal.color, isSuperseded }));
  return isSuperseded ? EXIT.superseded : EXIT[report.verdict];
}

function millisecondsOf(seconds: string): number {
  if (!/^\d{1,6}$/.test(seconds) || Number(seconds) === 0) throw new Error(`--time-limit must be a number of seconds from 1 to 999999, not "${seconds}"`);
  return Number(seconds) * 1000;
}

type Opened = Awaited<ReturnType<typeof openFile>>;

async function withFiles<T>(use: (open: (path: string) => Promise<Source>) => Promise<T>): Promise<T> {
  const opened: Opened[] = [];
  const open = async (path: string): Promise<Source> => {
    const file = await openFile(path);
    opened.push(file);
    return file;
  };
  try {
    return await use(open);
  } finally {
    for (const file of opened) await file.close();
  }
}

const USES = { key: 'package', 'log-key': 'log', 'note-key': 'note', 'tsa-root': 'tsa', checkpoint: 'checkpoint' } as const;

type Values = Partial<Record<keyof typeof USES | 'keys', string[]>>;

function trustFrom(values: Values): Trust {
  const trust = emptyTrust();
  for (const path of values.keys ?? []) addKeys(trust, readKeys(path));
  for (const [option, use] of Object.entries(USES))
    addKeys(
      trust,
      (values[option as keyof typeof USES] ?? []).map((value) => keyFile(value, use)),
    );
  return trust;
}

function readKeys(path: string): KeyFile[] {
  const files = statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path];
  const keys = files.flatMap((file) => keyFilesIn(file, readFileSync(file, 'utf8')));
  if (keys.length === 0) throw new Error(`${path} contains no keys`);
  return keys;
}

/** A verifier key (name+hash+key) is short, so it can be given directly instead of in a file. */
function keyFile(value: string, use: KeyFile['use']): KeyFile {
  return { use, text: use === 'note' && isVkey(value) ? value : readFileSync(value, 'utf8'), origin: value };
}
