import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Outbound } from '../net/request.ts';
import { AppError, messageOf } from '../shared/errors.ts';

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const TIMEOUT_MS = 5_000;
const MOST_BYTES = 2 ** 20;
/** A key that is not known is looked for again, but not for every forged token. */
const COOLDOWN_MS = 30_000;
/** A key that the issuer withdrew is trusted for so long. */
const KEYS_MAX_AGE_MS = 600_000;
const DISCOVERY_MAX_AGE_MS = 3_600_000;
/** Pipelines get their token when they start, so an old one was probably stolen. */
const MOST_HOURS = 24;
const MOST_ISSUERS = 1_000;

type Keys = ReturnType<typeof createRemoteJWKSet>;

export interface Issuers {
  /** The claims of a token of the issuer for the audience. Null if the token is not valid. */
  verify(token: string, expected: { issuer: string; audience: string }): Promise<JWTPayload | null>;
}

/** Reads the keys of issuers that organizations trust. Threat: the address comes from a user, so requests go through the address guard. */
export function createIssuers(outbound: Outbound): Issuers {
  const known = new Map<string, { keys: Promise<Keys>; until: number }>();
  const keysOf = (issuer: string): Promise<Keys> => {
    const found = known.get(issuer);
    if (found && found.until > Date.now()) return found.keys;
    if (known.size >= MOST_ISSUERS) known.clear();
    const keys = discover(outbound, issuer);
    known.set(issuer, { keys, until: Date.now() + DISCOVERY_MAX_AGE_MS });
    keys.catch(() => known.delete(issuer));
    return keys;
  };
  return {
    async verify(token, { issuer, audience }) {
      const keys = await keysOf(issuer).catch((error: unknown) => {
        throw unreachable(issuer, error);
      });
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          clockTolerance: 5,
          maxTokenAge: `${MOST_HOURS}h`,
          requiredClaims: ['exp', 'iat', 'sub'],
        });
        // Several audiences would let another recipient of the token use it here.
        return payload.aud === audience || (Array.isArray(payload.aud) && payload.aud.length === 1) ? payload : null;
      } catch (error) {
        if (error instanceof KeysUnreadable) throw unreachable(issuer, error);
        if (error instanceof errors.JOSEError && error.code !== errors.JWKSTimeout.code && error.code !== errors.JWKSInvalid.code) return null;
        throw unreachable(issuer, error);
      }
    },
  };
}

class KeysUnreadable extends Error {}

async function discover(outbound: Outbound, issuer: string): Promise<Keys> {
  const read = async (url: URL): Promise<Response> => {
    assertSafe(url);
    const { status, body } = await outbound.send({ method: 'GET', url, headers: { accept: 'application/json' }, timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES });
    if (status !== 200) throw new KeysUnreadable(`${url} returned status ${status}`);
    return new Response(new Uint8Array(body), { headers: { 'content-type': 'application/json' } });
  };
  const document = await read(new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`));
  const { issuer: stated, jwks_uri } = (await document.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (stated !== issuer) throw new KeysUnreadable(`its discovery document names another issuer`);
  if (typeof jwks_uri !== 'string' || !URL.canParse(jwks_uri)) throw new KeysUnreadable('its discovery document has no jwks_uri');
  return createRemoteJWKSet(new URL(jwks_uri), {
    cooldownDuration: COOLDOWN_MS,
    cacheMaxAge: KEYS_MAX_AGE_MS,
    [customFetch]: (url) =>
      read(new URL(url)).catch((error: unknown) => {
        throw error instanceof KeysUnreadable ? error : new KeysUnreadable(messageOf(error));
      }),
  });
}

/** Without TLS, whoever is in between can sign tokens. Loopback addresses are for tests, and only reached if the operator allows them. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && (hostname === '127.0.0.1' || hostname === '[::1]'));
}

function assertSafe(url: URL): void {
  if (!isSafe(url)) throw new KeysUnreadable(`${url} is not an https address`);
}

function unreachable(issuer: string, cause: unknown): AppError {
  return new AppError(
    'unavailable',
    `The keys of the issuer ${issuer} cannot be read (${messageOf(cause)}), so the token of the pipeline cannot be verified. Retry in a few seconds, or use an API key.`,
    { cause, headers: { 'retry-after': '5' } },
  );
}

/** What a token says about itself, without any proof. */
export function readUnverified(token: string): { issuer: string; audience: string } | null {
  try {
    const { iss, aud } = decodeJwt(token);
    const [audience, another] = [aud ?? []].flat();
    return iss !== undefined && audience !== undefined && another === undefined ? { issuer: iss, audience } : null;
  } catch {
    return null;
  }
}
