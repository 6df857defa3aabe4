import { createHash } from 'node:crypto';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { ConnectorError, type Settings } from './contract.ts';
import { messageOf } from './faults.ts';

/** One line of what a run saw, for whoever wants to check it later. Addresses without secrets. */
export interface RequestRecord {
  at: string;
  method: string;
  url: string;
  status: number | null;
  bytes: number;
  sha256: string | null;
  error: string | null;
}

export async function* recorded(body: AsyncIterable<Uint8Array>, record: RequestRecord, done: (record: RequestRecord) => void): AsyncGenerator<Uint8Array> {
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

export async function textOf(body: AsyncIterable<Uint8Array>, most = Number.POSITIVE_INFINITY): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return Buffer.concat(chunks).toString();
}

export function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]])),
  );
}

export function checked<T extends TSchema>(schema: T, text: string, path: string): Static<T> {
  let value: unknown;
  try {
    value = text === '' ? null : JSON.parse(text);
  } catch {
    throw new ConnectorError('invalid_answer', `The answer to ${path} is not JSON, or was cut short.`);
  }
  const compiled = Compile(schema);
  if (compiled.Check(value)) return value as Static<T>;
  const [, [first]] = compiled.Errors(value);
  throw new ConnectorError('invalid_answer', `The answer to ${path} is not as documented: ${first?.instancePath || 'it'} ${first?.message ?? 'differs'}.`);
}

/** Whatever is secret in the settings, wherever it turns up; and what looks like a token in an address. */
export function redactor({ credentials }: Settings): (text: string) => string {
  const secrets = Object.values(credentials as Record<string, unknown>).filter((value): value is string => typeof value === 'string' && value.length >= 4);
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]);
  return (text) =>
    forms
      .reduce((clean, form) => clean.replaceAll(form, '…'), text)
      .replaceAll(/([?&](?:[^=&]*(?:token|key|secret|password|signature|sig)[^=&]*)=)[^&]*/gi, '$1…');
}
