import { generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import type { FakeRequest, FakeResponse } from '../../testing/fake-server.ts';

const INSTALLATION_ID = '87654321';
const APP_ID = '1234567';

export interface FakeApp {
  credentials: { app_id: string; installation_id: string; private_key: string };
  /** Responds to a request for an installation token. Null for other requests. */
  answer(request: FakeRequest): FakeResponse | null;
  /** Whether the header has an installation token that is still valid. */
  isValid(authorization: string | undefined): boolean;
  /** Makes all tokens invalid, as GitHub does when the permissions of the app change. */
  revoke(): void;
}

/** A GitHub App with one installation. The clock of GitHub is ahead of the clock of this machine by `aheadMs`. */
export function fakeApp({ aheadMs = 0 } = {}): FakeApp {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const tokens = new Map<string, number>();
  const now = (): number => Date.now() + aheadMs;
  const answer = (status: number, body: Record<string, string>): FakeResponse => ({ status, headers: { date: new Date(now()).toUTCString() }, body });

  const refusal = (jwt: string): string | null => {
    const [head = '', claims = '', signature = ''] = jwt.split('.');
    const parsed = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString() || '{}');
    const { iat, exp, iss } = parsed(claims);
    const seconds = now() / 1000;
    if (parsed(head).alg !== 'RS256' || iss !== APP_ID || !verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url')))
      return 'A JSON web token could not be decoded';
    if (!(Number(iat) <= seconds)) return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
    if (!(Number(exp) > seconds)) return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
    return Number(exp) - seconds > 600 ? "'Expiration time' claim ('exp') is too far in the future" : null;
  };

  return {
    credentials: { app_id: APP_ID, installation_id: INSTALLATION_ID, private_key: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString() },
    answer({ method, url, headers }) {
      const [, installation] = /^(?:\/api\/v3)?\/app\/installations\/(\d+)\/access_tokens$/.exec(url.pathname) ?? [];
      if (method !== 'POST' || installation === undefined) return null;
      const message = refusal(headers.authorization?.replace(/^Bearer /, '') ?? '');
      if (message !== null) return answer(401, { message });
      if (installation !== INSTALLATION_ID) return answer(404, { message: 'Not Found' });
      const token = `ghs_${randomBytes(18).toString('hex')}`;
      tokens.set(token, now() + 3_600_000);
      return answer(201, { token, expires_at: new Date(now() + 3_600_000).toISOString() });
    },
    isValid: (authorization = '') => (tokens.get(authorization.replace(/^Bearer /, '')) ?? 0) > now(),
    revoke: () => tokens.clear(),
  };
}
