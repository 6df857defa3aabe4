import { type Bytes, concat, derInteger, fromHex, sha256, spkiFromEd25519Raw, TAG, toHex, utf8, writeDer } from '@rrs/evidence-format';

/**
 * Test keys that are derived from a name and sign deterministically, so that test packages are the same in every run.
 * For tests only: the arithmetic is not constant-time.
 */
export interface TestKey {
  spki: Bytes;
  sign(message: Uint8Array): Promise<Bytes>;
}

const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const G: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  z: 1n,
};

/** Jacobian coordinates. z = 0 is the point at infinity. */
interface Point {
  x: bigint;
  y: bigint;
  z: bigint;
}

const mod = (value: bigint, modulus = P) => ((value % modulus) + modulus) % modulus;

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let [square, left] = [base, exponent]; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

/** Uses Fermat's little theorem: the modulus is prime. */
const inverse = (value: bigint, modulus: bigint) => power(mod(value, modulus), modulus - 2n, modulus);

function double({ x, y, z }: Point): Point {
  const yy = mod(y * y);
  const s = mod(4n * x * yy);
  const m = mod(3n * (x - z * z) * (x + z * z));
  const doubled = mod(m * m - 2n * s);
  return { x: doubled, y: mod(m * (s - doubled) - 8n * yy * yy), z: mod(2n * y * z) };
}

function add(a: Point, b: Point): Point {
  if (a.z === 0n) return b;
  if (b.z === 0n) return a;
  const [az, bz] = [mod(a.z * a.z), mod(b.z * b.z)];
  const [u, v] = [mod(a.x * bz), mod(b.x * az)];
  const [s, t] = [mod(a.y * bz * b.z), mod(b.y * az * a.z)];
  if (u === v) return s === t ? double(a) : { x: 1n, y: 1n, z: 0n };
  const h = mod(v - u);
  const r = mod(t - s);
  const hh = mod(h * h);
  const x = mod(r * r - hh * h - 2n * u * hh);
  return { x, y: mod(r * (u * hh - x) - s * hh * h), z: mod(a.z * b.z * h) };
}

/** The generator times 1 to 15, times each power of 16: a multiple of it is a sum with one of them for each hexadecimal digit. */
const multiples: Point[][] = [];
for (let unit = G; multiples.length < 64; ) {
  const row = [unit];
  for (let previous = unit; row.length < 15; row.push(previous)) previous = add(previous, unit);
  multiples.push(row);
  unit = add(unit, row[14] ?? unit);
}

function multiply(scalar: bigint): { x: bigint; y: bigint } {
  let result: Point = { x: 1n, y: 1n, z: 0n };
  for (const [place, digit] of [...scalar.toString(16)].reverse().entries()) {
    const multiple = multiples[place]?.[Number.parseInt(digit, 16) - 1];
    if (multiple !== undefined) result = add(result, multiple);
  }
  const z = inverse(result.z, P);
  return { x: mod(result.x * z * z), y: mod(result.y * z * z * z) };
}

const number = (bytes: Uint8Array) => BigInt(`0x${toHex(bytes)}`);
const bytes32 = (value: bigint) => fromHex(value.toString(16).padStart(64, '0'));

const made = new Map<string, TestKey>();

/** Keys and signatures are made once, because they take most of the time of a test. */
export function p256Key(name: string): TestKey {
  const key = made.get(name) ?? newP256Key(name);
  made.set(name, key);
  return key;
}

function newP256Key(name: string): TestKey {
  const signed = new Map<string, Bytes>();
  const secret = mod(number(sha256(utf8(`p256 ${name}`))), N);
  const { x, y } = multiply(secret);
  return {
    spki: concat(fromHex('3059301306072a8648ce3d020106082a8648ce3d03010703420004'), bytes32(x), bytes32(y)),
    async sign(message) {
      const hash = toHex(sha256(message));
      const result = signed.get(hash) ?? derSignature(secret, message);
      signed.set(hash, result);
      return result;
    },
  };
}

function derSignature(secret: bigint, message: Uint8Array): Bytes {
  const hash = sha256(message);
  const nonce = mod(number(sha256(concat(bytes32(secret), hash))), N);
  const r = mod(multiply(nonce).x, N);
  return ecdsaDer(r, mod(inverse(nonce, N) * (number(hash) + r * secret), N));
}

export function ecdsaDer(r: bigint, s: bigint): Bytes {
  return writeDer(TAG.sequence, derInteger(r), derInteger(s));
}

const PKCS8_ED25519 = fromHex('302e020100300506032b657004220420');

export async function ed25519Key(name: string): Promise<TestKey> {
  const { subtle } = globalThis.crypto;
  const seed = concat(PKCS8_ED25519, sha256(utf8(`ed25519 ${name}`)));
  const key = await subtle.importKey('pkcs8', seed, { name: 'Ed25519' }, true, ['sign']);
  const { x = '' } = await subtle.exportKey('jwk', key);
  return {
    spki: spkiFromEd25519Raw(new Uint8Array(Buffer.from(x, 'base64url'))),
    sign: async (message) => new Uint8Array(await subtle.sign({ name: 'Ed25519' }, key, new Uint8Array(message))),
  };
}
