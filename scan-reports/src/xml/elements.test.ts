import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReportError } from '../contract.ts';
import { fromBuffer } from '../shared/input.ts';
import { collect, inChunks } from '../testing/reading.ts';
import { child, childText, childTexts, type XmlElement, xmlElements } from './elements.ts';

const read = (text: string | Uint8Array, ...paths: string[]) => collect(xmlElements(fromBuffer(text), paths));

describe('entities', () => {
  test('of a DTD are never expanded (billion laughs, files, URLs)', async () => {
    const text = `<?xml version="1.0"?>
<!DOCTYPE r [
  <!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;"><!ENTITY lol3 "&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;">
  <!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY net SYSTEM "http://127.0.0.1:1/x"><!ENTITY % more SYSTEM "http://127.0.0.1:1/dtd">
]>
<r><a x="&lol3;">&lol3;&file;&net;&amp;&lt;&#65;&#x42;</a></r>`;
    const [match] = await read(text, 'r/a');
    expect(match?.element).toMatchObject({ text: '&lol3;&file;&net;&<AB', attributes: { x: '&lol3;' } });
  });

  test('that are unknown stay as written', async () => {
    expect((await read('<r><a>1 &nbsp; 2 &#xFFFFFFF; 3 &; 4</a></r>', 'r/a'))[0]?.element.text).toBe('1 &nbsp; 2 &#xFFFFFFF; 3 &; 4');
  });
});

test.each(['<!DOCTYPE r>', '<!DOCTYPE r SYSTEM "https://example.com/r.dtd">', '<!DOCTYPE r [<!ELEMENT r ANY>\n<!ATTLIST r a CDATA "x]>">]>'])(
  'accepts %s',
  async (doctype) => {
    expect(await read(`<?xml version="1.0"?>\n${doctype}<!-- c --><r><a/></r>`, 'r/a')).toHaveLength(1);
  },
);

test('joins and trims text and CDATA', async () => {
  const [match] = await read('<r><a> one <![CDATA[<two> & ]]><b>not me</b>three<!-- no --> </a></r>', 'r/a');
  expect(match?.element.text).toBe('one <two> & three');
});

test('uses local names of elements and attributes', async () => {
  const text = '<n:r xmlns:n="urn:n" xmlns="urn:d"><n:list n:kind="k" plain="p"><cm:item xmlns:cm="urn:c">x</cm:item></n:list></n:r>';
  const [match] = await read(text, 'r/list');
  expect(match?.element.attributes).toMatchObject({ kind: 'k', plain: 'p' });
  expect(match && childText(match.element, 'item')).toBe('x');
});

test('matches paths from the root, any name, and any depth, and prefers the outermost element', async () => {
  const text = '<r><h id="1"><i/><i/></h><h id="2"><j><i/></j><i n="last"/></h><i/></r>';
  const places = async (...paths: string[]) => (await read(text, ...paths)).map(({ place, pattern }) => `${place} ${pattern}`);
  expect(await places('r/h/i')).toEqual(['h[1]/i[1] 0', 'h[1]/i[2] 0', 'h[2]/i[1] 0']);
  expect(await places('r/*/i')).toEqual(['h[1]/i[1] 0', 'h[1]/i[2] 0', 'h[2]/i[1] 0']);
  expect(await places('**/i')).toEqual(['h[1]/i[1] 0', 'h[1]/i[2] 0', 'h[2]/j[1]/i[1] 0', 'h[2]/i[1] 0', 'i[1] 0']);
  expect(await places('**/j/i', 'r/h')).toEqual(['h[1] 1', 'h[2] 1']);
  expect(await places('r')).toEqual([' 0']);
  expect(await places('i')).toEqual([]);
  const [, , last] = await read(text, 'r/h/i');
  expect(last?.parents).toMatchObject([{ name: 'r' }, { name: 'h', attributes: { id: '2' }, index: 2 }]);
  expect(last?.element.attributes).toMatchObject({ n: 'last' });
});

test('child, childText and childTexts find children by name', async () => {
  const [match] = await read('<r><a>1</a><b/><a> </a><a>2</a></r>', 'r');
  const element = match?.element as XmlElement;
  expect(child(element, 'b')?.name).toBe('b');
  expect(childTexts(element, 'a')).toEqual(['1', '2']);
  expect(childText(element, 'c')).toBe('');
});

test.each([
  '<r><a></r>',
  '<r><a>',
  '<r></r></r>',
  '<r/><r/>',
  '<r/>text',
  '<r',
  '',
  'text',
  '<r><a></b></r>',
  '<r><![CDATA[x</r>',
  '<r><!-- x</r>',
  '<r><a x="</r>',
  '<r>&amp</r>',
])('rejects %s', async (text) => {
  await expect(read(text, 'r/a')).rejects.toThrow(ReportError);
});

