import { text } from 'node:stream/consumers';
import { createClient } from '@rrs/client';
import { type Call, type Command, EXIT, JSON_OPTION, printJson, textOf, UsageError } from '../command.ts';
import { requireUrl, writeLogin } from '../settings.ts';

/** Threat: other users of the machine can read the arguments of a process, so the key is never one of them. */
export const login: Command = {
  summary: 'Store the address of the service and an API key for this user',
  options: { url: { type: 'string', value: 'URL', help: 'Address of the service. Default: RRS_URL.' } },
  examples: ['rrs login --url https://rrs.example.com < key.txt', 'RRS_API_KEY=… rrs login --url https://rrs.example.com'],
  async run(call) {
    const { env, terminal } = call;
    const url = requireUrl(textOf(call, 'url') ?? env.RRS_URL ?? missing('Name the service: --url https://rrs.example.com.'));
    const apiKey = (env.RRS_API_KEY || (await text(process.stdin))).trim() || missing('Pass the API key on standard input, or set RRS_API_KEY.');
    const me = await createClient({ url, apiKey }).call('getMe');
    const file = writeLogin(env, { url, api_key: apiKey });
    terminal.out(`Signed in to ${url} as ${me.name} (${me.role} of ${me.organization.name}). Stored in ${file}.\n`);
    return EXIT.ok;
  },
};

function missing(sentence: string): never {
  throw new UsageError(sentence);
}

export const whoami: Command = {
  summary: 'Show who you are for the service',
  options: JSON_OPTION,
  examples: ['rrs whoami'],
  async run(call: Call) {
    const me = await call.client().call('getMe');
    if (call.values.json) printJson(call, me);
    else call.terminal.out(`${me.name} (${me.role} of ${me.organization.name})\n`);
    return EXIT.ok;
  },
};
