import { expect, it } from 'vitest';
import { wiki, withFooterOf } from './wiki.ts';

it.each([
  ['{code}x{code} [~ada] !http://evil.example/a.png! *b* _c_', '\\{code\\}x\\{code\\} \\[\\~ada\\] \\!http://evil.example/a.png! \\*b\\* \\_c\\_'],
  ['C:\\temp', 'C:&#92;temp'],
  ['- no list -no strike-', '\\- no list \\-no strike-'],
  ['CVE-2021-44228 on log4j-core', 'CVE-2021-44228 on log4j-core'],
  ['https://example.com/a_b', 'https://example.com/a_b'],
])('%s is escaped', (text, expected) => {
  expect(wiki([text])).toBe(expected);
});

it('keeps the line with the link to the work item', () => {
  expect(withFooterOf(['New'], 'Old\n\nWork item: https://rrs.example/1')).toBe('New\n\nWork item: https://rrs.example/1');
  expect(withFooterOf(['New'], null)).toBe('New');
});
