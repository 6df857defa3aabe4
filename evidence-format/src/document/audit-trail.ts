import { utf8 } from '../bytes/bytes.ts';
import { FormatError } from '../bytes/errors.ts';
import { sha256Hex } from '../bytes/sha256.ts';
import { canonicalJson } from '../json/jcs.ts';
import { parseStrictJson } from '../json/strict-json.ts';

/** Value of `prev` in the first line, and the head of an empty trail. */
export const TRAIL_START = '0'.repeat(64);

/** Returns a line of data/audit-trail.jsonl without its line feed, and its hash, which is the `prev` of the next line. */
export function chainLine(event: Readonly<Record<string, unknown>>, seq: number, prev: string): { line: string; hash: string } {
  if ('seq' in event || 'prev' in event) throw new TypeError('seq and prev are reserved');
  const line = canonicalJson({ ...event, seq, prev });
  return { line, hash: sha256Hex(utf8(line)) };
}

export interface TrailResult {
  events: number;
  head: string;
  faults: { line: number; message: string }[];
}

const MAX_FAULTS = 100;

/** Verifies lines that come without their line feeds. Passes each event that is in its place on to `visit`. Stops after 100 faults. */
export async function verifyTrail(
  lines: Iterable<string> | AsyncIterable<string>,
  visit: (event: object, seq: number) => void = () => {},
): Promise<TrailResult> {
  const result: TrailResult = { events: 0, head: TRAIL_START, faults: [] };
  for await (const line of lines) {
    const number = ++result.events;
    const event = readEvent(line, number, result.head);
    if (typeof event === 'string') result.faults.push({ line: number, message: event });
    else visit(event, number);
    result.head = sha256Hex(utf8(line));
    if (result.faults.length >= MAX_FAULTS) break;
  }
  return result;
}

/** Returns the event, or what is wrong with its line. */
function readEvent(line: string, seq: number, prev: string): object | string {
  try {
    const event = parseStrictJson(line);
    if (event === null || typeof event !== 'object' || Array.isArray(event)) return 'not a JSON object';
    if (canonicalJson(event) !== line) return 'not in canonical form';
    if (!('seq' in event) || event.seq !== seq) return `seq is not ${seq}`;
    return 'prev' in event && event.prev === prev ? event : 'prev is not the hash of the previous line';
  } catch (error) {
    if (error instanceof FormatError || error instanceof TypeError) return error.message;
    throw error;
  }
}
