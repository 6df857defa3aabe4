import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, SettingsProblem } from '../../core/contract.ts';
import { Secret } from '../../core/settings/fields.ts';

/** An access token, or a GitHub App whose installation tokens are valid for an hour: https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app */

/** Recommended by GitHub, because a token from the future is refused. */
const BACKDATED_SECONDS = 60;
/** GitHub refuses a JWT that expires in more than ten minutes. */
const LIFETIME_SECONDS = 9 * 60;
/** A smaller difference between the clocks cannot be why GitHub refuses a JWT. */
const MIN_SKEW_MS = 30_000;

const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

export const githubCredentials = {
  token: Type.Optional(
    Secret('Access token', 'Create one in GitHub under Settings, Developer settings, Personal access tokens. Leave empty to use a GitHub App.', {
      link: 'https://github.com/settings/personal-access-tokens/new',
    }),
  ),
  app_id: Type.Optional(
    Type.String({
      title: 'App ID',
      description: 'ID or client ID of a GitHub App, shown on its settings page. The app replaces the access token.',
      examples: ['1234567'],
      pattern: '^[A-Za-z0-9.]{1,100}$',
    }),
  ),
  installation_id: Type.Optional(
    Type.String({
      title: 'Installation ID',
      description: 'The number at the end of the URL of the page where you configure the installed app.',
      examples: ['87654321'],
      pattern: '^[0-9]{1,20}$',
    }),
  ),
  private_key: Type.Optional(
    Secret('Private key', 'Content of the PEM file that GitHub generates on the settings page of the app, under Private keys.', {
      link: 'https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/managing-private-keys-for-github-apps',
      'x-multiline': true,
    }),
  ),
};
const Credentials = Type.Object(githubCredentials);
type Credentials = Static<typeof Credentials>;

export function credentialProblems({ token, ...app }: Credentials): SettingsProblem[] {
  const { app_id, installation_id, private_key } = app;
  const fields = Object.entries({ app_id, installation_id, private_key });
  const given = fields.filter(([, value]) => value !== undefined);
  if (given.length === 0) return token === undefined ? [{ path: '/credentials/token', detail: 'is required if there is no GitHub App' }] : [];
  if (token !== undefined) return [{ path: '/credentials/token', detail: 'must not be combined with a GitHub App' }];
  const missing = fields.filter(([, value]) => value === undefined);
  if (missing.length > 0) return missing.map(([name]) => ({ path: `/credentials/${name}`, detail: 'is required for a GitHub App' }));
  return rsaKey(private_key ?? '') ? [] : [{ path: '/credentials/private_key', detail: 'must be an RSA private key in PEM format, as GitHub generates it' }];
}

export function githubHeaders({ credentials, token }: { credentials: Credentials; token: string }): Record<string, string> {
  return { ...headers, authorization: `Bearer ${token || credentials.token}` };
}

const TokenResponse = Type.Object({
  token: Type.Optional(Type.String()),
  expires_at: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});

/** Requests a token of the installation. Null if the credentials are an access token. */
export async function githubLogin({
  http,
  credentials,
}: {
  http: Http;
  credentials: Credentials;
}): Promise<{ token: string; expiresInSeconds: number } | null> {
  const { app_id, installation_id, private_key } = credentials;
  if (!app_id || !installation_id || !private_key) return null;
  const key = rsaKey(private_key);
  if (!key) throw new ConnectorError('credentials', 'The private key of the GitHub App cannot be read. Generate a new one in GitHub.');
  const request = (now: number) =>
    http.json(TokenResponse, {
      method: 'POST',
      path: `app/installations/${installation_id}/access_tokens`,
      headers: { ...headers, authorization: `Bearer ${signedClaims(app_id, key, now)}` },
      repeatable: true,
      accept: [401],
    });
  let response = await request(Date.now());
  const vendorNow = timeOf(response.headers);
  // If the clock of this machine is wrong, the clock of GitHub is used.
  if (response.status === 401 && Math.abs(vendorNow - Date.now()) > MIN_SKEW_MS) response = await request(vendorNow);
  const { token, expires_at, message } = response.body;
  if (!token)
    throw new ConnectorError(
      'credentials',
      `GitHub did not accept the GitHub App. Check that the private key belongs to the app with the ID ${app_id}. Response: ${message ?? 'no message'}`,
      { status: response.status },
    );
  const lifetime = Date.parse(expires_at ?? '') - timeOf(response.headers);
  return { token, expiresInSeconds: Number.isNaN(lifetime) ? 0 : lifetime / 1000 };
}

/** The time of the response by the clock of GitHub. */
function timeOf({ date = '' }: Readonly<Record<string, string>>): number {
  return Date.parse(date) || Date.now();
}

/** A JSON Web Token with RS256. */
function signedClaims(issuer: string, key: KeyObject, now: number): string {
  const seconds = Math.floor(now / 1000);
  const claims = { iat: seconds - BACKDATED_SECONDS, exp: seconds + LIFETIME_SECONDS, iss: issuer };
  const content = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
}

function rsaKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}
