import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { AppError } from '../shared/errors.ts';
import { type Role, roles } from '../shared/permissions.ts';

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

/** `null`: the token is not valid for us. */
export type VerifyAccessToken = (token: string) => Promise<AccessTokenClaims | null>;

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const TIMEOUT_MS = 5_000;

export function createAccessTokenVerifier(options: OidcOptions): VerifyAccessToken {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;
  const keySet = () => {
    keys ??= discover(options.issuer).catch((error: unknown) => {
      keys = undefined;
      throw error;
    });
    return keys;
  };
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, await keySet(), {
        issuer: options.issuer,
        audience: options.audience,
        algorithms: ALGORITHMS,
        clockTolerance: 5,
        requiredClaims: ['exp', 'sub'],
      });
      return readClaims(payload, options);
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) return null;
      throw unreachable(error);
    }
  };
}

async function discover(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
  try {
    const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const metadata = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (metadata.issuer !== issuer || typeof metadata.jwks_uri !== 'string')
      throw new Error(`the discovery document of ${issuer} names another issuer or no keys`);
    return createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: TIMEOUT_MS });
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(cause: unknown): AppError {
  return new AppError('unavailable', 'The identity provider does not answer, so the access token cannot be checked. Try again shortly, or use an API key.', {
    cause,
    headers: { 'retry-after': '5' },
  });
}

/** Claims are what the issuer says; an unknown role counts as none given wrongly, and the token is refused. */
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
