import { decimal, parseDecimal } from '../bytes/decimal.ts';
import { assertFormat } from '../bytes/errors.ts';
import { hashText, parseHash, parseNote } from './note.ts';

/** C2SP tlog-proof: the proof that the tree of a checkpoint contains a leaf. */
export interface TlogProof {
  index: number;
  /** From the leaf to the root. */
  hashes: Uint8Array[];
  /** Signed note, verbatim. */
  checkpoint: string;
}

const HEADER = 'c2sp.org/tlog-proof@v1';

export function tlogProofText({ index, hashes, checkpoint }: TlogProof): string {
  return [HEADER, `index ${decimal(index)}`, ...hashes.map(hashText), '', checkpoint].join('\n');
}

export function parseTlogProof(text: string): TlogProof {
  const blank = text.indexOf('\n\n');
  assertFormat(blank > 0, 'not a tlog-proof');
  const [header, index, ...hashes] = text.slice(0, blank).split('\n');
  assertFormat(header === HEADER && index?.startsWith('index ') === true, 'not a tlog-proof');
  const checkpoint = text.slice(blank + 2);
  parseNote(checkpoint);
  return { index: parseDecimal(index.slice('index '.length)), hashes: hashes.map(parseHash), checkpoint };
}
