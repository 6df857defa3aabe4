import { type Bytes, concat } from './bytes.ts';
import { assertFormat } from './errors.ts';

/** An ASN.1 value in DER (X.690 section 10). */
export interface Der {
  /** The identifier octet. */
  tag: number;
  content: Uint8Array;
  /** The whole encoding, including tag and length. */
  bytes: Uint8Array;
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Identifier octet of the constructed, context-specific tag `[number]`. */
export function contextTag(number: number): number {
  return 0xa0 | number;
}

/** Reads exactly one value. Throws if bytes follow it. */
export function readDer(bytes: Uint8Array, tag?: number): Der {
  const value = readAt(bytes, 0);
  assertFormat(value.bytes.length === bytes.length, 'extra bytes after a DER value');
  return expectTag(value, tag);
}

/** Returns the values inside a constructed value. */
export function childrenOf(value: Der): Der[] {
  assertFormat((value.tag & 0x20) !== 0, 'the DER value is not constructed');
  const children: Der[] = [];
  for (let at = 0; at < value.content.length; ) {
    const child = readAt(value.content, at);
    children.push(child);
    at += child.bytes.length;
  }
  return children;
}

export function expectTag(value: Der | undefined, tag?: number): Der {
  assertFormat(value !== undefined && (tag === undefined || value.tag === tag), `expected DER tag ${tag}, found ${value?.tag ?? 'nothing'}`);
  return value;
}

function readAt(bytes: Uint8Array, start: number): Der {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  assertFormat(tag !== undefined && first !== undefined, 'the DER value is truncated');
  assertFormat((tag & 0x1f) !== 0x1f, 'DER tags of several bytes are not supported');
  assertFormat(first !== 0x80 && first <= 0x84, 'the DER value has no definite length');
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  let length = first < 0x80 ? first : 0;
  for (let at = 0; at < lengthBytes; at++) length = length * 256 + (bytes[start + 2 + at] ?? 0);
  assertFormat(lengthBytes === 0 || (length >= 0x80 && length >= 256 ** (lengthBytes - 1)), 'the DER length is not in its shortest form');
  const from = start + 2 + lengthBytes;
  assertFormat(from + length <= bytes.length, 'the DER value is truncated');
  return { tag, content: bytes.subarray(from, from + length), bytes: bytes.subarray(start, from + length) };
}

export function readOid(value: Der): string {
  const { content } = expectTag(value, TAG.oid);
  assertFormat(content.length > 0 && ((content.at(-1) as number) & 0x80) === 0, 'not an object identifier');
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    assertFormat(!(arc === 0 && byte === 0x80) && arc < 2 ** 45, 'not an object identifier');
    arc = arc * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...rest] = arcs;
  const top = Math.min(2, Math.floor(first / 40));
  return [top, first - 40 * top, ...rest].join('.');
}

export function readInteger(value: Der): bigint {
  const { content } = expectTag(value, TAG.integer);
  const [first, second] = content;
  assertFormat(first !== undefined, 'the DER integer is empty');
  assertFormat(second === undefined || !((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)), 'the DER integer is not in its shortest form');
  let number = first >= 0x80 ? -1n : 0n;
  for (const byte of content) number = (number << 8n) | BigInt(byte);
  return number;
}

/** Reads a GeneralizedTime in its DER form (X.690 section 11.7): UTC, with seconds, no trailing zeros in the fraction. */
export function readGeneralizedTime(value: Der): Date {
  const { content } = expectTag(value, TAG.generalizedTime);
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d*[1-9]))?Z$/.exec(String.fromCharCode(...content.subarray(0, 40)));
  const [, year, month, day, hour, minute, second, fraction = ''] = match ?? [];
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
  const time = new Date(iso);
  assertFormat(match !== null && !Number.isNaN(time.getTime()) && time.toISOString() === iso, 'not a valid time');
  return time;
}

export function writeDer(tag: number, ...contents: readonly Uint8Array[]): Bytes {
  const content = concat(...contents);
  return concat(Uint8Array.of(tag, ...lengthOf(content.length)), content);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return [0x80 | bytes.length, ...bytes];
}

export function derInteger(value: bigint): Bytes {
  const bytes: number[] = [];
  let left = value;
  do {
    bytes.unshift(Number(left & 0xffn));
    left >>= 8n;
  } while (!((left === 0n && (bytes[0] as number) < 0x80) || (left === -1n && (bytes[0] as number) >= 0x80)));
  return writeDer(TAG.integer, Uint8Array.from(bytes));
}

export function derOid(oid: string): Bytes {
  const [top = 0, second = 0, ...rest] = oid.split('.').map(Number);
  return writeDer(TAG.oid, Uint8Array.from([40 * top + second, ...rest].flatMap(base128)));
}

function base128(arc: number): number[] {
  const bytes = [arc % 128];
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) bytes.unshift(0x80 | (left % 128));
  return bytes;
}
