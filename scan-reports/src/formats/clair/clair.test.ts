import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { clair } from './index.ts';

const read = (name: string) => readAll(clair, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads clair-scanner', async () => {
  const { observations, rejections } = await read('clair-scanner.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'vulnerabilities[0]',
    tool: 'clair',
    rule: 'CVE-2018-20839',
    external_id: null,
    title: 'CVE-2018-20839 in systemd',
    description: 'Passwords can be read.',
    solution: null,
    severity: 'medium',
    tool_severity: 'Medium',
    vulnerability_ids: ['CVE-2018-20839'],
    cwes: [],
    cvss: [],
    references: ['https://people.example.com/CVE-2018-20839'],
    asset: { type: 'container_image', name: 'registry.example.com/shop/web:1.4.2' },
    location: { component: 'systemd', version: '237-3ubuntu10.29', ecosystem: 'deb' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['ubuntu:18.04'],
  });
  expect(observations[1]).toMatchObject({
    severity: 'info',
    tool_severity: 'Negligible',
    location: { fixed_version: '1.44.1-1ubuntu1.2' },
    tags: ['ubuntu:18.04', 'approved'],
  });
});

test('reads klar', async () => {
  expect((await read('klar.json')).observations).toMatchObject([
    {
      place: 'Vulnerabilities.Defcon1[0]',
      rule: 'RHSA-2019:0109',
      vulnerability_ids: ['RHSA-2019:0109'],
      severity: 'critical',
      tool_severity: 'Defcon1',
      cvss: [{ vector: 'AV:N/AC:L/Au:N/C:P/I:P', score: 7.5 }],
      asset: null,
      location: { component: 'perl-libs', version: '4:5.16.3-293.el7', fixed_version: '4:5.16.3-294.el7_6' },
    },
    { rule: 'CVE-2019-0001', severity: 'unknown', location: { component: 'perl' } },
  ]);
});

test('reads a layer of Clair 2', async () => {
  expect((await read('layer.json')).observations).toMatchObject([
    {
      place: 'Layer.Features[0].Vulnerabilities[0]',
      vulnerability_ids: ['CVE-2014-2583'],
      severity: 'low',
      asset: { name: 'sha256:0f1e2d3c' },
      location: { component: 'pam', version: '1.1.8-3.1', fixed_version: '1.1.8-3.2' },
    },
  ]);
});

test('reads one observation per affected package from Clair 4', async () => {
  const digest = 'sha256:b05ac1eeec8635442fa5d3e55d6ef4ad287b9c66055a552c2fd309c334563b0a';
  expect((await read('v4.json')).observations).toMatchObject([
    {
      place: 'vulnerabilities.356835',
      rule: 'CVE-2020-3810',
      severity: 'medium',
      references: ['https://cve.example.com/CVE-2020-3810', 'https://usn.example.com/4359-1'],
      asset: { type: 'container_image', name: digest, identifiers: [{ kind: 'digest', value: digest }] },
      location: { component: 'libapt-pkg5.0', version: '1.6.11', fixed_version: '1.6.12ubuntu0.1' },
    },
    { rule: 'CVE-2020-3810', location: { component: 'apt' } },
    {
      rule: 'RHSA-2019:0049',
      title: 'RHSA-2019:0049: systemd security update (Important)',
      severity: 'high',
      vulnerability_ids: ['RHSA-2019:0049'],
      location: { component: 'systemd', version: '219-62.el7', fixed_version: '0:219-62.el7_6.2' },
    },
  ]);
});

test('rejects malformed vulnerabilities and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'vulnerabilities[0]', reason: 'vulnerability is missing' },
    { place: 'vulnerabilities[1]', reason: 'featurename is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'CVE-2019-0002', location: { component: 'zlib', version: '1.2.8' } }]);
});

test('accepts a report without findings and rejects another report', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{}', '', '[]', '{"version": "15.0.0", "vulnerabilities": [], "scan": {}}'])
    await expect(readAll(clair, fromBuffer(foreign))).rejects.toThrow(/image, unapproved and vulnerabilities/);
  await expect(readAll(clair, fromBuffer('<x/>'))).rejects.toThrow(ReportError);
});

test.each([
  ['clair-scanner', { image: 'shop:1', unapproved: [], vulnerabilities: [] }, 'shop:1'],
  ['Clair 2', { Layer: { Name: 'shop:1', IndexedByVersion: 3, Features: [{ Name: 'zlib', Version: '1' }] } }, 'shop:1'],
  ['Clair 4', { manifest_hash: 'sha256:1', packages: { 1: { name: 'zlib' } }, vulnerabilities: {}, package_vulnerabilities: {} }, 'sha256:1'],
])('a clean report of %s covers its image', async (_, report, name) => {
  const { runs } = await readAll(clair, fromBuffer(JSON.stringify(report)));
  expect(runs).toContainEqual({ asset: expect.objectContaining({ type: 'container_image', name }) });
  expect(runs).not.toContainEqual({ unfinished: true });
});

test('keeps the source package and the distribution', async () => {
  const report = {
    manifest_hash: 'sha256:1',
    packages: { 1: { name: 'libssl3', version: '3.0.8', source: { name: 'openssl' } } },
    vulnerabilities: { 9: { name: 'CVE-2023-0286', distribution: { did: 'debian' } } },
    package_vulnerabilities: { 1: ['9'] },
  };
  expect((await readAll(clair, fromBuffer(JSON.stringify(report)))).observations).toMatchObject([
    { location: { component: 'libssl3', source_package: 'openssl', ecosystem: 'deb' } },
  ]);
});
