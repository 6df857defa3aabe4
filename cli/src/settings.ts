import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Client, createClient } from '@rrs/client';
import { pipelineToken } from './ci/pipeline-token.ts';
import { UsageError } from './command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Login {
  url: string;
  api_key: string;
}

export function loginFile(env: Environment): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'rrs', 'login.json');
}

/** Only the person can read the file, because it contains a key. */
export function writeLogin(env: Environment, login: Login): string {
  const file = loginFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A file that exists keeps its mode when it is written, so that is set before.
  writeFileSync(file, '', { mode: 0o600 });
  chmodSync(file, 0o600);
  writeFileSync(file, `${JSON.stringify(login, null, 2)}\n`);
  return file;
}

export function deleteLogin(env: Environment): void {
  rmSync(loginFile(env), { force: true });
}

function readLogin(env: Environment): Partial<Login> {
  try {
    return JSON.parse(readFileSync(loginFile(env), 'utf8')) as Partial<Login>;
  } catch {
    return {};
  }
}

const NOT_SIGNED_IN = 'Not signed in. Run "rrs login", or set RRS_URL and RRS_API_KEY.';

/** The address of the service. Environment variables come first, as pipelines set them. */
export function urlOf(env: Environment): string {
  const url = env.RRS_URL || readLogin(env).url;
  if (!url) throw new UsageError(NOT_SIGNED_IN);
  return requireUrl(url).replace(/(?<!\/)\/+$/, '');
}

export function clientOf(env: Environment): Client {
  const login = readLogin(env);
  const url = urlOf(env);
  // Threat: the stored key must not be sent to another service than the one it was stored for.
  const stored = login.url !== undefined && requireUrl(login.url).replace(/(?<!\/)\/+$/, '') === url ? login.api_key : undefined;
  if (env.RRS_API_KEY) return createClient({ url, apiKey: env.RRS_API_KEY });
  const token = pipelineToken(env);
  if (token !== undefined) return createClient({ url, token });
  if (!stored) throw new UsageError(NOT_SIGNED_IN);
  return createClient({ url, apiKey: stored });
}

export function requireUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageError(`"${text}" is not the URL of a service. It looks like https://rrs.example.com.`);
  return text;
}

/** One for each folder, because several jobs can run at the same time for the same user. */
function importsFile(env: Environment, folder: string): string {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 32);
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local/state'), 'rrs', 'last-imports', `${name}.json`);
}

/** Remembers the imports of the last `rrs import` in a folder, for `rrs gate`. */
export function rememberImports(env: Environment, folder: string, ids: readonly string[]): void {
  const file = importsFile(env, folder);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify({ folder, ids }));
}

export function lastImports(env: Environment, folder: string): string[] {
  try {
    const last = JSON.parse(readFileSync(importsFile(env, folder), 'utf8')) as { folder: string; ids: string[] };
    return last.folder === folder ? last.ids : [];
  } catch {
    return [];
  }
}
