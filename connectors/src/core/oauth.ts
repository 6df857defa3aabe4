import { Type } from 'typebox';
import { ConnectorError, type Http } from './contract.ts';

const Token = Type.Object({
  access_token: Type.Optional(Type.String()),
  expires_in: Type.Optional(Type.Union([Type.Number(), Type.String()])),
  error: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
});

interface TokenRequest {
  url: string;
  form: Readonly<Record<string, string>>;
  /** Who is asked, and what the credentials must be allowed to do: for the message when they are refused. */
  name: string;
  permissions: string;
}

/** OAuth 2.0 client credentials (RFC 6749, section 4.4). Who does not know the client may say so with 400 as well as with 401. */
export async function clientToken(http: Http, { url, form, name, permissions }: TokenRequest): Promise<{ token: string; expiresInSeconds: number }> {
  const { body } = await http.json(Token, {
    method: 'POST',
    path: url,
    form: { grant_type: 'client_credentials', ...form },
    repeatable: true,
    accept: [400],
  });
  if (body.access_token) return { token: body.access_token, expiresInSeconds: Number(body.expires_in) || 300 };
  const said = [body.error, body.error_description].filter(Boolean).join(': ').slice(0, 300);
  throw new ConnectorError('credentials', `${name} gave no token for these credentials. They need: ${permissions}.${said ? ` It says: ${said}` : ''}`);
}
