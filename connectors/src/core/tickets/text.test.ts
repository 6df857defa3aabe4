import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitting, footerOf, html, markdown, oneLine, workItemLine } from './text.ts';

describe('one line', () => {
  it('has no control characters, no half characters and no more than fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.integer({ min: 2, max: 300 }), (text, most) => {
        const line = oneLine(text, most);
        expect(line.length).toBeLessThanOrEqual(most);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(line.isWellFormed()).toBe(true);
      }),
    );
    expect(oneLine('a\r\nb\u0000c\u2028d', 100)).toBe('a b c d');
    expect(oneLine('x'.repeat(10), 10)).toBe('x'.repeat(10));
    expect(oneLine(`${'x'.repeat(8)}😀😀`, 10)).toBe(`${'x'.repeat(8)}…`);
  });
});

describe('paragraphs', () => {
  it('are cut where they no longer fit, and say so', () => {
    expect(fitting(['one', ' ', 'two\r\nlines\u0007'], 1_000)).toEqual(['one', 'two\nlines']);
    const cut = fitting(['one', 'x'.repeat(5_000), 'three'], 1_000);
    expect(cut.join('\n\n').length).toBeLessThanOrEqual(1_000);
    expect(cut.at(-1)).toContain('shortened');
    expect(cut.join(' ')).not.toContain('three');
  });
});

describe('Markdown', () => {
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
  ])('%s', (text, expected) => {
    expect(markdown([text])).toBe(expected);
  });

  it('keeps lines apart', () => {
    expect(markdown(['a\n/close', 'b'])).toBe('a  \n\\/close\n\nb');
  });
});

it('writes HTML that says the same', () => {
  expect(html(['<b>"it\'s" & that</b>\nnext'])).toBe('<p>&lt;b&gt;&quot;it&#39;s&quot; &amp; that&lt;/b&gt;<br>next</p>');
});

it('keeps our last line, wherever the same words stand before it', () => {
  const ours = workItemLine('https://rrs.example/1');
  expect(footerOf(`Work item: another\n\n${ours}\n<!-- x -->`)).toBe(`${ours}\n<!-- x -->`);
  expect(footerOf('nothing of ours')).toBe('');
});
