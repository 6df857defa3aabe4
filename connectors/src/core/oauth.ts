import { Type } from 'typebox';
import { ConnectorError } from './connector-error.ts';
import type { Http } from './contract.ts';

const TokenResponse = Type.Object({
  access_token: Type.Optional(Type.String()),
  expires_in: Type.Optional(Type.Union([Type.Number(), Type.String()])),
  error: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
});

interface TokenRequest {
  url: string;
  form: Readonly<Record<string, string>>;
  /** The vendor's name, for the error message. */
  name: string;
  /** What the credentials must be allowed to do, for the error message. */
  permissions: string;
}

/** OAuth 2.0 client credentials grant (RFC 6749, section 4.4). Servers report an unknown client with 400 or with 401. */
export async function clientToken(http: Http, { url, form, name, permissions }: TokenRequest): Promise<{ token: string; expiresInSeconds: number }> {
  const { body } = await http.json(TokenResponse, {
    method: 'POST',
    path: url,
    form: { grant_type: 'client_credentials', ...form },
    repeatable: true,
    accept: [400],
  });
  if (body.access_token) return { token: body.access_token, expiresInSeconds: Number(body.expires_in) || 300 };
  const message = [body.error, body.error_description].filter(Boolean).join(': ').slice(0, 300);
  throw new ConnectorError(
    'credentials',
    `${name} did not issue a token for these credentials. They need: ${permissions}.${message ? ` Response: ${message}` : ''}`,
  );
}
