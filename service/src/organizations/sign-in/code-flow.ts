import { hash, randomBytes } from 'node:crypto';
import { messageOf } from '../../shared/errors.ts';
import { keyFor, seal, unseal } from '../../shared/sealed.ts';
import { ISSUER_TIMEOUT_MS, type Issuer, type OpenIssuer, verifyToken } from './issuer.ts';
import { type Identity, identityOf } from './oidc.ts';

/** How the service signs people in at the identity provider: as a client with the authorization code flow and PKCE (RFC 9700, OpenID Connect Core). */
export interface CodeFlowOptions {
  open: OpenIssuer;
  clientId: string;
  clientSecret: string | null;
  scopes: string;
  organizationClaim: string;
  emailVerifiedClaim: string;
  secret: Buffer;
  redirectUri: () => string;
}

/** What the browser keeps between start and callback, sealed: it proves that the same browser started this sign-in. */
interface Attempt {
  state: string;
  nonce: string;
  verifier: string;
  next: string;
  organization: string | null;
  startedAt: number;
}

/** Why a sign-in failed, for the sign-in page. */
export type SignInError = 'expired' | 'denied' | 'invalid_response' | 'provider_unavailable' | 'no_member' | 'email_not_verified' | 'choose_organization';

export class SignInFailed extends Error {
  readonly code: SignInError;
  constructor(code: SignInError, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface SignedInIdentity extends Identity {
  /** The organization that the token names, or else the one that the person chose. */
  organization: string | null;
  /** Whether the token has an e-mail address that the provider has not verified. */
  hasUnverifiedEmail: boolean;
}

export const ATTEMPT_SECONDS = 600;
const random = (): string => randomBytes(32).toString('base64url');
const MAX_RESPONSE = 1_000_000;

export type CodeFlow = ReturnType<typeof createCodeFlow>;

export function createCodeFlow(options: CodeFlowOptions) {
  const key = keyFor('OpenID Connect sign-in', options.secret);

  return {
    /** Returns where to send the browser, and the value of the cookie that it must bring back. */
    async start({ next, organization }: { next: string; organization: string | null }): Promise<{ url: string; attempt: string }> {
      const { authorizationEndpoint } = await discovered(options.open);
      const attempt: Attempt = { state: random(), nonce: random(), verifier: random(), next, organization, startedAt: Date.now() };
      const url = new URL(authorizationEndpoint);
      for (const [name, value] of Object.entries({
        response_type: 'code',
        client_id: options.clientId,
        redirect_uri: options.redirectUri(),
        scope: options.scopes,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: hash('sha256', attempt.verifier, 'base64url'),
        code_challenge_method: 'S256',
      }))
        url.searchParams.set(name, value);
      return { url: url.href, attempt: seal(key, JSON.stringify(attempt)).toString('base64url') };
    },

    /** The attempt that the cookie contains, or `null` if this service did not write it or it is too old. */
    open(cookie: string | undefined): Attempt | null {
      if (cookie === undefined) return null;
      try {
        const attempt: Attempt = JSON.parse(unseal(key, Buffer.from(cookie, 'base64url')));
        return Date.now() - attempt.startedAt <= ATTEMPT_SECONDS * 1_000 ? attempt : null;
      } catch {
        return null;
      }
    },

    /** Exchanges the code of the callback for an identity. */
    async finish(attempt: Attempt, callback: Callback): Promise<SignedInIdentity> {
      const issuer = await discovered(options.open);
      assertOwnResponse(attempt, callback, issuer);
      if (callback.code === undefined) throw new SignInFailed('invalid_response', 'the response has neither a code nor an error');
      const token = await exchange(options, issuer, callback.code, attempt.verifier);
      const payload = await verifyToken(options.open, token, { audience: options.clientId, requiredClaims: ['exp', 'iat', 'sub', 'nonce'] });
      // A nonce of another sign-in means that the code or the token was taken from there.
      if (payload === null || payload.nonce !== attempt.nonce)
        throw new SignInFailed('invalid_response', 'the ID token is invalid or belongs to another sign-in');
      if ([payload.aud].flat().length > 1 && payload.azp !== options.clientId)
        throw new SignInFailed('invalid_response', 'the ID token was issued to another client');
      const identity = identityOf(payload, options);
      if (identity === null) throw new SignInFailed('invalid_response', 'the ID token names nobody');
      const claimed = payload[options.organizationClaim];
      return {
        ...identity,
        organization: typeof claimed === 'string' ? claimed : attempt.organization,
        hasUnverifiedEmail: typeof payload.email === 'string' && identity.email === null,
      };
    },
  };
}

export interface Callback {
  state?: string | undefined;
  code?: string | undefined;
  iss?: string | undefined;
  error?: string | undefined;
  error_description?: string | undefined;
}

/** Threat: another site sends the browser here with a code of its own (login CSRF), or a response of another provider (mix-up, RFC 9207). */
function assertOwnResponse(attempt: Attempt, callback: Callback, { issuer, namesItself }: Issuer): void {
  if (callback.state !== attempt.state) throw new SignInFailed('expired', 'the response belongs to another sign-in');
  if (callback.iss === undefined ? namesItself : callback.iss !== issuer) throw new SignInFailed('invalid_response', 'the response is from another issuer');
  if (callback.error === undefined) return;
  const isDenied = callback.error === 'access_denied';
  throw new SignInFailed(
    isDenied ? 'denied' : 'invalid_response',
    `the identity provider responded ${callback.error}: ${callback.error_description ?? 'no description'}`,
  );
}

async function discovered(open: OpenIssuer): Promise<Issuer & { authorizationEndpoint: string; tokenEndpoint: string }> {
  const issuer = await open().catch((error: unknown) => {
    throw new SignInFailed('provider_unavailable', 'the discovery document of the identity provider cannot be read', error);
  });
  const { authorizationEndpoint, tokenEndpoint } = issuer;
  if (authorizationEndpoint === null || tokenEndpoint === null)
    throw new SignInFailed('provider_unavailable', 'the discovery document has no authorization_endpoint or token_endpoint');
  return { ...issuer, authorizationEndpoint, tokenEndpoint };
}

async function exchange(options: CodeFlowOptions, issuer: Issuer & { tokenEndpoint: string }, code: string, verifier: string): Promise<string> {
  const { clientId, clientSecret, redirectUri } = options;
  const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri(), code_verifier: verifier });
  const headers: Record<string, string> = { accept: 'application/json' };
  const inBody = clientSecret === null || !issuer.tokenAuthMethods.includes('client_secret_basic');
  if (inBody) body.set('client_id', clientId);
  if (clientSecret !== null && inBody) body.set('client_secret', clientSecret);
  if (clientSecret !== null && !inBody)
    headers.authorization = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`;
  try {
    const response = await fetch(issuer.tokenEndpoint, { method: 'POST', body, headers, redirect: 'error', signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS) });
    const text = (await response.text()).slice(0, MAX_RESPONSE);
    if (response.status >= 500) throw new SignInFailed('provider_unavailable', `the token endpoint responded ${response.status}`);
    const answer = JSON.parse(text) as { id_token?: unknown; error?: unknown; error_description?: unknown };
    if (response.ok && typeof answer.id_token === 'string') return answer.id_token;
    throw new SignInFailed(
      'invalid_response',
      `the token endpoint responded ${response.status}: ${String(answer.error ?? 'no id_token')} ${String(answer.error_description ?? '')}`.trim(),
    );
  } catch (error) {
    if (error instanceof SignInFailed) throw error;
    throw new SignInFailed('provider_unavailable', `the token endpoint cannot be used (${messageOf(error)})`, error);
  }
}
