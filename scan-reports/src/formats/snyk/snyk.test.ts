import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { headOf } from '../../detect.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { snyk } from './index.ts';

const fixture = (name: string) => fromBuffer(readFileSync(new URL(`./fixtures/${name}`, import.meta.url)), name);

test('reads a vulnerable dependency of a project', async () => {
  const { observations, rejections } = await readAll(snyk, fixture('project.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(5);
  expect(observations[0]).toEqual({
    place: 'vulnerabilities[0]',
    tool: 'snyk',
    rule: 'SNYK-JS-LODASH-1040724',
    external_id: null,
    title: 'Command Injection',
    description: 'Introduced through: shop > @example/build@7.0.0 > lodash@4.17.20\n\n## Overview\nTemplates may run code.',
    solution: 'Upgrade to @example/build@7.1.0',
    severity: 'high',
    tool_severity: 'high',
    vulnerability_ids: ['CVE-2021-23337', 'GHSA-35jh-r3h4-6jhm', 'SNYK-JS-LODASH-1040724'],
    cwes: [78],
    cvss: [
      { vector: 'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H', score: 7.2 },
      { vector: 'CVSS:4.0/AV:N/AC:L/AT:N/PR:H/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', score: 8.6 },
    ],
    references: ['https://git.example.com/lodash/commit/1'],
    asset: { type: 'repository', name: 'shop' },
    location: { component: 'lodash', version: '4.17.20', fixed_version: '4.17.21', ecosystem: 'npm', path: 'web/package-lock.json' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['npm'],
    exploit_maturity: 'proof_of_concept',
    fix_state: 'available',
  });
});

test('reads critical vulnerabilities of older versions, licenses, and ignored or patched vulnerabilities', async () => {
  const { observations } = await readAll(snyk, fixture('project.json'));
  expect(observations[1]).toMatchObject({
    rule: 'SNYK-JS-OLD-1',
    severity: 'critical',
    tool_severity: 'critical',
    location: { component: 'old', version: '0.1.0' },
  });
  expect(observations[2]).toMatchObject({
    rule: 'snyk:lic:npm:copyleft:GPL-3.0',
    severity: 'medium',
    vulnerability_ids: [],
    solution: 'Ask the lawyers',
    tags: ['npm', 'license'],
  });
  expect(observations[3]).toMatchObject({
    place: 'filtered.ignore[0]',
    vulnerability_ids: ['CVE-2020-7598', 'SNYK-JS-MINIMIST-559764'],
    present: true,
    suppressed: true,
  });
  expect(observations[4]).toMatchObject({ place: 'filtered.patch[0]', rule: 'npm:ms:20170412', present: false, suppressed: false });
});

test('reads packages of an image and of its applications', async () => {
  const { observations, rejections } = await readAll(snyk, fixture('container.json'));
  expect(rejections).toEqual([]);
  const asset = { type: 'container_image', name: 'registry.example.com/shop/web:1.4' };
  expect(observations).toHaveLength(2);
  expect(observations[0]).toMatchObject({
    severity: 'low',
    asset,
    cvss: [
      { vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:N', score: 4.8 },
      { vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H', score: 8.1 },
    ],
    location: { component: 'libgcc-s1', source_package: 'gcc-10', version: '10.2.1-6', fixed_version: '10.2.1-7' },
  });
  expect(observations[1]).toMatchObject({
    place: 'applications[0].vulnerabilities[0]',
    asset,
    location: { component: 'qs', version: '6.5.2', fixed_version: '6.5.3, 6.7.3', path: '/app/package.json' },
  });
});

test('reads several projects and rejects malformed records and untested projects', async () => {
  const { observations, rejections } = await readAll(snyk, fixture('all-projects-malformed.json'));
  expect(rejections).toEqual([
    { place: '[1]', reason: 'the project could not be tested: Missing node_modules folder' },
    { place: '[2].vulnerabilities[0]', reason: 'id is missing' },
    { place: '[2].vulnerabilities[1]', reason: 'the package name is missing' },
    { place: '[2].vulnerabilities[2]', reason: 'the record is not an object' },
  ]);
  expect(observations).toHaveLength(1);
  expect(observations[0]).toMatchObject({
    place: '[2].vulnerabilities[3]',
    rule: 'SNYK-JAVA-COMEXAMPLE-1',
    severity: 'medium',
    asset: { type: 'repository', name: 'com.example:service' },
    location: { component: 'com.example:xml', version: '2.1.1', path: 'service/pom.xml' },
  });
});

test('reads infrastructure as code issues', async () => {
  const { observations, rejections } = await readAll(snyk, fixture('iac.json'));
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(2);
  expect(observations[0]).toMatchObject({
    place: '[0].infrastructureAsCodeIssues[0]',
    rule: 'SNYK-CC-TF-45',
    title: 'S3 bucket is not encrypted',
    description: 'Non-encrypted S3 bucket at rest\n\nObjects may be read',
    solution: 'Set the encryption\n\nSet `sse_algorithm`',
    severity: 'medium',
    references: ['https://snyk.io/security-rules/SNYK-CC-TF-45', 'https://docs.example.com/s3'],
    asset: { type: 'repository', name: 'infra' },
    location: { path: 'infra/main.tf', line: 12, resource: 'resource.aws_s3_bucket[logs].server_side_encryption' },
    suppressed: false,
  });
  expect(observations[1]).toMatchObject({
    rule: 'CUSTOM-1',
    severity: 'info',
    description: 'Own rule',
    suppressed: true,
    location: { resource: 'resource.x' },
  });
  expect(observations[1]?.location).not.toHaveProperty('line');
});

test('reads issues from the REST API', async () => {
  const { observations, rejections } = await readAll(snyk, fixture('issues-api.json'));
  expect(rejections).toEqual([{ place: 'data[3]', reason: 'key is missing' }]);
  expect(observations).toHaveLength(3);
  const project = '00000000-0000-4000-8000-00000000aaaa';
  expect(observations[0]).toEqual({
    place: 'data[0]',
    tool: 'snyk',
    rule: 'SNYK-PYTHON-PILLOW-5918878',
    external_id: '00000000-0000-4000-8000-000000000001',
    title: 'Heap-based Buffer Overflow',
    description: null,
    solution: 'Upgrade pillow to 10.0.1',
    severity: 'critical',
    tool_severity: 'critical',
    vulnerability_ids: ['CVE-2023-4863', 'SNYK-PYTHON-PILLOW-5918878'],
    cwes: [122],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:H/I:H/A:H', score: 9.6 }],
    references: ['https://nvd.nist.gov/vuln/detail/CVE-2023-4863'],
    asset: { type: 'repository', name: project, identifiers: [{ kind: 'cloud_id', value: project }] },
    location: { component: 'pillow', version: '9.5.0' },
    present: true,
    suppressed: true,
    first_seen: new Date('2025-09-11T18:25:22.457Z'),
    last_seen: null,
    tags: ['package_vulnerability'],
  });
  expect(observations[1]).toMatchObject({
    rule: 'SQL Injection',
    external_id: '00000000-0000-4000-8000-000000000002',
    vulnerability_ids: [],
    cwes: [89],
    asset: null,
    location: { path: 'src/db.ts', line: 4, end_line: 6 },
    present: false,
    suppressed: false,
  });
  expect(observations[2]).toMatchObject({
    rule: 'SNYK-CC-00148',
    asset: { type: 'cloud_resource', name: 'arn:aws:s3:::example-logs', identifiers: [{ kind: 'arn', value: 'arn:aws:s3:::example-logs' }] },
    location: { resource: 'arn:aws:s3:::example-logs' },
  });
});

test('reads a single issue', async () => {
  const issue = { id: 'a1', attributes: { key: 'SNYK-JS-A-1', title: 'A', effective_severity_level: 'low', type: 'package_vulnerability' } };
  const { observations } = await readAll(snyk, fromBuffer(JSON.stringify({ jsonapi: { version: '1.0' }, data: issue })));
  expect(observations).toMatchObject([{ place: 'data', rule: 'SNYK-JS-A-1', external_id: 'a1', severity: 'low' }]);
});

test('is detected if the project fields come after many vulnerabilities', async () => {
  const vulnerabilities = Array.from({ length: 300 }, (_, index) => ({
    id: `SNYK-JS-A-${index}`,
    name: 'a',
    version: '1',
    description: 'x'.repeat(500),
    upgradePath: [],
  }));
  const input = fromBuffer(JSON.stringify({ vulnerabilities, ok: false, packageManager: 'npm', projectName: 'shop' }));
  expect(snyk.detect(await headOf(input))).toBe(true);
  const { observations } = await readAll(snyk, input);
  expect(observations).toHaveLength(300);
  expect(observations[0]?.asset?.name).toBe('shop');
});

test('accepts a report without findings and rejects a failed test, SARIF and other files', async () => {
  for (const input of [fixture('empty-all-projects.json'), fixture('empty-api.json'), fromBuffer('[]')])
    expect(await readAll(snyk, input)).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(snyk, fromBuffer('{"ok":false,"error":"Authentication failed","path":"/home/build"}'))).rejects.toThrow(
    'The project could not be tested: Authentication failed',
  );
  for (const foreign of [
    '{"version":"2.1.0","runs":[]}',
    '{"auditReportVersion":2,"vulnerabilities":{}}',
    '{"version":"15.0.0","vulnerabilities":[],"scan":{}}',
    '<a/>',
    '',
  ])
    await expect(readAll(snyk, fromBuffer(foreign))).rejects.toThrow(/Expected JSON of `snyk test`/);
});

test('says that a run without projects looked at nothing', async () => {
  expect((await readAll(snyk, fromBuffer('[]'))).runs).toEqual([{ unfinished: true }]);
  expect((await readAll(snyk, fixture('empty-all-projects.json'))).runs).not.toContainEqual({ unfinished: true });
});

test('keeps EPSS, exploit maturity, known exploitation, malicious packages and scores without a vector', async () => {
  const entry = (more: object) => ({ id: 'SNYK-JS-A-1', name: 'a/b', version: '1', ...more });
  const vulnerabilities = [
    entry({
      epssDetails: { percentile: '0.97000', probability: '0.51000', modelVersion: 'v2025.03.14' },
      exploit: 'Not Defined',
      exploitDetails: {
        sources: ['CISA', 'Snyk'],
        maturityLevels: [
          { format: 'CVSSv3', level: 'Not Defined' },
          { format: 'CVSSv4', level: 'Attacked' },
        ],
      },
      cvssScore: 7.5,
    }),
    entry({ exploit: 'Proof of Concept', malicious: true }),
    entry({ exploit: 'Not Defined' }),
  ];
  const { observations } = await readAll(snyk, fromBuffer(JSON.stringify({ vulnerabilities, ok: false, packageManager: 'npm', projectName: 'shop' })));
  expect(observations[0]).toMatchObject({
    epss: { score: 0.51, percentile: 0.97 },
    exploit_maturity: 'attacked',
    known_exploited: true,
    cvss: [{ score: 7.5, version: '3.1' }],
    location: { component: 'a/b', ecosystem: 'npm' },
  });
  expect(observations[0]?.location).not.toHaveProperty('source_package');
  expect(observations[1]).toMatchObject({ exploit_maturity: 'proof_of_concept', malicious: true });
  for (const field of ['epss', 'exploit_maturity', 'known_exploited', 'malicious']) expect(observations[2]).not.toHaveProperty(field);
});

test('covers every project that was tested, even without vulnerabilities', async () => {
  expect((await readAll(snyk, fixture('container.json'))).runs).toEqual([
    { left_out: ['misconfigurations'] },
    { asset: { type: 'container_image', name: 'registry.example.com/shop/web:1.4' } },
  ]);
  const project = { vulnerabilities: [], ok: true, dependencyCount: 3, packageManager: 'npm' };
  const projects = [
    { ...project, projectName: 'shop' },
    { ...project, projectName: 'api' },
    { ...project, projectName: 'shop' },
  ];
  const failed = { ok: false, error: 'Missing lock file', path: '/x', projectName: 'broken' };
  expect((await readAll(snyk, fromBuffer(JSON.stringify([...projects, failed])))).runs).toEqual([
    { left_out: ['misconfigurations'] },
    { asset: { type: 'repository', name: 'shop' } },
    { asset: { type: 'repository', name: 'api' } },
  ]);
});

test('an issue of the REST API has one observation per dependency', async () => {
  const dependency = (version: string) => ({ dependency: { package_name: 'lodash', package_version: version } });
  const attributes = {
    key: 'SNYK-JS-LODASH-1',
    title: 'A',
    type: 'package_vulnerability',
    effective_severity_level: 'low',
    severities: [{ score: 6.5, version: '3.1' }],
    exploit_details: { sources: [], maturity_levels: [{ format: 'CVSSv3', level: 'Functional' }] },
    coordinates: [{ representations: [dependency('1.0.0')] }, { representations: [dependency('2.0.0'), dependency('1.0.0')] }],
  };
  const { observations } = await readAll(snyk, fromBuffer(JSON.stringify({ jsonapi: {}, data: [{ id: 'a1', attributes }] })));
  expect(observations.map(({ location }) => location.version)).toEqual(['1.0.0', '2.0.0']);
  expect(observations[1]).toMatchObject({ external_id: 'a1', cvss: [{ score: 6.5, version: '3.1' }], exploit_maturity: 'functional' });
});

test('names the lock files of the projects that were tested', async () => {
  const project = { vulnerabilities: [], ok: true, dependencyCount: 3, packageManager: 'npm', projectName: 'shop-web', displayTargetFile: 'package-lock.json' };
  const { runs } = await readAll(snyk, fromBuffer(JSON.stringify(project)));
  expect(runs).toEqual([{ lock_files: ['shop-web/package-lock.json'], left_out: ['misconfigurations'] }, { asset: { type: 'repository', name: 'shop-web' } }]);
});

test('says of which projects it lists fewer vulnerabilities than it counts', async () => {
  const vulnerability = (id: string) => ({ id, name: 'a', version: '1', upgradePath: [] });
  const project = (projectName: string, ids: string[], more: object) => ({
    vulnerabilities: ids.map(vulnerability),
    ok: false,
    packageManager: 'npm',
    projectName,
    ...more,
  });
  const cutIn = async (...projects: object[]) => {
    const { runs } = await readAll(snyk, fromBuffer(JSON.stringify(projects.length === 1 ? projects[0] : projects)));
    return runs.flatMap(({ asset, unfinished }) => (unfinished ? [asset?.name] : []));
  };
  const paths = (count: number, word = '') => ({ summary: `${count} ${word}vulnerable dependency paths` });
  expect(await cutIn(project('shop', ['A', 'B', 'A'], { uniqueCount: 2, ...paths(3) }))).toEqual([]);
  expect(await cutIn(project('shop', [], { uniqueCount: 0, summary: 'No known vulnerabilities' }))).toEqual([]);
  expect(await cutIn(project('shop', ['A'], { uniqueCount: 2 }), project('site', ['A'], { uniqueCount: 1 }))).toEqual(['shop']);
  expect(await cutIn(project('shop', ['A', 'A'], { uniqueCount: 2 }))).toEqual(['shop']);
  expect(await cutIn(project('shop', ['A'], paths(2)), project('site', ['A'], paths(2, 'critical or high severity ')))).toEqual(['shop', 'site']);
  expect(await cutIn(project('shop', ['A'], { ...paths(2), filtered: { ignore: [vulnerability('B')], patch: [] } })), 'one is ignored').toEqual([]);
  const image = project('docker-image|web', ['A'], { packageManager: 'deb', path: 'web:1', applications: [project('app', ['B'], { uniqueCount: 2 })] });
  expect(await cutIn(image), 'in an application of an image').toEqual(['web:1']);
  expect(await cutIn({ ...project('shop', ['A'], { uniqueCount: 2 }), projectName: undefined }), 'without a name').toEqual([undefined]);
});

test('each record of a vulnerability states all dependency paths and upgrades of its package', async () => {
  const entry = (from: unknown, upgradePath: unknown[] = [], more: object = {}) => ({ id: 'SNYK-JS-A-1', name: 'a', version: '1', from, upgradePath, ...more });
  const project = { ok: false, packageManager: 'npm', projectName: 'shop' };
  const readOf = async (report: object) => {
    const { observations, rejections } = await readAll(snyk, fromBuffer(JSON.stringify(report)));
    expect(rejections).toEqual([]);
    return observations.map(({ description, solution }) => [description, solution]);
  };
  const direct = entry(['@acme/shop@1.0.0', 'a@1'], [false, 'a@2']);
  const through = entry(['@acme/shop@1.0.0', 'foo@3', 'a@1'], [false, 'foo@4', 'a@2'], { version: '2' });
  const ignored = entry(['@acme/shop@1.0.0', 'bar@1', 'a@1'], [false]);
  const all = ['Introduced through:\n- @acme/shop > a@1\n- @acme/shop > bar@1 > a@1\n- @acme/shop > foo@3 > a@1', 'Upgrade to a@2\nUpgrade to foo@4'];
  const other = entry(['@acme/shop@1.0.0', 'b@1'], [], { id: 'SNYK-JS-B-1', name: 'b' });
  const report = { ...project, vulnerabilities: [direct, other, through], filtered: { ignore: [ignored], patch: [] } };
  expect(await readOf(report)).toEqual([all, ['Introduced through: @acme/shop > b@1', null], all, all]);

  const nextBuild = JSON.parse(JSON.stringify({ ...report, vulnerabilities: [through, other, direct] }).replaceAll('shop@1.0.0', 'shop@1.0.1'));
  expect(await readOf(nextBuild), 'in another order').toEqual(await readOf(report));
  const grouped = {
    ...project,
    vulnerabilities: [entry([through.from, direct.from, ignored.from], [false, 'a@2'], { name: ['a', 'a', 'a'], packageName: 'a' })],
  };
  expect(await readOf(grouped), 'with --group-issues').toEqual([[all[0], 'Upgrade to a@2']]);
  const [shop, site] = await readOf([
    { ...project, vulnerabilities: [direct] },
    { ...project, projectName: 'site', vulnerabilities: [through] },
  ]);
  expect([shop?.[0], site?.[0]], 'of two projects').toEqual(['Introduced through: @acme/shop > a@1', 'Introduced through: @acme/shop > foo@3 > a@1']);

  const many = Array.from({ length: 57 }, (_, index) => entry(['shop@1', `parent-${index + 10}@1`, 'a@1']));
  const [first] = await readOf({ ...project, vulnerabilities: many });
  expect(first?.[0]?.split('\n')).toEqual([
    'Introduced through:',
    ...Array.from({ length: 20 }, (_, index) => `- shop > parent-${index + 10}@1 > a@1`),
    '- 37 more',
  ]);
});

test('packages of an image that were built from one source package state all dependency paths, and so do those of its applications', async () => {
  const entry = (id: string, name: string, from: string[]) => ({ id, name, version: '1', from: ['docker-image|web@1.4', ...from] });
  const report = {
    vulnerabilities: [
      entry('SNYK-DEBIAN12-OPENSSL-1', 'openssl/libssl3', ['curl/libcurl4@7', 'openssl/libssl3@1']),
      entry('SNYK-DEBIAN12-OPENSSL-1', 'openssl', ['openssl@1']),
    ],
    ok: false,
    packageManager: 'deb',
    projectName: 'docker-image|web',
    path: 'web:1.4',
    applications: [{ vulnerabilities: [entry('SNYK-JS-A-1', 'a', ['a@1'])] }, { vulnerabilities: [entry('SNYK-JS-A-1', 'a', ['b@1', 'a@1'])] }],
  };
  const { observations } = await readAll(snyk, fromBuffer(JSON.stringify(report)));
  const system = 'Introduced through:\n- docker-image|web > openssl@1\n- docker-image|web > curl/libcurl4@7 > openssl/libssl3@1';
  const library = 'Introduced through:\n- docker-image|web > a@1\n- docker-image|web > b@1 > a@1';
  expect(observations.map(({ description }) => description)).toEqual([system, system, library, library]);
});
