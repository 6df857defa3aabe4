import { expect, test } from 'vitest';
import { remembered } from './remembered.ts';

function counted() {
  const computed: string[] = [];
  const lengthOf = remembered((text) => {
    computed.push(text.slice(0, 10));
    return text.length;
  });
  return { computed, lengthOf };
}

test('computes the result of a text once', () => {
  const { computed, lengthOf } = counted();
  expect(['one', 'three', 'one', 'three'].map(lengthOf)).toEqual([3, 5, 3, 5]);
  expect(computed).toEqual(['one', 'three']);
});

test('does not take a text for one that no encoding can tell from it', () => {
  const same = remembered((text) => text);
  const texts = ['a\ud800', 'a\ufffd', 'a\udc00', 'ä'];
  expect(texts.map(same)).toEqual(texts);
});

test('forgets all texts when they take too much memory', () => {
  const { computed, lengthOf } = counted();
  const long = (n: number): string => `${n} `.padEnd(1_000_000, 'x');
  for (const n of [1, 2, 3, 1, 4, 1]) expect(lengthOf(long(n))).toBe(1_000_000);
  expect(computed.map((text) => text[0])).toEqual(['1', '2', '3', '4', '1']);
});
