/** FIPS 180-4. Only for version 5 UUIDs, which require it. Nothing relies on its strength. */
export function sha1(message: Uint8Array): Uint8Array {
  const state = Uint32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const padded = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);
  for (let block = 0; block < padded.length; block += 64) compress(state, view, block);
  const digest = new Uint8Array(20);
  const out = new DataView(digest.buffer);
  for (const [index, word] of state.entries()) out.setUint32(4 * index, word);
  return digest;
}

const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

function compress(state: Uint32Array, view: DataView, block: number): void {
  const words = new Int32Array(80);
  for (let at = 0; at < 16; at++) words[at] = view.getInt32(block + 4 * at);
  for (let at = 16; at < 80; at++) words[at] = rotate(word(words, at - 3) ^ word(words, at - 8) ^ word(words, at - 14) ^ word(words, at - 16), 1);
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
  for (let at = 0; at < 80; at++) {
    const mixed = (rotate(a, 5) + roundOf(at, b, c, d) + e + word(words, at)) | 0;
    [a, b, c, d, e] = [mixed, a, rotate(b, 30), c, d];
  }
  for (const [index, value] of [a, b, c, d, e].entries()) state[index] = word(state, index) + value;
}

const word = (words: Int32Array | Uint32Array, at: number): number => words[at] ?? 0;

function roundOf(at: number, b: number, c: number, d: number): number {
  if (at < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (at < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  return at < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc : (b ^ c ^ d) + 0xca62c1d6;
}
