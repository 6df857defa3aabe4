import { expect, test } from 'vitest';
import { recognise } from './recognise.ts';
import { formats } from './registry.ts';
import { fromBuffer } from './shared/input.ts';

const recognised = async (text: string) => {
  const { format, couldBe } = await recognise(formats, fromBuffer(text));
  return format?.id ?? couldBe;
};

test.each([
  ['{"results":null}', 'tfsec'],
  ['{"site":[]}', 'zap'],
  ['{"@version":"2.14.0","@generated":"Mon, 6 May 2024 07:08:09","site":[]}', 'zap'],
  ['{"runs":[]}', 'sarif'],
  ['{"Results":[]}', 'trivy'],
])('recognizes %s as an empty report of the only matching format', async (text, id) => {
  expect(await recognised(text)).toBe(id);
});

test.each([
  ['{"results":[]}', ['osv_scanner', 'semgrep', 'tfsec']],
  ['{"findings":[]}', ['aws_inspector2', 'aws_security_hub', 'defectdojo_generic', 'semgrep', 'generic']],
  ['', ['nuclei', 'prowler']],
])('names several formats for %j', async (text, ids) => {
  expect(await recognised(text)).toEqual(ids);
});

test('names many formats for an empty list', async () => {
  expect(await recognised(' []\n')).toEqual(expect.arrayContaining(['gitleaks', 'hadolint', 'snyk', 'generic']));
});

test.each(['{}', '{"foo":[]}', '{"results":[{"x":1}]}', '{"results":[],"other":[1]}', '[1]', 'hello', '<a/>', '{"results":['])(
  'finds no format for %s',
  async (text) => {
    expect(await recognised(text)).toEqual([]);
  },
);

test.each([
  ['', 'an empty file'],
  ['{"a":1,"b":{"c":2}}', 'a JSON object with the keys a, b'],
  ['{}', 'a JSON object without keys'],
  ['[{"a":1}]', 'a JSON array with the keys a'],
  ['{"a":1}\n{"a":2}', 'JSON Lines with the keys a'],
  ['<x:root xmlns:x="urn:x"/>', 'XML with the root element root'],
  ['name;level\nx;1\n', 'CSV with the columns name, level'],
  ['Hello\nworld', 'plain text'],
  ['PK\u0003\u0004\u0000', 'a binary file'],
  [
    JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, 1]))),
    'a JSON object with the keys k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 …',
  ],
  [JSON.stringify({ ['x'.repeat(5_000)]: 1 }), `a JSON object with the keys ${'x'.repeat(40)}…`],
])('describes %j', async (text, words) => {
  expect((await recognise(formats, fromBuffer(text))).looksLike).toBe(words);
});
