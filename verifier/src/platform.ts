import { crc32, createSha256, type Hasher } from '@rrs/evidence-format';

/** Node and browsers differ only in their fastest hash functions. Both verify signatures with WebCrypto. */
export interface Platform {
  sha256(): Hasher;
  crc32(bytes: Uint8Array, previous?: number): number;
  subtle: Subtle;
}

export type Subtle = typeof globalThis.crypto.subtle;

export function browserPlatform(): Platform {
  return { sha256: createSha256, crc32, subtle: globalThis.crypto.subtle };
}
