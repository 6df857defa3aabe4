import { withoutHidden } from '@rrs/evidence-format';
import type { JWTPayload } from 'jose';
import { type Role, roles } from '../../shared/permissions.ts';
import { type OpenIssuer, verifyToken } from './issuer.ts';

export interface OidcOptions {
  open: OpenIssuer;
  audience: string;
  organizationClaim: string;
  roleClaim: string;
  /** The claim that says whether the provider has verified the e-mail address. */
  emailVerifiedClaim: string;
}

/** A person as the identity provider knows them. Only the subject never changes hands. */
export interface Identity {
  issuer: string;
  subject: string;
  name: string;
  /** Null unless the provider has verified the address. */
  email: string | null;
}

interface AccessTokenClaims extends Identity {
  organization: string;
  role: Role | null;
  expiresAt: Date | null;
}

/** Returns `null` if the token is not valid for this service. */
export type VerifyAccessToken = (token: string) => Promise<AccessTokenClaims | null>;

export function createAccessTokenVerifier(options: OidcOptions): VerifyAccessToken {
  return async (token) => {
    const payload = await verifyToken(options.open, token, { audience: options.audience, requiredClaims: ['exp', 'sub'] });
    return payload && !isIdToken(payload) ? readClaims(payload, options) : null;
  };
}

/** Threat: an ID token tells a client who signed in. Any client of the provider receives some, so it must not give access to the API. */
function isIdToken({ nonce, at_hash, c_hash, typ }: JWTPayload): boolean {
  return nonce !== undefined || at_hash !== undefined || c_hash !== undefined || typ === 'ID';
}

/** Threat: a provider may let people enter any e-mail address. Unless the provider has verified it, it says nothing about who they are. */
export function identityOf(payload: JWTPayload, { emailVerifiedClaim }: Pick<OidcOptions, 'emailVerifiedClaim'>): Identity | null {
  const { iss, sub } = payload;
  if (iss === undefined || sub === undefined) return null;
  const email = typeof payload.email === 'string' && isVerified(payload, emailVerifiedClaim) ? payload.email : null;
  const names = [payload.name, payload.preferred_username, email, sub].map((candidate) =>
    typeof candidate === 'string' ? withoutHidden(candidate.slice(0, 200)) : '',
  );
  return { issuer: iss, subject: sub, name: names.find((name) => name !== '') ?? 'unnamed', email };
}

/** Providers write their own claims in different ways, such as Entra ID `xms_edov`. A provider that says that it has not verified the address is believed. */
function isVerified(payload: JWTPayload, claim: string): boolean {
  if (claim === 'email_verified') return payload.email_verified === true;
  return payload.email_verified !== false && [true, 'true', 1, '1'].some((value) => value === payload[claim]);
}

/** A token whose role claim contains no known role is refused. A token without a role claim takes the role of the member it names. */
function readClaims(payload: JWTPayload, options: OidcOptions): AccessTokenClaims | null {
  const identity = identityOf(payload, options);
  const organization = payload[options.organizationClaim];
  const claimed = [payload[options.roleClaim] ?? []].flat();
  const role = roles.find((known) => claimed.includes(known)) ?? null;
  if (identity === null || typeof organization !== 'string' || (claimed.length > 0 && role === null)) return null;
  return { ...identity, organization, role, expiresAt: payload.exp === undefined ? null : new Date(payload.exp * 1000) };
}
