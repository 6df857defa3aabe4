import { createHash } from 'node:crypto';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { ConnectorError } from './connector-error.ts';
import type { Settings } from './contract.ts';
import { messageOf } from './faults.ts';

/** One request of a run, kept so that the run can be checked later. The URL contains no secrets. */
export interface RequestRecord {
  at: string;
  method: string;
  url: string;
  status: number | null;
  bytes: number;
  sha256: string | null;
  error: string | null;
}

/** Passes a response body through and completes its record: size, hash, error. */
export async function* recordBody(body: AsyncIterable<Uint8Array>, record: RequestRecord, done: (record: RequestRecord) => void): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      record.bytes += chunk.length;
      yield chunk;
    }
    record.sha256 = hash.digest('hex');
  } catch (error) {
    record.error = messageOf(error);
    throw error;
  } finally {
    done(record);
  }
}

/** Stops reading after `maxBytes`. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes = Number.POSITIVE_INFINITY): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks).toString();
}

export function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]])),
  );
}

export function isWebPage(text: string): boolean {
  return /^\s*(?:<!doctype html|<html)/i.test(text);
}

/** The usual cause is the URL of the web interface instead of the API, or a proxy that asks for a login. */
export function webPageError(path: string): ConnectorError {
  return new ConnectorError(
    'invalid_answer',
    `The response to ${path} is a web page. Check that the configured URL is that of the API, and that no login page or proxy answers instead.`,
  );
}

export function parseJson<T extends TSchema>(schema: T, text: string, path: string): Static<T> {
  let value: unknown;
  try {
    value = text === '' ? null : JSON.parse(text);
  } catch {
    if (isWebPage(text)) throw webPageError(path);
    throw new ConnectorError('invalid_answer', `The response to ${path} is not valid JSON, or was truncated.`);
  }
  const compiled = Compile(schema);
  if (compiled.Check(value)) return value as Static<T>;
  const [, [first]] = compiled.Errors(value);
  throw new ConnectorError(
    'invalid_answer',
    `The response to ${path} does not match the vendor's documentation: ${first?.instancePath || 'the body'} ${first?.message ?? 'is different'}.`,
  );
}

export interface Redactor {
  /** Replaces known secrets wherever they occur, and the values of query parameters that look like secrets. */
  redact(text: string): string;
  /** Adds a secret that the vendor has issued meanwhile, such as the token of a login. */
  learn(secret: string): void;
}

/** Knows the secrets of the settings from the start. */
export function createRedactor({ credentials }: Settings): Redactor {
  const forms = new Set<string>();
  const learn = (secret: string): void => {
    if (secret.length < 4) return;
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) forms.add(form);
  };
  for (const value of Object.values(credentials as Record<string, unknown>)) if (typeof value === 'string') learn(value);
  return {
    learn,
    redact: (text) =>
      [...forms]
        .reduce((clean, form) => clean.replaceAll(form, '…'), text)
        .split('&')
        .map(withoutSecretValue)
        .join('&'),
  };
}

/** A token may consist of several keys, as JSON. */
export function secretsIn(token: string): string[] {
  try {
    return [token, ...Object.values(JSON.parse(token) as Record<string, unknown>).filter((value): value is string => typeof value === 'string')];
  } catch {
    return [token];
  }
}

const SECRET_NAME = /token|key|secret|password|signature|sig/i;

/** A piece of a text between two ampersands. A parameter starts at a question mark, or at the ampersand in front of the piece. */
function withoutSecretValue(piece: string, index: number): string {
  let from = 0;
  for (let equals = piece.indexOf('='); equals !== -1; equals = piece.indexOf('=', from)) {
    const before = piece.slice(from, equals);
    const start = from === 0 && index > 0 ? 0 : before.indexOf('?');
    if (start !== -1 && SECRET_NAME.test(before.slice(start))) return `${piece.slice(0, equals + 1)}…`;
    from = equals + 1;
  }
  return piece;
}
