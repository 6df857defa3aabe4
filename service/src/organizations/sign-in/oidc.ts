import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { AppError } from '../../shared/errors.ts';
import { type Role, roles } from '../../shared/permissions.ts';

export interface OidcOptions {
  issuer: string;
  audience: string;
  organizationClaim: string;
  roleClaim: string;
}

interface AccessTokenClaims {
  subject: string;
  name: string;
  email: string | null;
  organization: string;
  role: Role | null;
  expiresAt: Date | null;
}

/** Returns `null` if the token is not valid for this service. */
export type VerifyAccessToken = (token: string) => Promise<AccessTokenClaims | null>;

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
/** The issuer's keys could not be read, so nothing can be said about the token. */
const KEYS_UNREADABLE = new Set([errors.JWKSTimeout.code, errors.JWKSInvalid.code, errors.JOSEError.code]);
const TIMEOUT_MS = 5_000;

export function createAccessTokenVerifier(options: OidcOptions): VerifyAccessToken {
  let discovered: Promise<Issuer> | undefined;
  const issuerAndKeys = () => {
    discovered ??= discover(options.issuer).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  };
  return async (token) => {
    try {
      const { issuer, keys } = await issuerAndKeys();
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: options.audience,
        algorithms: ALGORITHMS,
        clockTolerance: 5,
        requiredClaims: ['exp', 'sub'],
      });
      return readClaims(payload, options);
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (error instanceof errors.JOSEError && !KEYS_UNREADABLE.has(error.code)) return null;
      throw unreachable(error);
    }
  };
}

interface Issuer {
  issuer: string;
  keys: ReturnType<typeof createRemoteJWKSet>;
}

const withoutSlash = (url: string): string => url.replace(/\/$/, '');

/** Tokens carry the issuer exactly as the discovery document spells it, with or without a trailing slash. */
async function discover(configured: string): Promise<Issuer> {
  try {
    const response = await fetch(`${withoutSlash(configured)}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { issuer, jwks_uri } = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (typeof issuer !== 'string' || withoutSlash(issuer) !== withoutSlash(configured) || typeof jwks_uri !== 'string')
      throw new Error(`the discovery document of ${configured} has a different issuer or no jwks_uri`);
    return { issuer, keys: createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: TIMEOUT_MS }) };
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

/** A token whose role claim contains no known role is refused. A token without a role claim takes the role of the member it names. */
function readClaims(payload: JWTPayload, options: OidcOptions): AccessTokenClaims | null {
  const organization = payload[options.organizationClaim];
  const claimed = [payload[options.roleClaim] ?? []].flat();
  const role = roles.find((known) => claimed.includes(known)) ?? null;
  if (typeof organization !== 'string' || payload.sub === undefined || (claimed.length > 0 && role === null)) return null;
  const email = typeof payload.email === 'string' && payload.email_verified !== false ? payload.email : null;
  const name = [payload.name, payload.preferred_username, email, payload.sub].find((candidate) => typeof candidate === 'string');
  return {
    subject: payload.sub,
    name: String(name).slice(0, 200),
    email,
    organization,
    role,
    expiresAt: payload.exp === undefined ? null : new Date(payload.exp * 1000),
  };
}
