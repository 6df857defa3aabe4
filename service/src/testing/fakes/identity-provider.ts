import { createServer, type Server } from 'node:http';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { type Adapter, Provider } from 'oidc-provider';

export const AUDIENCE = 'https://rrs.example.com/api';

export interface IdentityProvider {
  readonly issuer: string;
  readonly publicJwk: JWK;
  /** Requests an access token over HTTP, with these claims added. */
  token(claims: Record<string, unknown>, options?: { audience?: string }): Promise<string>;
  /** Signs a token with the provider's key without asking the provider. `null` omits a claim. */
  forge(claims: Record<string, unknown>, header?: Record<string, string>, key?: CryptoKey | Uint8Array): Promise<string>;
  /** Restarts the provider with another key. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

async function newKey() {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' };
  return { privateKey, publicJwk: await exportJWK(publicKey), jwk: { ...jwk, kid: await calculateJwkThumbprint(jwk) } };
}

const nothing = async (): Promise<undefined> => undefined;
/** The tokens are self-contained, so nothing needs to be stored. */
const noStore: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** Starts `oidc-provider` on a loopback port, with a client that gets access tokens for the service's audience. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  let extra: Record<string, unknown> = {};
  let key = await newKey();
  const server = createServer();
  await listen(server, 0);
  const bound = server.address();
  const port = bound !== null && typeof bound === 'object' ? bound.port : 0;
  const issuer = `http://127.0.0.1:${port}`;
  const client = { client_id: 'pipeline', client_secret: 'a secret of the pipeline and its provider' };

  const answer = (): ReturnType<Provider['callback']> =>
    new Provider(issuer, {
      clients: [{ ...client, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
      jwks: { keys: [key.jwk] },
      cookies: { keys: ['not used here'] },
      adapter: () => noStore,
      ttl: { ClientCredentials: 600 },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx, resource) => ({ scope: 'api', audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
        },
      },
      extraTokenClaims: () => extra,
    }).callback();
  server.on('request', answer());

  return {
    issuer,
    get publicJwk() {
      return key.publicJwk;
    },
    async token(claims, { audience = AUDIENCE } = {}) {
      extra = claims;
      const response = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${client.client_id}:${encodeURIComponent(client.client_secret)}`)}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: audience, scope: 'api' }),
      });
      const { access_token } = (await response.json()) as { access_token?: string };
      if (access_token === undefined) throw new Error(`the provider issued no token: ${response.status}`);
      return access_token;
    },
    async forge(claims, header = {}, signingKey = key.privateKey) {
      const now = Math.floor(Date.now() / 1000);
      const payload = { iss: issuer, aud: AUDIENCE, sub: 'pipeline', iat: now, exp: now + 600, ...claims };
      const given = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== null)) as JWTPayload;
      return new SignJWT(given).setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid, ...header }).sign(signingKey);
    },
    async restart() {
      await close(server);
      server.removeAllListeners('request');
      key = await newKey();
      server.on('request', answer());
      await listen(server, port);
    },
    stop: () => close(server),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
