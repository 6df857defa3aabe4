import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireReadable } from '../checks/checkpoints.ts';
import { nodePlatform, openFile } from '../node.ts';
import type { Report } from '../report.ts';
import { addKeys, isVkey, type KeyFile, keyFilesIn } from '../trust/key-files.ts';
import { emptyTrust, type Trust } from '../trust/trust.ts';
import { verifyPackage } from '../verify.ts';
import { printReport } from './output.ts';

const USAGE = `Usage: rrs-verify PACKAGE.zip [options]

Verifies an evidence package offline. The result is only as good as the keys: get them from a source other than the package.

Options:
  --keys FILE|FOLDER    Trusted keys: the response of GET /riskops-evidence/keys, or a folder of PEM files and verifier keys.
                        A P-256 key is a log key if its file name starts with "log". Otherwise it is a package key.
  --key FILE            Trusted package key (PEM, P-256).
  --log-key FILE        Trusted log key (PEM, P-256).
  --note-key FILE|VKEY  Trusted checkpoint key of the log (PEM, Ed25519, or a verifier key).
  --tsa-root FILE       Trusted certificates of time-stamping authorities (PEM).
  --checkpoint FILE     Checkpoint of the log that you saved earlier. It is compared with the log in the package.
  --consistency FILE    Consistency proof between your checkpoint and the log in the package: the response of
                        GET /riskops-evidence/log/proof/consistency. Needed for large logs and newer checkpoints.
  --json                Print the report as JSON.
  --version             Print the version.
  -h, --help            Print this help.

You can repeat --keys, --key, --log-key, --note-key, --tsa-root, --checkpoint and --consistency.

Exit status:
  0  Verified.
  1  Failed.
  2  Invalid arguments, or a file could not be read.
  3  Consistent, but not proven: keys or certificates are missing, or a checkpoint could not be compared.
`;

const EXIT = { verified: 0, failed: 1, usage: 2, consistent: 3 } as const;

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  color: boolean;
}

const repeatable = { type: 'string', multiple: true } as const;
const OPTIONS = {
  keys: repeatable,
  key: repeatable,
  'log-key': repeatable,
  'note-key': repeatable,
  'tsa-root': repeatable,
  checkpoint: repeatable,
  consistency: repeatable,
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
  const trust = trustFrom(values);
  trust.consistencies = (values.consistency ?? []).map((file) => readFileSync(file, 'utf8'));
  await requireReadable(trust, nodePlatform().subtle);
  const report = await verifyFile(path, trust);
  terminal.out(values.json ? `${JSON.stringify(report, null, 2)}\n` : printReport(report, { path, color: terminal.color }));
  return EXIT[report.verdict];
}

async function verifyFile(path: string, trust: Trust): Promise<Report> {
  const file = await openFile(path);
  try {
    return await verifyPackage(file, trust, nodePlatform());
  } finally {
    await file.close();
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
