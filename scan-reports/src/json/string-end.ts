const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Most strings are shorter. For longer ones, a native search is faster in spite of the cost of the call. */
const SHORT_STRING = 24;

const UNFINISHED = -1;
/** The chunk ends inside the string, directly after a backslash. */
export const UNFINISHED_ESCAPE = -2;

/** Returns the index of the quote that ends a string, or a negative constant if the chunk ends inside the string. */
export function stringEnd(chunk: Buffer, from: number): number {
  const length = chunk.length;
  let at = from;
  for (;;) {
    const near = Math.min(length, at + SHORT_STRING);
    while (at < near) {
      const byte = chunk[at];
      if (byte === QUOTE) return at;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at < length) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? length : quote;
      let backslashes = 0;
      while (end - backslashes > at && chunk[end - backslashes - 1] === BACKSLASH) backslashes++;
      if (quote !== -1 && backslashes % 2 === 0) return quote;
      at = end + (backslashes % 2);
    }
    if (at >= length) return at > length ? UNFINISHED_ESCAPE : UNFINISHED;
  }
}
