import { type Bytes, concat } from '@rrs/evidence-format';

export interface Curve {
  name: 'P-256' | 'P-384';
  /** Length of a coordinate in bytes. */
  size: number;
  order: bigint;
}

export const P256: Curve = { name: 'P-256', size: 32, order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n };
export const P384: Curve = {
  name: 'P-384',
  size: 48,
  order: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
};

/**
 * Converts an ECDSA signature from DER to the fixed-length r and s that WebCrypto expects. Returns null for anything but strict DER with
 * numbers from 1 to the order minus 1.
 *
 * Both possible values of s are accepted, as in openssl and cosign, because signers may produce either. This does not allow a signature over
 * other bytes, and the log entry and the timestamp pin the exact signature of a package.
 */
export function rawSignature(der: Uint8Array, { size, order }: Curve): Bytes | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || der.length > 129) return null;
  const r = readInteger(der, 2);
  if (r === null) return null;
  const s = readInteger(der, r.end);
  if (s === null || s.end !== der.length) return null;
  if ([r, s].some(({ value }) => value === 0n || value >= order)) return null;
  return concat(padded(r.bytes, size), padded(s.bytes, size));
}

function readInteger(der: Uint8Array, start: number): { bytes: Uint8Array; value: bigint; end: number } | null {
  const length = der[start + 1];
  if (der[start] !== 0x02 || length === undefined || length === 0) return null;
  const end = start + 2 + length;
  const content = der.subarray(start + 2, end);
  const [first = 0, second = 0] = content;
  const negative = first >= 0x80;
  const padding = length > 1 && first === 0 && second < 0x80;
  if (end > der.length || negative || padding) return null;
  const bytes = first === 0 ? content.subarray(1) : content;
  return { bytes, value: bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n), end };
}

function padded(bytes: Uint8Array, size: number): Uint8Array {
  const result = new Uint8Array(size);
  result.set(bytes, size - bytes.length);
  return result;
}
