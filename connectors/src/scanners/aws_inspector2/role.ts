import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, SettingsProblem } from '../../core/contract.ts';
import { type AwsKeys, awsKeyFields, signedHeaders } from '../../core/sigv4.ts';

/** Temporary keys of a role: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */

/** The longest session that every role allows. */
const SESSION_SECONDS = 3600;
const FORM = 'application/x-www-form-urlencoded';

export const Credentials = Type.Object({
  ...awsKeyFields,
  role_arn: Type.Optional(
    Type.String({
      title: 'Role ARN',
      description: 'Role to assume with the access key. Leave empty to use the access key itself.',
      examples: ['arn:aws:iam::111122223333:role/inspector-reader'],
      pattern: '^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\\w+=,.@/-]+$',
      maxLength: 2048,
    }),
  ),
  external_id: Type.Optional(
    Type.String({
      title: 'External ID',
      description: 'External ID that the trust policy of the role requires. Leave empty if it requires none.',
      examples: ['rrs-7f3a9c'],
      pattern: '^[\\w+=,.@:/-]{2,1224}$',
    }),
  ),
});
type Credentials = Static<typeof Credentials>;

export function roleProblems({ role_arn, external_id }: Credentials): SettingsProblem[] {
  return external_id !== undefined && role_arn === undefined ? [{ path: '/credentials/role_arn', detail: 'is required if there is an external ID' }] : [];
}

interface Endpoint {
  url: string;
  region: string;
}

/** Requests keys of the role. Null if the credentials name no role. */
export async function assumeRole(http: Http, { role_arn, external_id, ...keys }: Credentials, { url, region }: Endpoint) {
  if (role_arn === undefined) return null;
  const form = {
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role_arn,
    RoleSessionName: 'remediation-risk-service',
    DurationSeconds: String(SESSION_SECONDS),
    ...(external_id === undefined ? {} : { ExternalId: external_id }),
  };
  const request = { method: 'POST', url: new URL(`${url}/`), body: new URLSearchParams(form).toString() };
  const signed = signedHeaders(request, { keys, region, service: 'sts', at: new Date() }, { 'content-type': FORM });
  const { body, headers } = await http.text({
    method: 'POST',
    path: request.url.href,
    form,
    headers: { ...signed, accept: 'application/xml' },
    repeatable: true,
    isComplete: (text) => text.includes('</AssumeRoleResponse>'),
  });
  const [access_key_id, secret_access_key, session_token, expiration] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'].map((name) =>
    new RegExp(`<${name}>([^<]+)</${name}>`).exec(body)?.[1]?.trim(),
  );
  if (!access_key_id || !secret_access_key || !session_token)
    throw new ConnectorError('invalid_answer', 'The response of AWS STS to AssumeRole contains no credentials.');
  const lifetime = (Date.parse(expiration ?? '') - (Date.parse(headers.date ?? '') || Date.now())) / 1000;
  return { token: [access_key_id, secret_access_key, session_token].join('\n'), expiresInSeconds: Number.isNaN(lifetime) ? SESSION_SECONDS / 4 : lifetime };
}

/** The keys of the role if `token` has some, otherwise the given keys. */
export function keysOf(token: string, { access_key_id, secret_access_key, session_token }: Credentials): AwsKeys {
  const [id, secret, session] = token.split('\n');
  if (id && secret && session) return { access_key_id: id, secret_access_key: secret, session_token: session };
  return { access_key_id, secret_access_key, ...(session_token === undefined ? {} : { session_token }) };
}
