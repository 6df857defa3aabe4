import { type Bytes, toHex } from './bytes.ts';

export interface Hasher {
  update(bytes: Uint8Array): void;
  /** Can be called once, after the last update. */
  digest(): Uint8Array;
}

const BLOCK = 64;

/** FIPS 180-4 section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const K = Int32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)));
/** Section 5.3.3: the same for the square roots of the first 8 primes. */
const INITIAL = Int32Array.from(primes(8), (prime) => fraction(Math.sqrt(prime)));

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 0x1_0000_0000) | 0;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

/** Working memory for one block. Its content is not used across calls. */
const SCHEDULE = new Int32Array(64);

export function createSha256(): Hasher {
  const state = INITIAL.slice();
  const pending = new Uint8Array(BLOCK);
  let buffered = 0;
  let total = 0;
  let done = false;

  function update(bytes: Uint8Array): void {
    if (done) throw new Error('digest() was already called');
    total += bytes.length;
    let at = 0;
    if (buffered > 0) {
      at = Math.min(BLOCK - buffered, bytes.length);
      pending.set(bytes.subarray(0, at), buffered);
      buffered += at;
      if (buffered < BLOCK) return;
      compress(state, pending, 0);
      buffered = 0;
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) compress(state, bytes, at);
    if (at < bytes.length) {
      pending.set(bytes.subarray(at));
      buffered = bytes.length - at;
    }
  }

  function digest(): Bytes {
    update(paddingOf(total));
    done = true;
    const result = new Uint8Array(32);
    const out = new DataView(result.buffer);
    state.forEach((word, at) => {
      out.setInt32(4 * at, word);
    });
    return result;
  }

  return { update, digest };
}

export function sha256(bytes: Uint8Array): Bytes {
  const hasher = createSha256();
  hasher.update(bytes);
  return hasher.digest() as Bytes;
}

export function sha256Hex(bytes: Uint8Array): string {
  return toHex(sha256(bytes));
}

/** Section 5.1.1: a one bit, zeros and the length in bits fill the last block. */
export function paddingOf(length: number): Bytes {
  const padding = new Uint8Array(BLOCK - (((length % BLOCK) + 8) % BLOCK) + 8);
  padding[0] = 0x80;
  let bits = (length % 0x2000_0000) * 8;
  for (let at = 1; at <= 8; at++) {
    padding[padding.length - at] = bits;
    bits = at === 4 ? Math.floor(length / 0x2000_0000) : bits / 256;
  }
  return padding;
}

/** Section 6.2.2, on 32-bit integers. */
function compress(state: Int32Array, bytes: Uint8Array, offset: number): void {
  const w = SCHEDULE;
  for (let t = 0, at = offset; t < 16; t++, at += 4) {
    w[t] = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
  }
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15] as number;
    const y = w[t - 2] as number;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[t] = ((w[t - 16] as number) + s0 + (w[t - 7] as number) + s1) | 0;
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let t = 0; t < 64; t++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + (g ^ (e & (f ^ g))) + (K[t] as number) + (w[t] as number)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
}
