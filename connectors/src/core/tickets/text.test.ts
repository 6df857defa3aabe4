import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitParagraphs, footerOf, html, markdown, oneLine, workItemLine } from './text.ts';

describe('oneLine', () => {
  it('removes control characters, keeps characters whole and respects the maximum length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 2, max: 300 }), (text, maxLength) => {
        const line = oneLine(text, maxLength);
        expect(line.length).toBeLessThanOrEqual(maxLength);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(line.isWellFormed()).toBe(true);
      }),
    );
    expect(oneLine('a\r\nb\u0000c\u2028d', 100)).toBe('a b c d');
    expect(oneLine('x'.repeat(10), 10)).toBe('x'.repeat(10));
    expect(oneLine(`${'x'.repeat(8)}😀😀`, 10)).toBe(`${'x'.repeat(8)}…`);
  });
});

describe('fitParagraphs', () => {
  it('cuts text that does not fit and says so', () => {
    expect(fitParagraphs(['one', ' ', 'two\r\nlines\u0007'], 1_000)).toEqual(['one', 'two\nlines']);
    const cut = fitParagraphs(['one', 'x'.repeat(5_000), 'three'], 1_000);
    expect(cut.join('\n\n').length).toBeLessThanOrEqual(1_000);
    expect(cut.at(-1)).toContain('shortened');
    expect(cut.join(' ')).not.toContain('three');
  });
});

describe('markdown', () => {
  it.each([
    ['# not a heading', '\\# not a heading'],
    ['- not a list', '\\- not a list'],
    ['1. not a list', '1\\. not a list'],
    ['/close', '\\/close'],
    ['  /assign @ada', '\\/assign @\u2060ada'],
    ['ask @ada, see #12 and acme/shop#7', 'ask @\u2060ada, see #\u206012 and acme/shop#7'],
    ['mail ada@acme.example', 'mail ada@acme.example'],
    ['<script>', '\\<script\\>'],
    ['<!-- rrs-1 -->', '\\<!-- rrs-1 --\\>'],
    ['![x](http://evil.example/a.png)', '!\\[x\\](http://evil.example/a.png)'],
    ['a *b* _c_ `d` ~e~ |f| $g$ &lt;', 'a \\*b\\* \\_c\\_ \\`d\\` \\~e\\~ \\|f\\| \\$g\\$ \\&lt;'],
    ['see https://example.com/a_b*c?d=1&e=2', 'see https://example.com/a_b*c?d=1&e=2'],
  ])('escapes %s', (text, expected) => {
    expect(markdown([text])).toBe(expected);
  });

  it('keeps line breaks and paragraphs', () => {
    expect(markdown(['a\n/close', 'b'])).toBe('a  \n\\/close\n\nb');
  });
});

it('html escapes the text', () => {
  expect(html(['<b>"it\'s" & that</b>\nnext'])).toBe('<p>&lt;b&gt;&quot;it&#39;s&quot; &amp; that&lt;/b&gt;<br>next</p>');
});

it('footerOf returns the last work item line', () => {
  const ours = workItemLine('https://rrs.example/1');
  expect(footerOf(`Work item: another\n\n${ours}\n<!-- x -->`)).toBe(`${ours}\n<!-- x -->`);
  expect(footerOf('no footer')).toBe('');
});
