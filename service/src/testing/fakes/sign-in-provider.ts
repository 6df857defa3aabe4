import { hash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

interface Grant {
  clientId: string;
  redirectUri: string;
  challenge: string;
  nonce: string;
}

/** What the provider does differently from a correct one. */
export interface Behaviour {
  /** Claims of the ID token, in addition to the required ones or instead of them. `undefined` omits a claim. */
  claims?: Record<string, unknown>;
  /** Parameters of the authorization response. `undefined` omits one. */
  response?: Record<string, string | undefined>;
  /** Another key than the published one. */
  key?: CryptoKey;
  /** Instead of the response of the token endpoint. */
  token?: { status: number; body: string };
}

export type SignInProvider = Awaited<ReturnType<typeof startSignInProvider>>;

export const CLIENT = { id: 'rrs console', secret: 'a secret: with / special + characters' };

/**
 * An OpenID Connect provider over HTTP: discovery, JWKS, authorization endpoint and token endpoint. It checks what a strict one checks: the client's
 * authentication, PKCE, the redirect URI, and that a code is used once. `as` says who signs in and how it misbehaves.
 */
export async function startSignInProvider({ namesItself = true, authMethod = 'client_secret_basic', isPublic = false } = {}) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', alg: 'ES256' };
  const codes = new Map<string, Grant & { behaviour: Behaviour }>();
  const requests: string[] = [];
  let behaviour: Behaviour = {};

  const server = createServer(async (request, response) => {
    const json = (status: number, body: object): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const url = new URL(request.url ?? '', issuer);
    requests.push(url.pathname);
    if (url.pathname === '/.well-known/openid-configuration')
      return json(200, {
        issuer,
        jwks_uri: `${issuer}/jwks`,
        authorization_endpoint: `${issuer}/authorize?tenant=one`,
        token_endpoint: `${issuer}/token`,
        token_endpoint_auth_methods_supported: [authMethod],
        authorization_response_iss_parameter_supported: namesItself,
      });
    if (url.pathname === '/jwks') return json(200, { keys: [jwk] });
    if (url.pathname === '/authorize') return void response.writeHead(302, { location: authorize(url.searchParams) }).end();
    const form = new URLSearchParams(await text(request));
    const { status, body } = await exchange(form, request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const issuer = `http://127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}`;

  function authorize(query: URLSearchParams): string {
    const given = (name: string): string => query.get(name) ?? '';
    const isCorrect = given('response_type') === 'code' && given('code_challenge_method') === 'S256' && given('scope').split(' ').includes('openid');
    if (!isCorrect || given('client_id') !== CLIENT.id || given('tenant') !== 'one') throw new Error(`the authorization request is not correct: ${query}`);
    const code = randomBytes(16).toString('hex');
    codes.set(code, { clientId: CLIENT.id, redirectUri: given('redirect_uri'), challenge: given('code_challenge'), nonce: given('nonce'), behaviour });
    const target = new URL(given('redirect_uri'));
    const parameters = { code, state: given('state'), ...(namesItself ? { iss: issuer } : {}), session_state: 'of the provider', ...behaviour.response };
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) target.searchParams.set(name, value);
    return target.href;
  }

  async function exchange(form: URLSearchParams, authorization: string | undefined): Promise<{ status: number; body: string }> {
    const [id, secret] = Buffer.from((authorization ?? '').replace(/^Basic /, ''), 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent);
    const [clientId, clientSecret] = authMethod === 'client_secret_basic' && !isPublic ? [id, secret] : [form.get('client_id'), form.get('client_secret')];
    const refuse = (error: string) => ({ status: error === 'invalid_client' ? 401 : 400, body: JSON.stringify({ error }) });
    if (clientId !== CLIENT.id || clientSecret !== (isPublic ? null : CLIENT.secret)) return refuse('invalid_client');
    const grant = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const proof = hash('sha256', form.get('code_verifier') ?? '', 'base64url');
    if (!grant || form.get('grant_type') !== 'authorization_code' || grant.redirectUri !== form.get('redirect_uri') || grant.challenge !== proof)
      return refuse('invalid_grant');
    if (grant.behaviour.token) return grant.behaviour.token;
    const now = Math.floor(Date.now() / 1000);
    const payload = { iss: issuer, aud: CLIENT.id, sub: 'nobody', iat: now, exp: now + 60, nonce: grant.nonce, ...grant.behaviour.claims };
    const id_token = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(grant.behaviour.key ?? privateKey);
    return { status: 200, body: JSON.stringify({ token_type: 'Bearer', access_token: 'for nobody', id_token }) };
  }

  return {
    issuer,
    requests,
    /** Who signs in next, and what goes wrong. */
    as(claims: Record<string, unknown>, other: Omit<Behaviour, 'claims'> = {}): void {
      behaviour = { claims, ...other };
    },
    settings: {
      RRS_OIDC_ISSUER: issuer,
      RRS_OIDC_CLIENT_ID: CLIENT.id,
      ...(isPublic ? {} : { RRS_OIDC_CLIENT_SECRET: CLIENT.secret }),
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