test('rejects every prefix of a document as incomplete', async () => {
  const bytes = Buffer.from('<?xml version="1.0"?><!DOCTYPE r><r a="1"><b><![CDATA[x]]>é</b><!-- c --><c/></r>');
  for (let end = 0; end < bytes.length; end++) await expect(read(bytes.subarray(0, end), 'r/b'), String(end)).rejects.toThrow(ReportError);
});

test('accepts control characters, spaces before the declaration and comments after the end', async () => {
  const found = await read('\n<?xml version="1.0"?><r><a>1\u0001\u000b2 \u{ffff}3 ]]> 4</a></r>\n<!-- done -->\n', 'r/a');
  expect(found).toHaveLength(1);
  expect(found[0]?.element.text).toMatch(/1.*2.*3.*4/);
});

test('reads the declared encoding', async () => {
  const text = '<?xml version="1.0" encoding="ISO-8859-1"?><r><a>caf\u00e9</a></r>';
  expect((await read(Buffer.from(text, 'latin1'), 'r/a'))[0]?.element.text).toBe('café');
  expect((await read(Buffer.from(`\ufeff${text}`, 'utf16le'), 'r/a'))[0]?.element.text).toBe('café');
  expect((await read(text.replace('ISO-8859-1', 'UTF-8'), 'r/a'))[0]?.element.text).toBe('café');
  expect((await read(text.replace('ISO-8859-1', 'no-such-thing'), 'r/a'))[0]?.element.text).toBe('café');
});

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'ü'),
    value: fc.string({ unit: 'grapheme', maxLength: 8 }),
    children: fc.oneof({ maxDepth: 4 }, fc.constant([] as Tree[]), fc.array(tie('tree'), { maxLength: 4 })),
  }),
}));
interface Tree {
  name: string;
  value: string;
  children: Tree[];
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow these characters
const clean = (text: string): string => text.replaceAll(/[\u0000-\u001f\ufffe\uffff]/g, '');
const escaped = (text: string): string => clean(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const written = ({ name, value, children }: Tree): string => `<${name} v="${escaped(value)}">${escaped(value)}${children.map(written).join('')}</${name}>`;
const expected = ({ name, value, children }: Tree): unknown => ({
  name,
  attributes: { v: clean(value) },
  text: clean(value).trim(),
  children: children.map(expected),
});

test('returns what was written, for any chunk sizes', async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.array(fc.nat(1_000), { maxLength: 20 }), async (value, cuts) => {
      const input = inChunks(Buffer.from(`<r>${written(value)}</r>`), cuts);
      const [match] = await collect(xmlElements(input, ['r/*']));
      expect(match?.element).toEqual(expected(value));
    }),
    { numRuns: 500 },
  );
});

test('a path that ends with @ yields the attributes and leaves the content to other paths', async () => {
  const matches = await collect(xmlElements(fromBuffer('<r><a n="1"><b>x</b></a><a n="2"/></r>'), ['r/a/@', 'r/a/b']));
  expect(matches.map(({ element, pattern, place }) => [pattern, place, element.attributes.n, element.text])).toEqual([
    [0, 'a[1]', '1', ''],
    [1, 'a[1]/b[1]', undefined, 'x'],
    [0, 'a[2]', '2', ''],
  ]);
});

describe('limits', () => {
  const endless = (start: string, part: string, end: string) => ({
    filename: null,
    async *open() {
      yield Buffer.from(start);
      for (let count = 0; count < 140; count++) yield Buffer.from(part.repeat(Math.ceil(524_288 / part.length)));
      yield Buffer.from(end);
    },
  });

  test('the nesting depth', async () => {
    await expect(read('<a>'.repeat(300), 'b')).rejects.toThrow('nested more than 200 levels deep');
    await expect(read(`<r>${'<a>'.repeat(300)}`, 'r/a')).rejects.toThrow('nested more than 200 levels deep');
  });

  test.each([
    ['text in a wanted element', endless('<r><a>', 'x', '</a></r>'), 'r/a', 'a text or tag of more than'],
    ['a comment', endless('<r><!--', 'x', '--></r>'), 'r/b', 'a text or tag of more than'],
    ['an element with many children', endless('<r><a>', '<b/>', '</a></r>'), 'r/a', 'The XML element a has more than'],
    ['an element with many texts', endless('<r><a>', '<b>some text</b>', '</a></r>'), 'r/a', 'The XML element a has more than'],
  ])('the size of %s', async (_, input, path, message) => {
    await expect(collect(xmlElements(input, [path]))).rejects.toThrow(message);
  });
});
