import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { grype } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)), name);

test('reads a GHSA match with its CVE, CWE, fix, location and image', async () => {
  const { observations, rejections } = await readAll(grype, fixture('image.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(4);
  expect(observations[0]).toEqual({
    place: 'matches[0]',
    tool: 'grype',
    rule: 'GHSA-jfh8-c2jp-5v3q',
    external_id: null,
    title: 'GHSA-jfh8-c2jp-5v3q in log4j-core',
    description: 'Remote code injection in a logging library',
    solution: null,
    severity: 'critical',
    tool_severity: 'Critical',
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    cwes: [502, 20],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 }],
    references: [
      'https://github.com/advisories/GHSA-jfh8-c2jp-5v3q',
      'https://nvd.nist.gov/vuln/detail/CVE-2021-44228',
      'https://logging.example.org/security',
      'https://advisories.example.com/ADV-1',
    ],
    asset: {
      type: 'container_image',
      name: 'registry.example.com/shop/web:1.4',
      identifiers: [
        { kind: 'digest', value: `sha256:${'3'.repeat(64)}` },
        { kind: 'digest', value: `sha256:${'2'.repeat(64)}` },
        { kind: 'image_id', value: `sha256:${'1'.repeat(64)}` },
      ],
    },
    location: {
      component: 'log4j-core',
      version: '2.14.1',
      fixed_version: '2.15.0',
      purl: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1',
      layer: 'sha256:aaaa',
      path: '/app/lib/log4j-core-2.14.1.jar',
    },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2025-03-04T05:06:07.123Z'),
    tags: ['java-archive'],
    severity_source: 'ghsa',
    fix_state: 'available',
    fix_published_date: '2021-12-10',
  });
});

test.each([
  ['the date of the fixed version', ['2.0'], [{ version: '2.0', date: '2024-05-06', kind: 'advisory' }], '2024-05-06'],
  [
    'the earliest of several fixed versions',
    ['1.9', '2.0'],
    [
      { version: '2.0', date: '2024-05-06' },
      { version: '1.9', date: '2024-04-05' },
      { version: '1.8', date: '2023-01-01' },
    ],
    '2024-04-05',
  ],
  ['nothing if the date is of another version', ['2.0'], [{ version: '1.8', date: '2023-01-01' }], undefined],
  ['nothing if the date is not valid', ['2.0'], [{ version: '2.0', date: '2024-02-30' }, { version: '2.0' }, null], undefined],
  ['nothing if there is no list', ['2.0'], undefined, undefined],
])('the fix was published on %s', async (_, versions, available, published) => {
  const match = { vulnerability: { id: 'CVE-2024-1', fix: { state: 'fixed', versions, available } }, artifact: { name: 'lib', version: '1.0', type: 'npm' } };
  const { observations } = await readAll(grype, fromBuffer(JSON.stringify({ matches: [match], descriptor: { name: 'grype' } })));
  expect(observations.map(({ fix_published_date }) => fix_published_date)).toEqual([published]);
});

test('keeps EPSS, known exploitation, fix state, source package, layer, rater and scores without a vector', async () => {
  const match = {
    vulnerability: {
      id: 'CVE-2023-0286',
      severity: 'High',
      namespace: 'debian:distro:debian:12',
      cvss: [{ version: '3.1', metrics: { baseScore: 7.4 } }],
      epss: [{ cve: 'CVE-2023-0286', epss: 0.88, percentile: 0.99, date: '2025-03-04' }],
      knownExploited: [{ cve: 'CVE-2023-0286' }],
      fix: { state: 'wont-fix', versions: [] },
    },
    artifact: { name: 'libssl3', version: '3.0.8', type: 'deb', upstreams: [{ name: 'openssl' }], locations: [{ path: '/x', layerID: 'sha256:1' }] },
  };
  const npm = { vulnerability: { id: 'GHSA-35jh-r3h4-6jhm', namespace: 'github:language:javascript' }, artifact: { name: 'lodash', type: 'npm' } };
  const report = { matches: [match, npm], descriptor: { name: 'grype' } };
  const { observations, runs } = await readAll(grype, fromBuffer(JSON.stringify(report)));
  expect(observations).toMatchObject([
    {
      cvss: [{ score: 7.4, version: '3.1' }],
      severity_source: 'debian',
      epss: { score: 0.88, percentile: 0.99, date: '2025-03-04' },
      known_exploited: true,
      fix_state: 'will_not_fix',
      location: { component: 'libssl3', ecosystem: 'deb', source_package: 'openssl', layer: 'sha256:1' },
    },
    { severity_source: 'ghsa', location: { component: 'lodash', ecosystem: 'npm' } },
  ]);
  expect(observations[1]).not.toHaveProperty('known_exploited');
  expect(runs).toEqual([{ looked_for: ['suppressed'] }]);
});

test.each([
  ['schema 5', { built: '2025-03-01T01:02:03Z', schemaVersion: 5 }, '5'],
  ['schema 6', { status: { built: '2025-03-01T01:02:03Z', schemaVersion: 'v6.0.2' }, providers: {} }, 'v6.0.2'],
])('states version, time, database (%s) and image of the run', async (_, db, knowledge) => {
  const descriptor = { name: 'grype', version: '0.91.0', timestamp: '2025-03-04T05:06:07Z', db };
  const report = { matches: [], source: { type: 'image', target: { userInput: 'shop:1' } }, descriptor };
  expect((await readAll(grype, fromBuffer(JSON.stringify(report)))).runs).toEqual([
    {
      tool_version: '0.91.0',
      finished_at: new Date('2025-03-04T05:06:07Z'),
      knowledge,
      knowledge_at: new Date('2025-03-01T01:02:03Z'),
      looked_for: ['suppressed'],
    },
    { asset: { type: 'container_image', name: 'shop:1' } },
  ]);
});

