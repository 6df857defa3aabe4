import { type Bytes, concat, fromHex } from '../bytes/bytes.ts';
import { decimal, parseDecimal } from '../bytes/decimal.ts';
import { assertFormat } from '../bytes/errors.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { list, name, object, sha256Text, whole } from '../json/typed-schema.ts';
import { validate } from '../json/validate.ts';
import { hashText, parseHash } from './note.ts';

/** Content of proof/consistency.txt: the proof that the tree of this package extends an earlier one. */
export type Consistency = { oldSize: 0 } | { oldSize: number; oldRoot: Uint8Array; hashes: Uint8Array[] };

export function consistencyText(consistency: Consistency): string {
  const lines = 'oldRoot' in consistency ? [consistency.oldRoot, ...consistency.hashes].map(hashText) : [];
  assertFormat((consistency.oldSize === 0) === (lines.length === 0), 'an old root is required exactly if the old tree is not empty');
  return `${[`old ${decimal(consistency.oldSize)}`, ...lines].join('\n')}\n`;
}

export function parseConsistency(text: string): Consistency {
  const [first, oldRoot, ...hashes] = text.split('\n').slice(0, -1);
  assertFormat(text.endsWith('\n') && first?.startsWith('old ') === true, 'not a consistency proof');
  const oldSize = parseDecimal(first.slice('old '.length));
  assertFormat((oldSize === 0) === (oldRoot === undefined), 'an old root is required exactly if the old tree is not empty');
  return oldRoot === undefined ? { oldSize: 0 } : { oldSize, oldRoot: parseHash(oldRoot), hashes: hashes.map(parseHash) };
}

/** Up to this size of the log, a package carries the hashes of all leaves, from which every earlier root follows. */
export const MAX_CARRIED_LEAVES = 4096;

/** Content of proof/leaves.bin: the leaf hashes of the whole log, in order. */
export function leavesBytes(hashes: readonly Uint8Array[]): Bytes {
  return concat(...hashes);
}

export function parseLeaves(bytes: Uint8Array): Uint8Array[] {
  assertFormat(bytes.length % 32 === 0, 'not a list of SHA-256 hashes');
  return Array.from({ length: bytes.length / 32 }, (_, index) => bytes.subarray(index * 32, index * 32 + 32));
}

/** The API's answer to a request for a consistency proof. */
interface ConsistencyAnswer {
  origin: string;
  from: number;
  to: number;
  from_root_hash: string;
  to_root_hash: string;
  hashes: string[];
}

const answerSchema = object<ConsistencyAnswer>({
  origin: name,
  from: whole(0),
  to: whole(0),
  from_root_hash: sha256Text,
  to_root_hash: sha256Text,
  hashes: list(sha256Text),
});

export interface GivenConsistency {
  origin: string;
  oldSize: number;
  size: number;
  oldRoot: Uint8Array;
  root: Uint8Array;
  proof: Uint8Array[];
}

export function parseConsistencyAnswer(json: string): GivenConsistency {
  const value = parseStrictJson(json);
  const [fault] = validate(answerSchema, value);
  assertFormat(fault === undefined, `the consistency proof${fault?.path === '' ? '' : ` field ${fault?.path}`} ${fault?.message}`);
  const { origin, from, to, from_root_hash, to_root_hash, hashes } = value as ConsistencyAnswer;
  return { origin, oldSize: from, size: to, oldRoot: fromHex(from_root_hash), root: fromHex(to_root_hash), proof: hashes.map(fromHex) };
}
