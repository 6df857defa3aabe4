import { assertFormat, FormatError } from './errors.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** Throws on invalid UTF-8. Keeps a byte order mark in the text. */
export function fromUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new FormatError('not UTF-8');
  }
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Accepts lower case only, so that each value has exactly one encoding. */
export function fromHex(text: string): Bytes {
  assertFormat(text.length % 2 === 0 && /^[0-9a-f]*$/.test(text), 'not lower-case hexadecimal');
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => Number.parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SEXTETS = new Int8Array(128).fill(-1);
for (let value = 0; value < 64; value++) SEXTETS[ALPHABET.charCodeAt(value)] = value;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const group = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += ALPHABET[group >> 18];
    text += ALPHABET[(group >> 12) & 63];
    text += left > 1 ? ALPHABET[(group >> 6) & 63] : '=';
    text += left > 2 ? ALPHABET[group & 63] : '=';
  }
  return text;
}

/** RFC 4648 section 4. Requires padding and zero trailing bits, so that each value has exactly one encoding. */
export function fromBase64(text: string): Bytes {
  assertFormat(text.length % 4 === 0, 'the base64 text has a wrong length');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const last = text.length - padding;
  let group = 0;
  let bits = 0;
  let written = 0;
  for (let at = 0; at < last; at++) {
    const sextet = SEXTETS[text.charCodeAt(at)] ?? -1;
    assertFormat(sextet >= 0, 'not base64');
    group = ((group << 6) | sextet) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[written++] = group >> bits;
  }
  assertFormat((group & ((1 << bits) - 1)) === 0, 'the base64 text has nonzero trailing bits');
  return bytes;
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Not constant-time: use it for public values only. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
