import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const CLIENT = { id: 'rrs-console', secret: 'a secret of the tests' };

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

/**
 * An OpenID Connect provider as a site of its own: discovery, a page on which a person signs in or refuses, a token endpoint that checks the client, the code,
 * the redirect URI and PKCE, and the key of its tokens.
 */
export async function startIdentityProvider(person: { email: string; name: string }) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const codes = new Map<string, URLSearchParams>();
  let who = person;

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const idToken = (nonce: string | null): string => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: CLIENT.id, sub: `subject of ${who.email}`, iat: now, exp: now + 60, nonce, ...who, email_verified: true };
    const signed = `${part({ alg: 'ES256', kid: 'one', typ: 'JWT' })}.${part(claims)}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  };
  const backTo = (query: URLSearchParams, answer: Record<string, string>): string => {
    const target = new URL(query.get('redirect_uri') ?? '');
    for (const [name, value] of Object.entries({ ...answer, state: query.get('state') ?? '', iss: issuer })) target.searchParams.set(name, value);
    return target.href.replaceAll('&', '&amp;');
  };
  const page = (query: URLSearchParams): string => {
    const code = randomBytes(16).toString('hex');
    codes.set(code, query);
    return `<!doctype html><html lang="en"><title>Example ID</title><link rel="icon" href="data:,"><h1>Example ID</h1>
      <p><a href="${backTo(query, { code })}">Continue as ${who.name}</a></p><p><a href="${backTo(query, { error: 'access_denied' })}">Refuse</a></p></html>`;
  };
  const exchange = (form: URLSearchParams, authorization = ''): object | null => {
    const [id, secret] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent);
    const query = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const isProven = query?.get('code_challenge') === hash('sha256', form.get('code_verifier') ?? '', 'base64url');
    const isOwn = id === CLIENT.id && secret === CLIENT.secret && query?.get('redirect_uri') === form.get('redirect_uri');
    return query !== undefined && isProven && isOwn ? { token_type: 'Bearer', access_token: 'for nobody', id_token: idToken(query.get('nonce')) } : null;
  };

  const server = createServer(async (request, response) => {
    const json = (body: object, status = 200): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const url = new URL(request.url ?? '', issuer);
    if (url.pathname === '/authorize') response.setHeader('content-type', 'text/html').end(page(url.searchParams));
    else if (url.pathname === '/jwks') json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' }] });
    else if (url.pathname === '/token') {
      const answer = exchange(new URLSearchParams(await text(request)), request.headers.authorization);
      json(answer ?? { error: 'invalid_grant' }, answer === null ? 400 : 200);
    } else
      json({
        issuer,
        jwks_uri: `${issuer}/jwks`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
        authorization_response_iss_parameter_supported: true,
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    /** As the console names it. */
    name: new URL(issuer).host,
    settings: { RRS_OIDC_ISSUER: issuer, RRS_OIDC_CLIENT_ID: CLIENT.id, RRS_OIDC_CLIENT_SECRET: CLIENT.secret },
    /** Who is signed in at the provider. */
    as(other: { email: string; name: string }): void {
      who = other;
    },
    close: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
}
