import { expect, test } from 'vitest';
import { recognise } from './recognise.ts';
import { formats } from './registry.ts';
import { fromBuffer } from './shared/input.ts';

const recognised = async (text: string, filename: string | null = null) => {
  const { format, couldBe } = await recognise(formats, fromBuffer(text, filename));
  return format?.id ?? couldBe;
};

test.each([
  ['{"results":null}', 'tfsec'],
  ['{"site":[]}', 'zap'],
  ['{"@version":"2.14.0","@generated":"Mon, 6 May 2024 07:08:09","site":[]}', 'zap'],
  ['{"runs":[]}', 'sarif'],
  ['{"Results":[]}', 'trivy'],
  ['{"findings":[],"scan":{"tool":"pentest"}}', 'generic'],
  ['{"name":"Nightly","type":"Acme","findings":[]}', 'defectdojo_generic'],
  ['{"static_tool":true,"version":"1","findings":[]}', 'defectdojo_generic'],
])('recognizes %s as an empty report of the only matching format', async (text, id) => {
  expect(await recognised(text)).toBe(id);
});

test.each([
  ['{"results":[]}', ['osv_scanner', 'semgrep', 'tfsec']],
  ['{"findings":[]}', ['aws_inspector2', 'aws_security_hub', 'defectdojo_generic', 'semgrep', 'generic']],
  ['{"name":"Nightly","findings":[]}', ['aws_inspector2', 'aws_security_hub', 'defectdojo_generic', 'semgrep', 'generic']],
  ['{"type":"Acme","findings":[],"extra":null}', ['aws_inspector2', 'aws_security_hub', 'defectdojo_generic', 'semgrep', 'generic']],
  ['', ['nuclei', 'prowler']],
])('names several formats for %j', async (text, ids) => {
  expect(await recognised(text)).toEqual(ids);
});

test('an empty report of a tool that is not supported is of no format', async () => {
  expect(await recognised('{"Generated":"25/06/2021 10:00 AM","Target":{"Duration":"00:00:41","Url":"http://php.example.com/"},"Vulnerabilities":[]}')).toEqual(
    [],
  );
});

test('names many formats for an empty list', async () => {
  expect(await recognised(' []\n')).toEqual(expect.arrayContaining(['gitleaks', 'hadolint', 'generic']));
});

test.each([
  ['[]', 'gitleaks-report.json', 'gitleaks'],
  ['null', 'Gitleaks.json', 'gitleaks'],
  ['', 'nuclei.jsonl', 'nuclei'],
  ['{"results":[]}', 'osv-scanner.json', 'osv_scanner'],
  ['{"results":[]}', 'shop_osv_scanner_2.json', 'osv_scanner'],
  ['{"results":[]}', 'semgrep.json', 'semgrep'],
  ['[]', 'github-gitleaks.json', 'gitleaks'],
  ['{"findings":[]}', 'defectdojo-generic.json', 'defectdojo_generic'],
  ['[]', 'trivy-operator.json', 'trivy_operator'],
  ['[]', 'trivy.json', 'trivy'],
  ['[]', 'checkov/hadolint.json', 'hadolint'],
])('the file name decides for %j in %s', async (text, filename, id) => {
  expect(await recognised(text, filename)).toBe(id);
});

test.each([
  ['[]', 'report.json'],
  ['[]', 'gitleaksreport.json'],
  ['[]', 'gitleaks-or-hadolint.json'],
  ['[]', 'gitleaks/report.json'],
  ['', 'gitleaks.json'],
  ['{"results":[]}', 'bandit.json'],
  ['[]', 'github.json'],
  ['[]', 'snyk.json'],
  ['{"findings":[]}', 'generic.json'],
])('the file name does not decide for %j in %s', async (text, filename) => {
  const couldBe = await recognised(text, filename);
  expect(couldBe).toEqual(await recognised(text));
  expect(couldBe).not.toHaveLength(0);
});

test('the content decides if it says something else than the file name', async () => {
  expect(await recognised('{"results":null}', 'semgrep.json')).toBe('tfsec');
  expect(await recognised('{"runs":[]}', 'gitleaks.json')).toBe('sarif');
  expect(await recognised('{"foo":[]}', 'gitleaks.json')).toEqual([]);
  expect(await recognised('[{"foo":1}]', 'gitleaks.json')).toEqual([]);
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
