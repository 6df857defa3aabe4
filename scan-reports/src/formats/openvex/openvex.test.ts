import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { openvex } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name);
const read = (name: string) => readAll(openvex, fixture(name));

test('reads a product as the asset and its subcomponents as components', async () => {
  const { observations, rejections } = await read('vexctl.json');
  expect(rejections).toEqual([]);
  const image = {
    type: 'container_image',
    name: 'registry.example.com/shop:1.4',
    identifiers: [{ kind: 'digest', value: `sha256:${'a'.repeat(64)}` }],
  };
  expect(observations.slice(0, 2)).toMatchObject([
    {
      place: 'statements[0]',
      tool: 'acme product security',
      title: 'CVE-2023-12345 in libssl3',
      description: 'Buffer overflow.',
      severity: 'unknown',
      vulnerability_ids: ['CVE-2023-12345', 'GHSA-2345-6789-cfgh'],
      asset: image,
      location: { component: 'libssl3', version: '3.0.11', purl: 'pkg:deb/debian/libssl3@3.0.11' },
      last_seen: new Date('2026-11-02T10:00:00Z'),
    },
    { asset: image, location: { component: 'openssl' } },
  ]);
});

test('reads a product without subcomponents as a component, an image, a repository or by its id', async () => {
  const { observations } = await read('vexctl.json');
  expect(observations.slice(2).map(({ asset, location }) => ({ asset, location }))).toEqual([
    { asset: null, location: { component: '@acme/ui', version: '1.2.3', purl: 'pkg:npm/%40acme/ui@1.2.3' } },
    { asset: { type: 'other', name: 'https://example.com/products/gateway' }, location: {} },
    { asset: { type: 'repository', name: 'https://github.com/acme/shop' }, location: {} },
    { asset: { type: 'container_image', name: 'library/nginx:1.25' }, location: {} },
    { asset: { type: 'other', name: 'cpe:2.3:a:acme:gateway:1.0:*:*:*:*:*:*:*' }, location: {} },
  ]);
});

test('reads the status as analysis, suppression and presence', async () => {
  const { observations } = await read('vexctl.json');
  expect([0, 2, 5, 6].map((index) => observations[index]).map((found) => [found?.present, found?.suppressed, found?.analysis])).toEqual([
    [true, true, { state: 'not_affected', justification: 'code_not_reachable', detail: 'The function is never called.' }],
    [true, false, { state: 'exploitable' }],
    [false, false, { state: 'resolved' }],
    [true, false, { state: 'in_triage' }],
  ]);
  expect(observations[2]?.solution).toBe('Update to 1.2.4.');
});

test('reads the first version, in which products and vulnerabilities are texts', async () => {
  expect((await read('first-version.json')).observations).toMatchObject([
    {
      tool: 'someone',
      vulnerability_ids: ['CVE-2022-11111'],
      location: { component: 'git', version: '2.39.0-r1' },
      analysis: { state: 'not_affected', justification: 'code_not_present' },
      last_seen: new Date('2023-01-01T00:00:00Z'),
    },
  ]);
  expect(await openvex.about?.(fixture('first-version.json'))).toMatchObject({ tools: ['someone'] });
});

test('recognizes the finding in an export of this service', async () => {
  expect((await read('export.json')).observations).toMatchObject([
    {
      tool: 'semgrep',
      rule: 'python.lang.eval',
      vulnerability_ids: [],
      title: 'Use of eval',
      severity: 'medium',
      asset: { type: 'repository', name: 'https://git.example.com/shop' },
      location: { path: 'src/a b.py', line: 7, fingerprint: 'abc' },
      suppressed: true,
      analysis: { state: 'not_affected', justification: 'code_not_reachable', detail: 'Dead code' },
    },
  ]);
});

test('rejects single statements and other files', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(observations).toHaveLength(1);
  expect(rejections).toEqual([
    { place: 'statements[1]', reason: 'status must be one of not_affected, affected, fixed, under_investigation' },
    { place: 'statements[2]', reason: 'products is missing' },
    { place: 'statements[3]', reason: 'vulnerability.name is missing' },
    { place: 'statements[4]', reason: 'a product has neither @id nor identifiers' },
    { place: 'statements[5]', reason: 'the statement is not an object' },
  ]);
  for (const foreign of ['', '{}', '[]', '{"@context":"https://schema.org","statements":[]}'])
    await expect(readAll(openvex, fromBuffer(foreign)), foreign).rejects.toThrow('Expected a JSON object with an @context');
});
