import { decimal, parseDecimal } from '../bytes/decimal.ts';
import { assertFormat } from '../bytes/errors.ts';
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
