import { createHash, createHmac } from 'node:crypto';
import { Type } from 'typebox';
import type { FaultKind } from './connector-error.ts';
import type { OutgoingRequest, RefusedRequest } from './contract.ts';
import { Secret } from './settings/fields.ts';

/** AWS Signature Version 4 in the Authorization header: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html */

export interface AwsKeys {
  access_key_id: string;
  secret_access_key: string;
  session_token?: string;
}

export interface Signing {
  keys: AwsKeys;
  region: string;
  service: string;
  at: Date;
}

type Headers = Record<string, string>;

export const awsKeyFields = {
  access_key_id: Type.String({
    title: 'Access key ID',
    examples: ['AKIAIOSFODNN7EXAMPLE'],
    description: 'Access key of an IAM user or role.',
    minLength: 1,
    maxLength: 200,
  }),
  secret_access_key: Secret('Secret access key', 'AWS shows it once, when the access key is created.', {
    link: 'https://console.aws.amazon.com/iam/home#/security_credentials',
  }),
  session_token: Type.Optional(
    Secret('Session token', 'Only for temporary credentials.', { link: 'https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp.html' }),
  ),
};

/** Returns the headers of the signed request, including `headers`, whose names must be in lower case. */
export function signedHeaders({ method, url, body }: OutgoingRequest, { keys, region, service, at }: Signing, headers: Readonly<Headers> = {}): Headers {
  const now = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const content = sha256(body ?? '');
  const sent: Headers = {
    ...headers,
    'x-amz-date': now,
    ...(service === 's3' ? { 'x-amz-content-sha256': content } : {}),
    ...(keys.session_token ? { 'x-amz-security-token': keys.session_token } : {}),
  };
  const all = Object.entries({ ...sent, host: url.host }).sort(byName);
  const names = all.map(([name]) => name).join(';');
  const canonical = [method, canonicalPath(url, service), canonicalQuery(url), ...all.map(([name, value]) => `${name}:${value.trim()}`), '', names, content];
  const scope = `${now.slice(0, 8)}/${region}/${service}/aws4_request`;
  const key = scope.split('/').reduce<string | Buffer>((derived, part) => hmac(derived, part), `AWS4${keys.secret_access_key}`);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', now, scope, sha256(canonical.join('\n'))].join('\n')).toString('hex');
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${keys.access_key_id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** AWS reports throttling with the status 400, and a wrong clock like missing permissions. */
export function explainAws({ headers, text }: RefusedRequest): { kind: FaultKind; message: string } | null {
  const what = `${headers['x-amzn-errortype'] ?? ''} ${text}`;
  if (/Throttling|TooManyRequests|RequestLimitExceeded|SlowDown/.test(what)) return { kind: 'rate_limited', message: 'AWS is limiting the request rate.' };
  if (/Signature expired|Signature not yet current|RequestTimeTooSkewed|RequestExpired/.test(what))
    return { kind: 'configuration', message: 'The clock of this machine differs from the clock of AWS. Correct it.' };
  return null;
}

/** Percent-encodes everything except letters, digits and -._~, as AWS requires. */
export function awsEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** S3 signs the path as sent. All other services encode it a second time. */
function canonicalPath({ pathname }: URL, service: string): string {
  return service === 's3' ? pathname : pathname.split('/').map(awsEncoded).join('/');
}

function canonicalQuery({ searchParams }: URL): string {
  return [...searchParams]
    .map(([name, value]): [string, string] => [awsEncoded(name), awsEncoded(value)])
    .sort(byName)
    .map((pair) => pair.join('='))
    .join('&');
}

function byName([a, one]: [string, string], [b, other]: [string, string]): number {
  if (a === b) return one < other ? -1 : 1;
  return a < b ? -1 : 1;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
