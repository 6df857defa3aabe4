import { spawn } from 'node:child_process';
import { type Client, RrsError } from '@rrs/client';
import { flagOf } from '../arguments.ts';
import { type Call, type Command, EXIT, UsageError } from '../command.ts';

/** The pages of what can have an id. */
const PAGES: Readonly<Record<string, (client: Client, id: string) => Promise<unknown>>> = {
  findings: (client, id) => client.call('getFinding', { path: { id } }),
  work: (client, id) => client.call('getWorkItem', { path: { id } }),
  assets: (client, id) => client.call('getAsset', { path: { id } }),
  imports: (client, id) => client.call('getImport', { path: { id } }),
  integrations: (client, id) => client.call('getConnection', { path: { id } }),
  evidence: (client, id) => client.call('getEvidencePackage', { path: { package_id: id } }),
};

export const open: Command = {
  arguments: '[ID]',
  options: { print: { type: 'boolean', help: 'Print the address, and open nothing.' } },
  examples: ['rrs open', 'rrs open 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', 'rrs open 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11 --print'],
  async run(call) {
    const [id, surplus] = call.positionals;
    if (surplus !== undefined) throw new UsageError('Name one id.');
    const address = id === undefined ? `${call.url()}/` : await addressOf(call, id);
    call.terminal.out(`${address}\n`);
    if (!flagOf(call, 'print')) await show(call, address);
    return EXIT.ok;
  },
};

async function addressOf(call: Call, id: string): Promise<string> {
  const client = call.client();
  const found = await Promise.all(
    Object.entries(PAGES).map(async ([page, read]) => {
      try {
        await read(client, id);
        return [page];
      } catch (error) {
        if (error instanceof RrsError && error.status === 404) return [];
        throw error;
      }
    }),
  );
  const [page] = found.flat();
  if (page === undefined) throw new UsageError(`Nothing has the id ${id}.`);
  return `${call.url()}/${page}/${id}`;
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', win32: 'explorer' };

/** Starts the browser of the person: BROWSER, or the program of the platform. */
function show({ env, terminal }: Call, address: string): Promise<void> {
  const program = env.BROWSER || OPENERS[process.platform] || 'xdg-open';
  return new Promise((resolve) => {
    const child = spawn(program, [address], { stdio: 'ignore', detached: true });
    child.once('error', () => {
      terminal.err(`There is no program "${program}" to open it. Set BROWSER, or open the address yourself.\n`);
      resolve();
    });
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}
