import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { detectFormat, headOf } from '../../detect.ts';
import { formats } from '../../registry.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { cyclonedx } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)), name);

const IMAGE = {
  type: 'container_image',
  name: 'registry.example.com/shop/web:1.4',
  identifiers: [
    { kind: 'digest', value: `sha256:${'3'.repeat(64)}` },
    { kind: 'image_id', value: `sha256:${'1'.repeat(64)}` },
  ],
};

test('JSON: reads one observation per affected component, also if components come later or are nested', async () => {
  const { observations, rejections } = await readAll(cyclonedx, fixture('v1-6.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(6);
  expect(observations[0]).toEqual({
    place: 'vulnerabilities[0].affects[0]',
    tool: 'trivy',
    rule: 'GHSA-jfh8-c2jp-5v3q',
    external_id: null,
    title: 'GHSA-jfh8-c2jp-5v3q in org.apache.logging.log4j:log4j-core',
    description: 'A lookup may load remote code.\n\nMessage lookup substitution.',
    solution: 'Upgrade log4j-core to version 2.17.1\n\nRemove the class',
    severity: 'high',
    tool_severity: 'high',
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    cwes: [502, 20],
    cvss: [
      { vector: 'AV:N/AC:M/Au:N/C:C/I:C/A:C', score: 9.3 },
      { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 },
    ],
    references: [
      'https://github.com/advisories/GHSA-jfh8-c2jp-5v3q',
      'https://nvd.nist.gov/vuln/detail/CVE-2021-44228',
      'https://logging.example.org/security',
    ],
    asset: IMAGE,
    location: {
      component: 'org.apache.logging.log4j:log4j-core',
      version: '2.14.1',
      fixed_version: '2.17.1',
      purl: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1',
      path: 'app/lib/log4j-core-2.14.1.jar',
    },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2025-02-03T04:05:06Z'),
    tags: [],
    severity_source: 'ghsa',
  });
  expect(observations[1]).toMatchObject({
    place: 'vulnerabilities[0].affects[1]',
    location: { component: '@example/wrapper', version: '1.0.0', purl: 'pkg:npm/%40example/wrapper@1.0.0' },
  });
});

test('JSON: reads the analysis state and ratings without a severity word', async () => {
  const { observations } = await readAll(cyclonedx, fixture('v1-6.json'));
  expect(observations[2]).toMatchObject({
    place: 'vulnerabilities[1]',
    rule: 'CVE-2020-9488',
    severity: 'low',
    tool_severity: '3.7',
    cvss: [{ vector: 'CVSS:3.0/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:N/A:N', score: 3.7 }],
    location: { component: 'liblog4j', version: '1.2', path: '/usr/share/java/log4j.jar' },
    present: true,
    suppressed: true,
  });
  expect(observations[3]).toMatchObject({ rule: 'CVE-2022-22965', severity: 'info', present: true, suppressed: true, analysis: { state: 'not_affected' } });
  expect(observations[4]).toMatchObject({ rule: 'CVE-2023-0001', severity: 'unknown', present: true, suppressed: true });
  expect(observations[5]).toMatchObject({ rule: 'ACME-2024-7', tool: 'finder', title: 'ACME-2024-7', asset: IMAGE, location: {}, present: true });
});

test('XML: reads version 1.5', async () => {
  const { observations, rejections } = await readAll(cyclonedx, fixture('v1-5.xml'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(3);
  expect(observations[0]).toMatchObject({
    place: 'vulnerabilities[1]/vulnerability[1]/affects[1]/target[1]',
    tool: 'dependency-track',
    rule: 'CVE-2024-1000',
    description: 'A parser & its holes.',
    solution: 'Upgrade.',
    severity: 'high',
    vulnerability_ids: ['CVE-2024-1000', 'GHSA-2222-3333-4444'],
    cwes: [79, 89],
    cvss: [{ vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', score: 8.8 }],
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2024-1000', 'https://github.com/advisories/GHSA-2222-3333-4444', 'https://vendor.example.com/1'],
    asset: { type: 'repository', name: 'https://git.example.com/shop', identifiers: [{ kind: 'purl', value: 'pkg:maven/com.example/shop@3.1' }] },
    location: { component: '@example/parser', version: '2.0.0', purl: 'pkg:npm/%40example/parser@2.0.0', path: 'web/package-lock.json' },
    present: true,
  });
  expect(observations[1]).toMatchObject({
    place: 'vulnerabilities[1]/vulnerability[1]/affects[1]/target[2]',
    location: { component: 'inner', version: '0.9' },
  });
  expect(observations[2]).toMatchObject({ place: 'vulnerabilities[1]/vulnerability[2]', rule: 'CVE-2024-2000', severity: 'unknown', present: false });
});

test('XML: reads the old vulnerability extension next to and inside components', async () => {
  const { observations, rejections } = await readAll(cyclonedx, fixture('v1-2-extension.xml'));
  expect(rejections).toEqual([]);
  expect(observations.map(({ place, rule, severity, location }) => ({ place, rule, severity, location }))).toEqual([
    {
      place: 'components[1]/component[2]/vulnerabilities[1]/vulnerability[1]',
      rule: 'CVE-2018-1000656',
      severity: 'high',
      location: { component: 'Flask', version: '0.12' },
    },
    {
      place: 'components[1]/component[2]/components[1]/component[1]/vulnerabilities[1]/vulnerability[1]',
      rule: 'CVE-2019-1010083',
      severity: 'unknown',
      location: { component: 'inner' },
    },
    {
      place: 'vulnerabilities[1]/vulnerability[1]',
      rule: 'CVE-2018-7489',
      severity: 'critical',
      location: { component: 'com.example:bind', version: '2.9.9', purl: 'pkg:maven/com.example/bind@2.9.9' },
    },
  ]);
  expect(observations[2]).toMatchObject({
    tool: 'cyclonedx',
    solution: 'Upgrade',
    tool_severity: 'Critical',
    cwes: [184, 502],
    cvss: [{ vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 9.8 }],
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2018-7489', 'https://vendor.example.com/2'],
    asset: null,
  });
});

test('rejects malformed vulnerabilities and targets, and ignores a scanned directory as asset', async () => {
  const { observations, rejections } = await readAll(cyclonedx, fixture('malformed.json'));
  expect(rejections).toEqual([
    { place: 'vulnerabilities[0]', reason: 'id is missing' },
    { place: 'vulnerabilities[1]', reason: 'the record is not an object' },
    { place: 'vulnerabilities[2].affects[0]', reason: 'affects.ref is missing' },
    { place: 'vulnerabilities[2].affects[1]', reason: 'affects has an entry that is not an object' },
  ]);
  expect(observations).toHaveLength(1);
  expect(observations[0]).toMatchObject({ tool: 'grype', asset: null, location: { component: 'unknown-part' } });
});

test('accepts a BOM without vulnerabilities and rejects other files', async () => {
  for (const name of ['empty.json', 'empty.xml']) expect(await readAll(cyclonedx, fixture(name))).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{"vulnerabilities":[]}', '<bom xmlns="http://example.com/bom"/>', '<analysis/>', '[]', ''])
    await expect(readAll(cyclonedx, fromBuffer(foreign))).rejects.toThrow('Expected JSON with bomFormat "CycloneDX", or XML with the root element bom');
});

test.each(['components', 'vulnerabilities', 'metadata'])('is detected if bomFormat comes after long %s', async (first) => {
  const entries = Array.from({ length: 1_000 }, (_, index) => ({ 'bom-ref': `ref-${index}`, type: 'library', name: 'x'.repeat(100) }));
  const start = first === 'metadata' ? { specVersion: '1.6', metadata: { properties: entries } } : { [first]: entries };
  expect(detectFormat(formats, await headOf(fromBuffer(JSON.stringify({ ...start, bomFormat: 'CycloneDX' }))))?.id).toBe('cyclonedx');
});

const bom = (more: object) => fromBuffer(JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', ...more }));

test('an inventory without a list of vulnerabilities is not a clean report', async () => {
  const metadata = {
    timestamp: '2025-02-03T04:05:06Z',
    tools: { components: [{ name: 'Trivy', version: '0.69.1' }] },
    component: { type: 'application', name: 'shop', version: '1.4' },
  };
  const run = [{ tool_version: '0.69.1', finished_at: new Date('2025-02-03T04:05:06Z') }, { asset: { type: 'other', name: 'shop', version: '1.4' } }];
  expect((await readAll(cyclonedx, bom({ metadata }))).runs).toEqual([...run, { inventory_only: true }]);
  expect((await readAll(cyclonedx, bom({ metadata, vulnerabilities: [] }))).runs).toEqual(run);
  for (const name of ['empty.json', 'empty.xml']) expect((await readAll(cyclonedx, fixture(name))).runs).toEqual([{ inventory_only: true }]);
  const clean = '<bom xmlns="http://cyclonedx.org/schema/bom/1.5"><components/><vulnerabilities/></bom>';
  expect((await readAll(cyclonedx, fromBuffer(clean))).runs).toEqual([]);
  for (const name of ['v1-6.json', 'v1-5.xml', 'v1-2-extension.xml'])
    expect((await readAll(cyclonedx, fixture(name))).runs.some(({ inventory_only }) => inventory_only)).toBe(false);
});

test('keeps the whole analysis, in JSON and XML', async () => {
  const analysis = { state: 'not_affected', justification: 'code_not_reachable', response: ['will_not_fix', 'update'], detail: 'Nobody calls it.' };
  const expected = { ...analysis, response: 'will_not_fix, update' };
  const { observations } = await readAll(
    cyclonedx,
    bom({
      vulnerabilities: [
        { id: 'CVE-2024-1', analysis },
        { id: 'CVE-2024-2', analysis: {} },
      ],
    }),
  );
  expect(observations[0]).toMatchObject({ present: true, suppressed: true, analysis: expected });
  expect(observations[1]).not.toHaveProperty('analysis');
  const xml = `<bom xmlns="http://cyclonedx.org/schema/bom/1.5"><vulnerabilities><vulnerability><id>CVE-2024-1</id><analysis><state>not_affected</state>
    <justification>code_not_reachable</justification><responses><response>will_not_fix</response><response>update</response></responses><detail>Nobody calls it.</detail>
    </analysis></vulnerability></vulnerabilities></bom>`;
  expect((await readAll(cyclonedx, fromBuffer(xml))).observations[0]?.analysis).toEqual(expected);
});

test('keeps fixed versions, source package, layer, rater, bare scores and every file of a component', async () => {
  const component = {
    type: 'library',
    'bom-ref': 'a',
    name: 'libssl3',
    properties: [
      { name: 'aquasecurity:trivy:SrcName', value: 'openssl' },
      { name: 'aquasecurity:trivy:LayerDiffID', value: 'sha256:1' },
    ],
    evidence: { occurrences: [{ location: 'a/x' }, { location: 'b/x' }, { location: 'a/x' }] },
  };
  const vulnerability = {
    id: 'CVE-2024-1',
    ratings: [{ source: { name: 'NVD' }, score: 7.5, severity: 'high', method: 'CVSSv31' }],
    affects: [{ ref: 'a' }],
    properties: [{ name: 'grype:fixed_versions', value: '3.0.9' }],
  };
  const { observations } = await readAll(cyclonedx, bom({ components: [component], vulnerabilities: [vulnerability] }));
  const location = { component: 'libssl3', fixed_version: '3.0.9', source_package: 'openssl', layer: 'sha256:1' };
  expect(observations.map((one) => one.location)).toEqual([
    { ...location, path: 'a/x' },
    { ...location, path: 'b/x' },
  ]);
  expect(observations[0]).toMatchObject({ severity_source: 'nvd', cvss: [{ score: 7.5, version: '3.1' }] });
  const recommendation = 'Upgrade openssl to version 3.0.8; Upgrade libssl3 to version 3.0.9-1';
  const upgraded = await readAll(cyclonedx, bom({ components: [component], vulnerabilities: [{ ...vulnerability, properties: [], recommendation }] }));
  expect(upgraded.observations[0]?.location.fixed_version).toBe('3.0.9-1');
});
