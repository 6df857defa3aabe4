import { randomFillSync } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

// Random bytes are fetched in pages, because a system call for each ID would cost more than the rest of the function.
const page = Buffer.alloc(4096);
let used = page.length;

function randomness(length: number): Buffer {
  if (used + length > page.length) {
    randomFillSync(page);
    used = 0;
  }
  used += length;
  return page.subarray(used - length, used);
}

let lastMillis = 0;
let counter = 0;

/** Returns a UUIDv7 (RFC 9562). IDs of one process are in order of creation, even within a millisecond. */
export function newId(now: number = Date.now()): string {
  if (now > lastMillis) {
    lastMillis = now;
    counter = randomness(2).readUInt16BE() & 0x07ff;
  } else if (++counter > 0x0fff) {
    lastMillis++;
    counter = 0;
  }
  const bytes = randomness(16);
  bytes.writeUIntBE(lastMillis, 0, 6);
  bytes.writeUInt16BE(0x7000 | counter, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidFromBytes(bytes);
}

/** No ID that was created at this time or later is smaller. */
export function firstIdAt(time: Date): string {
  const millis = time.getTime().toString(16).padStart(12, '0');
  return `${millis.slice(0, 8)}-${millis.slice(8)}-7000-8000-000000000000`;
}

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

export function uuidToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

export function uuidFromBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
