import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OPTIONS } from '@rrs/verifier/cli';
import { endOf, flagOf, given, JSON_OPTION, numberOf, oneArgument, textOf } from '../arguments.ts';
import { type Call, type Command, EXIT, type Option, UsageError } from '../command.ts';
import { minuteOf, printJson } from '../print.ts';

export const shareEvidence: Command = {
  arguments: 'PACKAGE',
  options: {
    recipient: { type: 'string', value: 'NAME', help: 'Who the link is for. Receipts of downloads name them.' },
    hours: { type: 'string', value: 'NUMBER', help: 'How long the link works. Default: 168, a week.' },
    expires: { type: 'string', value: 'TIME', help: 'When the link ends, such as 2027-03-31, instead of --hours.' },
    'max-downloads': { type: 'string', value: 'NUMBER', help: 'How often the package can be downloaded. Default: no limit.' },
    ...JSON_OPTION,
  },
  examples: ['rrs evidence share 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --recipient auditor@example.com --hours 48 --max-downloads 1'],
  async run(call) {
    const package_id = oneArgument(call, 'one package by its id. "rrs evidence list" shows ids');
    const recipient = textOf(call, 'recipient');
    if (recipient === undefined) throw new UsageError('Name who the link is for: --recipient auditor@example.com.');
    const limits = given({ expires_at: endOf(call, 'expires'), expires_in_hours: numberOf(call, 'hours'), max_downloads: numberOf(call, 'max-downloads') });
    const link = await call.client().call('createShareLink', { path: { package_id }, body: { recipient, ...limits } });
    if (flagOf(call, 'json')) printJson(call, link);
    else {
      call.terminal.out(`${link.url}\n`);
      call.terminal.err(`The link works until ${minuteOf(link.expires_at)} UTC. It cannot be shown again.\n`);
    }
    return EXIT.ok;
  },
};

type VerifierOption = Exclude<keyof typeof OPTIONS, 'version' | 'help'>;

const FILE = { type: 'string', multiple: true, value: 'FILE' } as const;

/** The options of `rrs-verify`, which reads them. */
const VERIFIER_OPTIONS: Readonly<Record<VerifierOption, Option>> = {
  keys: { ...FILE, value: 'FILE|FOLDER', help: 'Trusted keys. Default: those that the service publishes.' },
  key: { ...FILE, help: 'Trusted package key (PEM).' },
  'log-key': { ...FILE, help: 'Trusted log key (PEM).' },
  'note-key': { ...FILE, help: 'Trusted checkpoint key of the log.' },
  'witness-key': { ...FILE, help: 'Trusted witness of the log.' },
  'tsa-root': { ...FILE, help: 'Trusted certificates of time-stamping authorities (PEM).' },
  checkpoint: { ...FILE, help: 'Checkpoint of the log that you saved earlier.' },
  consistency: { ...FILE, help: 'Consistency proof between your checkpoint and the log in the package.' },
  organization: { type: 'string', value: 'ID', help: 'Fail unless the package belongs to this organization.' },
  origin: { type: 'string', value: 'NAME', help: 'Fail unless the package is in this log.' },
  newer: { type: 'string', value: 'FILE', help: 'A later package of the same work item.' },
  previous: { type: 'string', value: 'FILE', help: 'An earlier package of the same work item.' },
  status: { type: 'string', value: 'FILE', help: 'Statement of the service about the status of the package.' },
  'time-limit': { type: 'string', value: 'SECONDS', help: 'Fail if checking takes longer. Default: 600.' },
  json: { type: 'boolean', help: 'Print the report as JSON.' },
};
/** Is no option here, but the help names where it is one. */
const DEEP: Option = { type: 'boolean', help: 'Read the original reports again. Only "rrs-server evidence verify" has the readers of reports.' };
const TRUST_OPTIONS = ['keys', 'key', 'log-key', 'note-key'];

export const verifyEvidence: Command = {
  arguments: 'PACKAGE.zip',
  options: { ...VERIFIER_OPTIONS, deep: DEEP },
  examples: ['rrs evidence verify evidence.zip', 'rrs evidence verify evidence.zip --keys keys.json --json'],
  exitStatus: '0 verified, 1 refused, 2 mistake in the command, 3 consistent but not proven, or problem with the service, 4 verified but superseded.',
  isRaw: true,
  async run(call) {
    const { main, NOT_DEEP } = await import('@rrs/verifier/cli');
    // Without a service: nobody needs to sign in to learn this.
    if (call.args.includes('--deep')) throw new UsageError(NOT_DEEP);
    const named = call.args.some((arg) => TRUST_OPTIONS.some((name) => arg === `--${name}` || arg.startsWith(`--${name}=`)));
    return named
      ? main([...call.args], verifierTerminal(call))
      : withPublishedKeys(call, (keys) => main([...call.args, '--keys', keys], verifierTerminal(call)));
  },
};

function verifierTerminal({ terminal }: Call) {
  const { out, color } = terminal;
  return { out, color, err: (text: string) => terminal.err(text.replace(/^rrs-verify: /, 'rrs: ')) };
}

/** The keys come from the service, not from the package, or a package could vouch for itself. */
async function withPublishedKeys<T>(call: Call, use: (file: string) => Promise<T>): Promise<T> {
  const keys = await call.client().call('listEvidenceKeys');
  const folder = await mkdtemp(join(tmpdir(), 'rrs-keys-'));
  try {
    const file = join(folder, 'keys.json');
    await writeFile(file, JSON.stringify(keys));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
