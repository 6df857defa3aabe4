import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { osvScanner } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)), name);

test('reads a vulnerable package with all ids of its group and the fix of its branch', async () => {
  const { observations, rejections } = await readAll(osvScanner, fixture('report.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(4);
  expect(observations[0]).toEqual({
    place: 'results[0].packages[0].vulnerabilities[0]',
    tool: 'osv-scanner',
    rule: 'GHSA-v6rh-hp5x-86rv',
    external_id: null,
    title: 'Potential bypass of an upstream access control',
    description: 'Requests with trailing newlines may pass.',
    solution: null,
    severity: 'high',
    tool_severity: 'HIGH',
    vulnerability_ids: ['CVE-2021-44420', 'GHSA-v6rh-hp5x-86rv', 'PYSEC-2021-439'],
    cwes: [290],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:L/A:L' }],
    references: ['https://docs.example.com/releases/security'],
    asset: null,
    location: {
      component: 'django',
      version: '3.2.9',
      fixed_version: '3.2.10',
      purl: 'pkg:pypi/django@3.2.9',
      path: '/work/shop/requirements.txt',
    },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['PyPI', 'dev'],
  });
});

test('uses the score of the group for a record of another database, and tags code that is not called', async () => {
  const { observations } = await readAll(osvScanner, fixture('report.json'));
  expect(observations[1]).toMatchObject({
    rule: 'PYSEC-2021-439',
    title: 'PYSEC-2021-439 in django',
    severity: 'high',
    tool_severity: '7.3',
    vulnerability_ids: ['CVE-2021-44420', 'GHSA-v6rh-hp5x-86rv', 'PYSEC-2021-439'],
    location: { fixed_version: '2.2.25, 3.2.10' },
    tags: ['PyPI', 'dev', 'not-called', 'unimportant'],
  });
});

test('reads a license violation and a withdrawn record of a commit', async () => {
  const { observations } = await readAll(osvScanner, fixture('report.json'));
  expect(observations[2]).toMatchObject({
    place: 'results[0].packages[0].license_violations[0]',
    rule: 'license:BSD-3-Clause',
    severity: 'unknown',
    location: { component: 'django', version: '3.2.9', path: '/work/shop/requirements.txt' },
  });
  expect(observations[3]).toMatchObject({
    rule: 'CVE-2023-50094',
    severity: 'unknown',
    tool_severity: null,
    suppressed: true,
    location: { version: 'f5f3c22f3ed5a6804a2a8d9ee9fa43044cfa24a6', path: '/work/shop/vendor/tool' },
    tags: ['withdrawn'],
  });
});

test('rejects malformed records and reads the rest', async () => {
  const { observations, rejections } = await readAll(osvScanner, fixture('malformed.json'));
  expect(rejections).toEqual([
    { place: 'results[0].packages[0].vulnerabilities[0]', reason: 'id is missing' },
    { place: 'results[0].packages[0].vulnerabilities[1]', reason: 'the record is not an object' },
  ]);
  expect(observations).toHaveLength(1);
  expect(observations[0]).toMatchObject({
    rule: 'RUSTSEC-2023-0001',
    vulnerability_ids: ['RUSTSEC-2023-0001'],
    severity: 'medium',
    location: { component: 'tokio', version: '1.8.0', path: 'Cargo.lock' },
  });
});

test('accepts a report without findings and an empty file, and rejects another file', async () => {
  for (const input of [fixture('empty.json'), fromBuffer(''), fromBuffer('{"results":[]}'), fromBuffer('{"results":null}')])
    expect(await readAll(osvScanner, input)).toMatchObject({ observations: [], rejections: [] });
  expect((await readAll(osvScanner, fromBuffer(''))).runs, 'nothing was scanned, so nothing is gone').toEqual([{ unfinished: true }]);
  for (const foreign of ['{"results":[{"check_id":"a","path":"b"}],"errors":[],"paths":{}}', '{"results":[],"errors":[]}', '{"Results":[]}', '[]', '<a/>'])
    await expect(readAll(osvScanner, fromBuffer(foreign))).rejects.toThrow('Expected a JSON object with results, each with source and packages.');
});

const packageOf = (name: object, vulnerability: object, group: object = {}) => ({ package: name, groups: [group], vulnerabilities: [vulnerability] });
const report = (packages: object[], more: object = {}) =>
  fromBuffer(JSON.stringify({ results: [{ source: { path: '/a/lock', type: 'lockfile' }, packages }], ...more }));

test('rates by the scores of the group or the vectors of the record if there is no word', async () => {
  const lodash = { name: 'lodash', version: '4.17.15', ecosystem: 'npm' };
  const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';
  const vulnerability = { id: 'GHSA-35jh-r3h4-6jhm', severity: [{ type: 'CVSS_V3', score: vector }] };
  const { observations } = await readAll(
    osvScanner,
    report([
      packageOf(lodash, vulnerability),
      packageOf(lodash, vulnerability, { ids: ['GHSA-35jh-r3h4-6jhm'], max_severity: '7.2' }),
      packageOf(lodash, { id: 'PYSEC-1' }, { ids: ['PYSEC-1'], max_severity: '7.2' }),
      packageOf(lodash, { id: 'PYSEC-2' }),
    ]),
  );
  expect(observations.map(({ severity, tool_severity, cvss }) => [severity, tool_severity, cvss])).toEqual([
    ['critical', null, [{ vector }]],
    ['high', '7.2', [{ vector }]],
    ['high', '7.2', [{ score: 7.2 }]],
    ['unknown', null, []],
  ]);
});

test('a malicious package is critical', async () => {
  const entry = {
    id: 'MAL-2024-1234',
    affected: [{ package: { name: '@evil/pad', ecosystem: 'npm', purl: 'pkg:npm/%40evil/pad' }, database_specific: { cwes: [{ cweId: 'CWE-506' }] } }],
  };
  const { observations } = await readAll(osvScanner, report([packageOf({ name: '@evil/pad', version: '1.0.0', ecosystem: 'npm' }, entry)]));
  expect(observations).toMatchObject([
    { malicious: true, severity: 'critical', cwes: [506], location: { component: '@evil/pad', purl: 'pkg:npm/%40evil/pad@1.0.0' } },
  ]);
});

test('names the installed package of a distribution, its source package and its layer', async () => {
  const installed = { name: 'openssl', os_package_name: 'libssl3', version: '3.0.8', ecosystem: 'Debian:12', image_origin_details: { index: 1 } };
  const entry = { id: 'CVE-2023-0286', affected: [{ package: { name: 'openssl', ecosystem: 'Debian:12', purl: 'pkg:deb/debian/openssl?arch=source' } }] };
  const layers = { image_metadata: { layer_metadata: [{ diff_id: 'sha256:0' }, { diff_id: 'sha256:1' }] } };
  const { observations } = await readAll(osvScanner, report([packageOf(installed, entry)], layers));
  expect(observations[0]?.location).toEqual({
    component: 'libssl3',
    version: '3.0.8',
    ecosystem: 'deb',
    source_package: 'openssl',
    layer: 'sha256:1',
    path: '/a/lock',
  });
});

test('names the lock files in which it found something', async () => {
  expect((await readAll(osvScanner, fixture('report.json'))).runs).toMatchObject([{ lock_files: ['/work/shop/requirements.txt', '/work/shop/vendor/tool'] }]);
  expect((await readAll(osvScanner, fixture('empty.json'))).runs, 'no list of allowed licenses').toEqual([
    { looked_for: ['suppressed'], left_out: ['licenses'] },
  ]);
});
