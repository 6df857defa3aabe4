import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { AppError } from '../../shared/errors.ts';

/** What the discovery document says, and the keys, which are fetched again when a token has an unknown one. */
export interface Issuer {
  issuer: string;
  keys: ReturnType<typeof createRemoteJWKSet>;
  authorizationEndpoint: string | null;
  tokenEndpoint: string | null;
  tokenAuthMethods: readonly string[];
  /** Whether every authorization response names its issuer (RFC 9207). */
  namesItself: boolean;
}

export type OpenIssuer = () => Promise<Issuer>;

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
/** The issuer's keys could not be read, so nothing can be said about the token. */
const KEYS_UNREADABLE = new Set([errors.JWKSTimeout.code, errors.JWKSInvalid.code, errors.JOSEError.code]);
export const ISSUER_TIMEOUT_MS = 5_000;

/** Reads the discovery document once, and again after a failure. */
export function openIssuer(configured: string): OpenIssuer {
  let discovered: Promise<Issuer> | undefined;
  return () => {
    discovered ??= discover(configured).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  };
}

/** Returns `null` if the token is invalid, and fails if the issuer cannot be reached. */
export async function verifyToken(open: OpenIssuer, token: string, expected: JWTVerifyOptions): Promise<JWTPayload | null> {
  try {
    const { issuer, keys } = await open();
    const { payload } = await jwtVerify(token, keys, { ...expected, issuer, algorithms: ALGORITHMS, clockTolerance: 5 });
    return payload;
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (error instanceof errors.JOSEError && !KEYS_UNREADABLE.has(error.code)) return null;
    throw unreachable(error);
  }
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Tokens carry the issuer exactly as the discovery document spells it, with or without a trailing slash. */
async function discover(configured: string): Promise<Issuer> {
  try {
    const response = await fetch(`${withoutSlash(configured)}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS) });
    const document = (await response.json()) as Record<string, unknown>;
    const { issuer, jwks_uri, token_endpoint_auth_methods_supported: methods } = document;
    if (typeof issuer !== 'string' || withoutSlash(issuer) !== withoutSlash(configured) || typeof jwks_uri !== 'string')
      throw new Error(`the discovery document of ${configured} has a different issuer or no jwks_uri`);
    return {
      issuer,
      keys: createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: ISSUER_TIMEOUT_MS }),
      authorizationEndpoint: textOf(document.authorization_endpoint),
      tokenEndpoint: textOf(document.token_endpoint),
      // The default of OpenID Connect Discovery.
      tokenAuthMethods: Array.isArray(methods) ? methods.map(String) : ['client_secret_basic'],
      namesItself: document.authorization_response_iss_parameter_supported === true,
    };
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(cause: unknown): AppError {
  return new AppError(
    'unavailable',
    'The identity provider cannot be reached, so the access token cannot be verified. Retry in a few seconds, or use an API key.',
    {
      cause,
      headers: { 'retry-after': '5' },
    },
  );
}
