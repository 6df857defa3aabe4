import { type AwsKeys, signedHeaders } from '../core/sigv4.ts';
import type { FakeRequest } from './fake-server.ts';

const MAX_SKEW_MS = 15 * 60_000;

/** Checks the signature and its time as AWS and S3-compatible stores do. */
export function isSigned({ method, url, headers, body }: FakeRequest, keys: AwsKeys, scope: { region: string; service: string }): boolean {
  const [, date = '', time = ''] = /^(\d{8})T(\d{6})Z$/.exec(headers['x-amz-date'] ?? '') ?? [];
  const at = new Date(`${date.replace(/^(....)(..)/, '$1-$2-')}T${time.replace(/^(..)(..)/, '$1:$2:')}Z`);
  const [, names = ''] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '') ?? [];
  const others = names.split(';').filter((name) => name !== 'host' && !name.startsWith('x-amz-'));
  if (!(Math.abs(Date.now() - at.getTime()) < MAX_SKEW_MS)) return false;
  const sent = Object.fromEntries(others.map((name) => [name, headers[name] ?? '']));
  return headers.authorization === signedHeaders({ method, url, body: body === '' ? undefined : body }, { keys, ...scope, at }, sent).authorization;
}
