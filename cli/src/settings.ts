import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Client, createClient } from '@rrs/client';
import { UsageError } from './command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface Login {
  url: string;
  api_key: string;
}

function loginFile(env: Environment): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'rrs', 'login.json');
}

/** Only the person can read the file, because it has a key. */
export function writeLogin(env: Environment, login: Login): string {
  const file = loginFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
  return file;
}

function readLogin(env: Environment): Partial<Login> {
  try {
    return JSON.parse(readFileSync(loginFile(env), 'utf8')) as Partial<Login>;
  } catch {
    return {};
  }
}

/** Environment variables come first, as pipelines set them. */
export function clientOf(env: Environment): Client {
  const login = readLogin(env);
  const url = env.RRS_URL || login.url;
  const apiKey = env.RRS_API_KEY || login.api_key;
  if (!url || !apiKey) throw new UsageError('Not signed in. Run "rrs login", or set RRS_URL and RRS_API_KEY.');
  return createClient({ url: requireUrl(url), apiKey });
}

export function requireUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageError(`"${text}" is not the URL of a service. It looks like https://rrs.example.com.`);
  return text;
}

function importsFile(env: Environment): string {
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local/state'), 'rrs', 'last-imports.json');
}

/** Remembers the imports of the last `rrs import` in a folder, for `rrs gate`. */
export function rememberImports(env: Environment, folder: string, ids: readonly string[]): void {
  const file = importsFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify({ folder, ids }));
}

export function lastImports(env: Environment, folder: string): string[] {
  try {
    const last = JSON.parse(readFileSync(importsFile(env), 'utf8')) as { folder: string; ids: string[] };
    return last.folder === folder ? last.ids : [];
  } catch {
    return [];
  }
}