test('uses the scores of the related vulnerability if a match has none', async () => {
  const { observations } = await readAll(grype, fixture('image.json'));
  expect(observations[1]).toMatchObject({
    severity: 'info',
    tool_severity: 'Negligible',
    vulnerability_ids: ['CVE-2020-1751'],
    cvss: [{ vector: 'AV:L/AC:M/Au:N/C:P/I:P/A:C', score: 5.9 }, { vector: 'CVSS:3.1/AV:L/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
    location: { component: 'libc6', version: '2.28-10', purl: 'pkg:deb/debian/libc6@2.28-10' },
    tags: ['deb', 'wont-fix'],
  });
});

test('keeps ignored matches as suppressed, and those that VEX declares fixed as not present', async () => {
  const { observations } = await readAll(grype, fixture('image.json'));
  expect(observations.slice(2).map(({ place, rule, severity, present, suppressed }) => ({ place, rule, severity, present, suppressed }))).toEqual([
    { place: 'ignoredMatches[0]', rule: 'CVE-2019-8457', severity: 'unknown', present: true, suppressed: true },
    { place: 'ignoredMatches[1]', rule: 'CVE-2022-0778', severity: 'high', present: true, suppressed: true },
  ]);
  const ignored = (rule: object) => ({ vulnerability: { id: 'CVE-2022-1' }, artifact: { name: 'a' }, appliedIgnoreRules: [rule] });
  const rules = [{ 'vex-status': 'fixed' }, { reason: 'DistroPackageFixed' }, { 'vex-status': 'not_affected', 'vex-justification': 'component_not_present' }];
  const report = { matches: [], ignoredMatches: rules.map(ignored), descriptor: { name: 'grype' } };
  const { observations: judged } = await readAll(grype, fromBuffer(JSON.stringify(report)));
  expect(judged.map(({ present, analysis }) => [present, analysis])).toEqual([
    [false, { state: 'resolved' }],
    [false, { detail: 'DistroPackageFixed' }],
    [true, { state: 'not_affected', justification: 'component_not_present' }],
  ]);
});

test('rejects malformed matches and ignores the current directory as asset', async () => {
  const { observations, rejections } = await readAll(grype, fixture('directory-malformed.json'));
  expect(rejections).toEqual([
    { place: 'matches[0]', reason: 'vulnerability.id is missing' },
    { place: 'matches[1]', reason: 'vulnerability.id is missing' },
  ]);
  expect(observations).toHaveLength(1);
  expect(observations[0]).toMatchObject({
    place: 'matches[2]',
    vulnerability_ids: ['CVE-2021-23337', 'GHSA-35jh-r3h4-6jhm'],
    asset: null,
    location: { component: 'lodash', version: '4.17.20', fixed_version: '4.17.21', path: '/package-lock.json' },
  });
});

test('accepts a report without matches and rejects other files and an empty file', async () => {
  expect(await readAll(grype, fixture('empty.json'))).toEqual({
    observations: [],
    rejections: [],
    runs: [
      { tool_version: '0.91.0', looked_for: ['suppressed'] },
      { left_out: ['system_packages'] },
      { asset: { type: 'container_image', name: 'scratch-like:1' } },
    ],
  });
  for (const foreign of ['{"version":"2.1.0","runs":[]}', '{"matches":[{"name":"a game"}]}', '<bom/>', '', 'null'])
    await expect(readAll(grype, fromBuffer(foreign))).rejects.toThrow(
      new ReportError('The file does not have this format. Expected a JSON object with matches and a descriptor named grype.'),
    );
});

test.each<[string, object, object, readonly string[]]>([
  ['everything', { 'only-fixed': false }, { name: 'debian' }, ['up_to_medium', 'without_fix', 'system_packages', 'suppressed']],
  ['only what has a fix', { 'only-fixed': true }, { name: 'debian' }, ['up_to_medium', 'system_packages', 'suppressed']],
  ['an image without a distribution', { 'only-fixed': false }, { name: '' }, ['up_to_medium', 'without_fix', 'suppressed']],
  ['not all files', { 'only-fixed': false, exclude: ['/var/**'] }, { name: 'debian' }, ['suppressed']],
  ['unknown options', {}, { name: 'debian' }, ['suppressed']],
])('states what it looked for: %s', async (_, configuration, distro, expected) => {
  const report = { matches: [], distro, descriptor: { name: 'grype', version: '0.91.0', configuration } };
  const { runs } = await readAll(grype, fromBuffer(JSON.stringify(report)));
  expect(runs[0]?.looked_for).toEqual(expected);
});

test.each([
  ['a folder', { source: { type: 'directory', target: 'services/a' } }, { restrictions: ['target services/a'] }],
  [
    'an image whose distribution it does not recognize',
    { source: { type: 'image', target: { userInput: 'shop:1' } }, distro: { name: '', version: '' } },
    { left_out: ['system_packages'] },
  ],
])('a scan of %s says nothing about the rest', async (_, scanned, limits) => {
  const { runs } = await readAll(grype, fromBuffer(JSON.stringify({ matches: [], ...scanned, descriptor: { name: 'grype', version: '0.91.0' } })));
  expect(runs).toContainEqual(limits);
});
