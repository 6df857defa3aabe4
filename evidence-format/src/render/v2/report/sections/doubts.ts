import { doubtWords } from '../../words/doubts.ts';
import { count } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { LENGTH } from '../limits.ts';
import { type Line, line } from '../model.ts';

const MOST_DOUBTS = 4;

export function doubtLines(codes: readonly string[]): Line[] {
  if (codes.length === 0) return [];
  return [
    line(`${count(codes.length, 'doubt')}:`, 'warn'),
    ...codes.slice(0, MOST_DOUBTS).map((code) => line(clipped(doubtWords(code), LENGTH.name), 'quiet')),
  ];
}
