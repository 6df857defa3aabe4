import { FormatError, fromUtf8, toHex } from '@rrs/evidence-format';
import type { Platform } from '../platform.ts';
import type { StoredFile } from './read-package.ts';

const LF = 0x0a;

export interface LineLimits {
  /** Bytes of a line without its line feed. */
  line: number;
  lines: number;
}

/** Reads a file again and yields its lines without their line feeds, many at a time. Holds one piece of the file and one line. Throws if a limit is reached. */
export async function* linesOf(stored: StoredFile, platform: Platform, limits: LineLimits): AsyncGenerator<string[]> {
  const hash = platform.sha256();
  let rest: Uint8Array = new Uint8Array();
  let count = 0;
  for await (const piece of stored.reread()) {
    hash.update(piece);
    const end = piece.lastIndexOf(LF) + 1;
    if (end > 0) {
      const whole = joined(rest, piece.subarray(0, end));
      count += countLines(whole, limits.line);
      if (count > limits.lines) throw new FormatError(`there are more than ${limits.lines} lines`);
      yield fromUtf8(whole.subarray(0, -1)).split('\n');
      rest = new Uint8Array();
    }
    rest = joined(rest, piece.subarray(end));
    assertLength(rest.length, limits.line);
  }
  if (rest.length > 0) throw new FormatError('the last line does not end with a line feed');
  if (toHex(hash.digest()) !== stored.sha256) throw new Error('The file changed while it was read.');
}

function countLines(bytes: Uint8Array, limit: number): number {
  let count = 0;
  for (let start = 0; start < bytes.length; count++) {
    const end = bytes.indexOf(LF, start);
    assertLength(end - start, limit);
    start = end + 1;
  }
  return count;
}

function assertLength(length: number, limit: number): void {
  if (length > limit) throw new FormatError(`a line is longer than ${limit} bytes`);
}

/** Copies, because the source may reuse the buffer of a piece. */
function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
