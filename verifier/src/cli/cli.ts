import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodePlatform, openFile } from '../node.ts';
import type { Report } from '../report.ts';
import { addKeys, isVkey, type KeyFile, keyFilesIn } from '../trust/key-files.ts';
import { emptyTrust, type Trust } from '../trust/trust.ts';
import { verifyPackage } from '../verify.ts';
import { printReport } from './output.ts';

const USAGE = `Usage: rrs-verify PACKAGE.zip [options]

Checks an evidence package, offline. What it is worth depends on keys that you got from somewhere else than the package.

  --keys FILE|FOLDER    trusted keys: the answer of GET /riskops-evidence/keys, or a folder of PEM files and verifier keys
                        (a P-256 key in a file whose name begins with "log" is one of the log, any other one for packages)
  --key FILE            a trusted key for packages (PEM, P-256)
  --log-key FILE        a trusted key of the log (PEM, P-256)
  --note-key FILE|VKEY  a trusted key of the log's checkpoints (PEM, Ed25519, or a verifier key)
  --tsa-root FILE       a trusted certificate of a time-stamping authority (PEM)
  --checkpoint FILE     a checkpoint of the log that you saw before
  --json                the report as JSON
  --version             the version

Every option but --json may be repeated.
Exit code: 0 verified, 1 failed, 2 wrong use or a file that cannot be read, 3 consistent but not proven (keys missing).
`;

const EXIT = { verified: 0, failed: 1, usage: 2, consistent: 3 } as const;

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  color: boolean;
}

const many = { type: 'string', multiple: true } as const;
const OPTIONS = {
  keys: many,
  key: many,
  'log-key': many,
  'note-key': many,
  'tsa-root': many,
  checkpoint: many,
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
    terminal.err(USAGE);
    return EXIT.usage;
  }
  const trust = trustFrom(values);
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
  if (keys.length === 0) throw new Error(`${path} holds no keys`);
  return keys;
}

/** A verifier key (name+hash+key) is short enough to be given as it is. */
function keyFile(value: string, use: KeyFile['use']): KeyFile {
  return { use, text: use === 'note' && isVkey(value) ? value : readFileSync(value, 'utf8'), origin: value };
}
