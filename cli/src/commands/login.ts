import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createClient, RrsError } from '@rrs/client';
import { flagOf, JSON_OPTION, textOf } from '../arguments.ts';
import { type Command, EXIT, UsageError } from '../command.ts';
import { printJson } from '../print.ts';
import { deleteLogin, loginFile, requireUrl, writeLogin } from '../settings.ts';

/** Threat: other users of the machine can read the arguments of a process, so the key is never one of them. */
export const login: Command = {
  options: { url: { type: 'string', value: 'URL', help: 'Address of the service. Default: RRS_URL.' }, ...JSON_OPTION },
  examples: [
    'rrs login --url https://rrs.example.com',
    'rrs login --url https://rrs.example.com < key.txt',
    'RRS_API_KEY=… rrs login --url https://rrs.example.com',
  ],
  async run(call) {
    const { env, terminal } = call;
    const url = requireUrl(textOf(call, 'url') ?? env.RRS_URL ?? missing('Name the service: --url https://rrs.example.com.'));
    const apiKey = (env.RRS_API_KEY || (await readKey())).trim() || missing('Pass the API key on standard input, or set RRS_API_KEY.');
    const me = await createClient({ url, apiKey })
      .call('getMe')
      .catch((error: unknown) => {
        // The general advice for this is to run this command.
        throw error instanceof RrsError && error.code === 'unauthenticated'
          ? new Error(`${url} did not accept the API key, so nothing was stored. Check the key, or create another one.`)
          : error;
      });
    const file = writeLogin(env, { url, api_key: apiKey });
    if (flagOf(call, 'json')) printJson(call, me);
    else terminal.out(`Signed in to ${url} as ${me.name} (${me.role} of ${me.organization.name}). Stored in ${file}.\n`);
    return EXIT.ok;
  },
};

/** On a terminal, what is typed is not shown. */
async function readKey(): Promise<string> {
  if (!process.stdin.isTTY) return text(process.stdin);
  process.stderr.write('API key: ');
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  // Ctrl-C and Ctrl-D close it without an answer.
  const closed = new AbortController();
  lines.once('close', () => closed.abort());
  try {
    return await lines.question('', { signal: closed.signal });
  } catch {
    return missing('No API key was entered, so nothing was stored.');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

function missing(sentence: string): never {
  throw new UsageError(sentence);
}

export const logout: Command = {
  examples: ['rrs logout'],
  async run({ env, terminal }) {
    deleteLogin(env);
    terminal.out(`Deleted ${loginFile(env)}. The API key stays valid until it is revoked.\n`);
    return EXIT.ok;
  },
};

export const whoami: Command = {
  options: JSON_OPTION,
  examples: ['rrs whoami', 'rrs whoami --json'],
  async run(call) {
    const me = await call.client().call('getMe');
    if (call.values.json) printJson(call, me);
    else call.terminal.out(`${me.name} (${me.role} of ${me.organization.name})\n`);
    return EXIT.ok;
  },
};
