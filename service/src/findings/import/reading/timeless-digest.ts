import { createHash } from 'node:crypto';

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*';
const CLOCK = '\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d{1,9})?)?(?: ?(?:Z|UTC|GMT|[+-]\\d\\d:?\\d\\d))?';
const TIMES = [
  `\\d{4}[-/]\\d\\d[-/]\\d\\d(?:[T ]${CLOCK})?`,
  `(?:${DAY},? +)?(?:${MONTH} +\\d{1,2}|\\d{1,2} +${MONTH}),?(?: +\\d{4})?(?: +${CLOCK})?(?: +\\d{4})?`,
  // Seconds or milliseconds since 1970, between 2017 and 2036.
  '(?:1[5-9]|20)\\d{8}(?:\\d{3})?(?:\\.\\d{1,9})?',
];
const TIME = new RegExp(`(?:${TIMES.join('|')})(?!\\w)`, 'y');
/** Longer than every time that the pattern matches. */
const LONGEST = 96;
/** Longer than what can come before the first digit of a time: the names of a day and a month. */
const BEFORE_DIGIT = 48;
const DIGIT = /\d/g;

/** What a byte can be: 0 ends a word, 1 continues one, 3 also begins the name of a day or month, 5 is a digit. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/\d/.test(character)) return 5;
  if (/[ADFJMNOSTW]/.test(character)) return 3;
  return /[\w.]/.test(character) ? 1 : 0;
});

const [SPACE, DASH, SLASH] = [0x20, 0x2d, 0x2f];

/** Whether a time may start with this digit: a year and a separator, a day and a space, or seconds since 1970. This rules out most numbers at little cost. */
function mayStart(bytes: Buffer, digit: number): boolean {
  const fifth = bytes[digit + 4];
  return fifth === DASH || fifth === SLASH || bytes[digit + 1] === SPACE || bytes[digit + 2] === SPACE || KINDS[bytes[digit + 9] ?? 0] === 5;
}

/** The end of the time that starts here, or 0. */
function endOfTime(text: string, at: number): number {
  TIME.lastIndex = at;
  return TIME.test(text) ? TIME.lastIndex : 0;
}

/**
 * Computes the SHA-256 of a file without the times in it, piece by piece. Every time has a digit, and a search for digits is ten times faster than a loop
 * over the bytes of a large file.
 */
export function timelessDigest() {
  const hash = createHash('sha256');
  let space: Buffer = Buffer.alloc(0);
  let rest: Buffer = space;
  let wasInWord = false;
  let found = 0;
  const consume = (bytes: Buffer, limit: number): void => {
    const text = bytes.toString('latin1');
    const kindAt = (at: number): number => KINDS[bytes[at] as number] as number;
    const kept: string[] = [];
    let done = 0;
    let at = 0;
    while (at < limit) {
      DIGIT.lastIndex = at;
      const digit = DIGIT.test(text) ? DIGIT.lastIndex - 1 : limit;
      // What comes before the first digit of a time is a name and a space.
      at = Math.min(limit, Math.max(at, bytes[digit - 1] === SPACE ? digit - BEFORE_DIGIT : digit));
      let isInWord = at === 0 ? wasInWord : kindAt(at - 1) > 0;
      let end = 0;
      for (; at <= digit && at < limit && end === 0; at++) {
        end = isInWord || kindAt(at) < 2 || (at === digit && !mayStart(bytes, at)) ? 0 : endOfTime(text, at);
        if (end > 0) kept.push(text.slice(done, at));
        isInWord = kindAt(at) > 0;
      }
      if (end > 0) {
        at = end;
        done = end;
        found++;
      } else while (at < limit && kindAt(at) > 0) at++;
    }
    if (at > 0) wasInWord = kindAt(at - 1) > 0;
    if (done === 0) hash.update(bytes.subarray(0, at));
    else hash.update([...kept, text.slice(done, at)].join('\0'), 'latin1');
    rest = bytes.subarray(at);
  };
  return {
    update(chunk: Uint8Array): void {
      const length = rest.length + chunk.length;
      // The same space for every piece: new buffers for all of a large file would have V8 look for garbage all the time.
      const own = space.length < length ? Buffer.allocUnsafeSlow(length) : space;
      rest.copy(own);
      own.set(chunk, rest.length);
      space = own;
      const bytes = own.subarray(0, length);
      if (bytes.length > LONGEST) consume(bytes, bytes.length - LONGEST);
      else rest = bytes;
    },
    /** Null if the file contains no time. */
    digest(): Buffer | null {
      consume(rest, rest.length);
      return found === 0 ? null : hash.digest();
    },
  };
}
