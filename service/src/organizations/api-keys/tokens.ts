import { hash, randomBytes } from 'node:crypto';
import { uuidFromBytes, uuidToBytes } from '../../shared/ids.ts';

/**
 * A token consists of 32 random bytes and the id of its organization, so that it can be looked up within one tenant.
 * It is stored as a SHA-256 hash. Its entropy makes a slow hash unnecessary.
 */
const SECRET_BYTES = 32;
const PREFIX_LENGTH = 12;
/** API keys, sessions, share links, invitations and setup keys. */
const FORMS = {
  rrs: /^rrs_([\w-]{64})$/,
  ses: /^ses_([\w-]{64})$/,
  shr: /^shr_([\w-]{64})$/,
  inv: /^inv_([\w-]{64})$/,
  stp: /^stp_([\w-]{64})$/,
} as const;
type TokenKind = keyof typeof FORMS;

export interface MintedToken {
  token: string;
  hash: Buffer;
  /** The first characters, to tell keys apart in a list. */
  prefix: string;
}

export function mintToken(kind: TokenKind, orgId: string): MintedToken {
  return describeToken(`${kind}_${Buffer.concat([randomBytes(SECRET_BYTES), uuidToBytes(orgId)]).toString('base64url')}`);
}

export function describeToken(token: string): MintedToken {
  return { token, hash: hashToken(token), prefix: token.slice(0, PREFIX_LENGTH) };
}

export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** The organization id in a token. It is controlled by the sender, so it may only select where to look for the hash. */
export function organizationOf(kind: TokenKind, token: string): string | null {
  const encoded = FORMS[kind].exec(token)?.[1];
  return encoded === undefined ? null : uuidFromBytes(Buffer.from(encoded, 'base64url').subarray(SECRET_BYTES));
}
