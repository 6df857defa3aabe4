import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { trivy } from './index.ts';

/** Without a result of a class, nothing shows that Trivy looked for such findings. */
const unshown = ['secrets', 'misconfigurations', 'licenses'];

async function read(name: string) {
  const fixture = readFixtures('trivy').find((one) => one.name === name);
  return await readAll(trivy, fromBuffer(fixture?.bytes ?? '', name));
}

test('reads an image whose details come after the findings', async () => {
  const { observations, rejections } = await read('image.json');
  expect(rejections).toEqual([]);
  const asset = {
    type: 'container_image',
    name: 'registry.example.com/shop:1.4',
    identifiers: [
      { kind: 'digest', value: 'sha256:3333' },
      { kind: 'image_id', value: 'sha256:2222' },
    ],
  };
  expect(observations[0]).toEqual({
    place: 'Results[0].Vulnerabilities[0]',
    tool: 'trivy',
    rule: 'CVE-2023-0286',
    external_id: null,
    title: 'openssl: X.400 address type confusion',
    description: 'There is a type confusion.',
    solution: null,
    severity: 'high',
    tool_severity: 'HIGH',
    vulnerability_ids: ['CVE-2023-0286'],
    cwes: [843],
    cvss: [
      { vector: 'CVSS:4.0/AV:N/AC:H/AT:N/PR:N/UI:N/VC:H/VI:N/VA:H/SC:N/SI:N/SA:N', score: 8.3 },
      { vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:H', score: 7.4 },
      { vector: 'AV:N/AC:M/Au:N/C:P/I:N/A:P', score: 5.8 },
      { vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:N/A:H', score: 7.4 },
    ],
    references: ['https://avd.example.com/nvd/cve-2023-0286', 'https://example.com/advisory'],
    asset,
    location: {
      component: 'openssl',
      version: '1.1.1n-0+deb11u3',
      fixed_version: '1.1.1n-0+deb11u4',
      purl: 'pkg:deb/debian/openssl@1.1.1n-0%2Bdeb11u3?arch=amd64&distro=debian-11.6',
    },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2025-02-03T04:05:06.789Z'),
    tags: ['debian', 'os-pkgs'],
    severity_source: 'debian',
    fix_state: 'available',
  });
  expect(observations.slice(1)).toMatchObject([
    { title: 'CVE-2011-3389 in libgnutls30', severity: 'unknown', present: true, suppressed: true, asset },
    { vulnerability_ids: ['GHSA-35jh-r3h4-6jhm'], location: { component: 'lodash', path: 'app/node_modules/lodash/package.json' } },
    { location: { component: 'golang.org/x/net', path: 'usr/local/bin/tool' } },
  ]);
  expect(observations[1]?.location).not.toHaveProperty('path');
});

test('reads misconfigurations, secrets and licenses of a directory without an asset name', async () => {
  const { observations, rejections } = await read('filesystem.json');
  expect(rejections).toEqual([]);
  expect(observations.map(({ asset }) => asset)).toEqual(observations.map(() => null));
  expect(observations).toMatchObject([
    { rule: 'CVE-2020-8203', location: { path: 'web/package-lock.json' } },
    {
      place: 'Results[1].Misconfigurations[0]',
      rule: 'DS002',
      title: "Image user should not be 'root'",
      description: 'Running as root is risky.\n\nSpecify at least 1 USER command',
      solution: 'Add a USER',
      severity: 'high',
      location: { path: 'Dockerfile', line: 3, end_line: 5 },
    },
    { rule: 'DS026', suppressed: true },
    { rule: 'AVD-AWS-0088', location: { path: 'main.tf', line: 10, end_line: 14, resource: 'aws_s3_bucket.logs' } },
    {
      rule: 'aws-access-key-id',
      title: 'AWS Access Key ID',
      description: null,
      severity: 'critical',
      cwes: [798],
      location: { path: 'settings.py', line: 7, end_line: 7 },
      tags: ['secret', 'AWS'],
    },
    { rule: 'license:GPL-3.0-or-later', title: 'License GPL-3.0-or-later of bash', severity: 'high', location: { component: 'bash' } },
    { rule: 'license:MIT', location: { path: 'third/LICENSE' }, references: ['https://spdx.org/licenses/MIT'] },
  ]);
  expect(JSON.stringify(observations)).not.toContain('HUNTER2');
});

test('keeps ignored findings as suppressed', async () => {
  const { observations, rejections } = await read('repository.json');
  expect(observations).toMatchObject([
    { rule: 'CVE-2022-41717', present: true, suppressed: false, asset: { type: 'repository', name: 'https://git.example.com/team/app' } },
    { rule: 'CVE-2022-27191', present: true, suppressed: true, location: { component: 'golang.org/x/crypto', path: 'go.mod' } },
    { rule: 'CVE-2022-32149', present: true, suppressed: true },
    { rule: 'CVE-2021-38561', present: false, suppressed: false },
  ]);
  expect(rejections).toEqual([{ place: 'Results[0].ExperimentalModifiedFindings[3]', reason: 'unknown Type "poem"' }]);
});

test('reads clusters and rejects resources that were not scanned', async () => {
  const { observations, rejections } = await read('cluster.json');
  const asset = { type: 'cloud_resource', name: 'prod/shop/Deployment/web' };
  expect(observations).toMatchObject([
    { asset, location: { component: 'openssl', version: '3.0.9', resource: 'registry.example.com/web:2' } },
    { asset, rule: 'KSV001', location: { resource: 'Deployment/web', line: 20 } },
  ]);
  expect(rejections).toEqual([{ place: 'Resources[1]', reason: 'the resource could not be scanned: scan error: image not found' }]);
  expect((await read('cluster-summary.json')).observations).toMatchObject([{ asset: { name: 'prod/ClusterRole/admin' }, rule: 'KSV041' }]);
});

test('reads the older list of results and compliance reports', async () => {
  const asset = { type: 'container_image', name: 'shop:1.0' };
  expect((await read('legacy.json')).observations).toMatchObject([
    { place: '[0].Vulnerabilities[0]', asset, location: { component: 'lodash', version: '4.17.4', fixed_version: '>=4.17.11', path: 'web/package-lock.json' } },
    { place: '[2].Vulnerabilities[0]', asset, location: { component: 'curl' } },
  ]);
  const compliance = await read('compliance.json');
  expect(compliance.observations).toMatchObject([{ rule: 'DS002', asset: null, location: { path: 'Dockerfile' } }]);
  expect(compliance.runs).toContainEqual(expect.objectContaining({ restrictions: ['--compliance docker-cis-1.6.0'] }));
});

test('rejects malformed entries and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(observations).toMatchObject([
    { severity: 'unknown', asset: { type: 'host', name: 'disk.img' }, location: { version: '1' }, references: ['https://example.com/one'] },
  ]);
  expect(rejections).toEqual([
    { place: 'Results[0].Vulnerabilities[1]', reason: 'PkgName is missing' },
    { place: 'Results[0].Vulnerabilities[2]', reason: 'VulnerabilityID is missing' },
    { place: 'Results[0].Vulnerabilities[3]', reason: 'VulnerabilityID is missing' },
  ]);
});

test('accepts an empty report and rejects another file', async () => {
  expect(await read('empty-legacy.json')).toEqual({ observations: [], rejections: [], runs: [] });
  // The only thing that a clean report says is which image has no findings.
  const runs = [{ asset: { type: 'container_image', name: 'scratch' } }, { left_out: unshown }];
  expect(await read('empty.json')).toEqual({ observations: [], rejections: [], runs });
  for (const foreign of ['{"version":"2.1.0","runs":[]}', '[{"name":"x"}]', '<a/>', 'a,b\n1,2\n', ''])
    await expect(readAll(trivy, fromBuffer(foreign))).rejects.toThrow('a JSON object with SchemaVersion and Results');
});

test.each([
  ['filesystem', 'shop', { type: 'repository', name: 'shop' }],
  ['filesystem', 'services/web', { type: 'repository', name: 'services/web' }],
  ['filesystem', '.', null],
  ['filesystem', '../shop', null],
  ['filesystem', '/src', null],
  ['filesystem', 'C:\\build', null],
  ['repository', 'https://git.example.com/team/app', { type: 'repository', name: 'https://git.example.com/team/app' }],
  ['repository', '.', null],
])('reads code as a repository: %s %s', async (ArtifactType, ArtifactName, asset) => {
  const Vulnerabilities = [{ VulnerabilityID: 'CVE-2020-8203', PkgName: 'lodash', InstalledVersion: '4.17.15' }];
  const input = fromBuffer(JSON.stringify({ SchemaVersion: 2, ArtifactName, ArtifactType, Results: [{ Target: 'package-lock.json', Vulnerabilities }] }));
  expect((await readAll(trivy, input)).observations).toMatchObject([{ asset }]);
  expect(await trivy.about?.(input)).toEqual({ tools: null, finished: true, unread: [], assetType: 'repository' });
});

test('keeps container_image as the asset type of images', async () => {
  const text = '{"SchemaVersion":2,"ArtifactName":"a:1","ArtifactType":"container_image","Results":[]}';
  expect(await trivy.about?.(fromBuffer(text))).toEqual({ tools: null, finished: true, unread: [] });
});

test('states time, version and artifact of the run', async () => {
  const { runs } = await read('image.json');
  expect(runs).toMatchObject([{ finished_at: new Date('2025-02-03T04:05:06.789Z') }, { asset: { name: 'registry.example.com/shop:1.4' } }, {}, {}]);
  expect((await read('repository.json')).runs).toEqual([
    { asset: { type: 'repository', name: 'https://git.example.com/team/app', ref: 'main', commit: '0123' } },
    { looked_for: ['libraries'] },
    expect.objectContaining({ lock_files: ['go.mod'] }),
  ]);
  const versioned = fromBuffer('{"SchemaVersion":2,"Trivy":{"Version":"0.69.1"},"ArtifactName":".","ArtifactType":"filesystem","Results":[]}');
  expect((await readAll(trivy, versioned)).runs).toEqual([{ tool_version: '0.69.1' }, { left_out: unshown }]);
});

test.each([
  ['of a single lock file', 'filesystem', ['package-lock.json'], 3, 3],
  ['not if they are not listed', 'filesystem', ['package-lock.json'], 0, undefined],
  ['not of several lock files, which tell more', 'filesystem', ['package-lock.json', 'web/package-lock.json'], 3, undefined],
  ['not of an image', 'container_image', ['app/package-lock.json'], 3, undefined],
])('counts the packages %s', async (_, ArtifactType, targets, size, dependencies) => {
  const Packages = Array.from({ length: size }, (__, n) => ({ Name: `lib${n}`, Version: '1.0.0' }));
  const Results = targets.map((Target, n) => ({ Target, Class: 'lang-pkgs', Type: 'npm', ...(n === 0 ? { Packages } : {}) }));
  const { runs } = await readAll(trivy, fromBuffer(JSON.stringify({ SchemaVersion: 2, ArtifactName: '.', ArtifactType, Results })));
  expect(runs.at(-1)?.dependencies).toBe(dependencies);
});

test.each([
  ['those without findings', 'filesystem', { a: [], b: [{ VulnerabilityID: 'CVE-2026-0001', PkgName: 'lib' }], c: [] }, 2],
  ['none if all have findings', 'filesystem', { b: [{ VulnerabilityID: 'CVE-2026-0001', PkgName: 'lib' }] }, undefined],
  ['none of an image', 'container_image', { a: [] }, undefined],
])('counts, of the lock files, %s', async (_, ArtifactType, files, clean) => {
  const Results = Object.entries(files).map(([Target, Vulnerabilities]) => ({ Target, Class: 'lang-pkgs', Type: 'npm', Vulnerabilities }));
  const { runs } = await readAll(trivy, fromBuffer(JSON.stringify({ SchemaVersion: 2, ArtifactName: '.', ArtifactType, Results })));
  expect(runs.at(-1)?.clean_lock_files).toBe(clean);
});

test('a cluster report covers every resource that was scanned', async () => {
  const report = {
    ClusterName: 'prod',
    Resources: [
      { Namespace: 'shop', Kind: 'Deployment', Name: 'web', Results: [] },
      { Namespace: 'shop', Kind: 'Deployment', Name: 'web' },
      { Namespace: 'shop', Kind: 'Job', Name: 'mail', Error: 'image not found' },
    ],
  };
  const { runs, rejections } = await readAll(trivy, fromBuffer(JSON.stringify(report)));
  expect(runs).toEqual([{ asset: { type: 'cloud_resource', name: 'prod/shop/Deployment/web' } }]);
  expect(rejections).toHaveLength(1);
});

test('keeps fix state, layer, source package, ecosystem and scores without a vector', async () => {
  const vulnerability = (Status: string, more: object = {}) => ({ VulnerabilityID: 'CVE-2023-0286', PkgName: 'libssl3', Status, ...more });
  const report = {
    SchemaVersion: 2,
    ArtifactName: 'shop:1',
    ArtifactType: 'container_image',
    Results: [
      {
        Target: 'shop:1 (debian 12)',
        Class: 'os-pkgs',
        Type: 'debian',
        Packages: [{ Name: 'no-source' }, { SrcName: 'openssl', Name: 'libssl3' }, { SrcName: 'nameless' }],
        Vulnerabilities: [
          vulnerability('will_not_fix', { Layer: { Digest: 'sha256:1', DiffID: 'sha256:2' }, CVSS: { redhat: { V3Score: 7.4 } } }),
          vulnerability('end_of_life', { Layer: { Digest: 'sha256:1' }, PkgIdentifier: { PURL: 'pkg:deb/debian/libssl3@3' } }),
          vulnerability('affected', { PkgName: 'no-source' }),
          vulnerability('under_investigation'),
        ],
      },
      { Target: 'app', Class: 'lang-pkgs', Type: 'poetry', Vulnerabilities: [vulnerability('fixed')] },
    ],
  };
  const { observations } = await readAll(trivy, fromBuffer(JSON.stringify(report)));
  expect(observations.map(({ fix_state }) => fix_state)).toEqual(['will_not_fix', 'end_of_life', 'not_available', undefined, 'available']);
  expect(observations.map(({ location }) => location)).toEqual([
    { component: 'libssl3', ecosystem: 'deb', source_package: 'openssl', layer: 'sha256:2' },
    { component: 'libssl3', version: '3', purl: 'pkg:deb/debian/libssl3@3', source_package: 'openssl', layer: 'sha256:1' },
    { component: 'no-source', ecosystem: 'deb' },
    { component: 'libssl3', ecosystem: 'deb', source_package: 'openssl' },
    { component: 'libssl3', ecosystem: 'pypi', path: 'app' },
  ]);
  expect(observations[0]?.cvss).toEqual([{ score: 7.4, version: '3.1' }]);
});

test('keeps what a VEX document says about a finding', async () => {
  const { observations } = await read('repository.json');
  expect(observations.map(({ analysis }) => analysis)).toEqual([undefined, { detail: 'No server here' }, { state: 'not_affected' }, { state: 'resolved' }]);
});

test('states which packages it searched, if it searched for vulnerabilities at all', async () => {
  const lookedFor = async (...lists: object[]) => {
    const Results = [{ Target: 'shop (debian 12)', Class: 'os-pkgs', Type: 'debian' }, ...lists.map((list) => ({ Target: 'a', Type: 'npm', ...list }))];
    const report = { SchemaVersion: 2, ArtifactName: 'shop', ArtifactType: 'container_image', Results };
    return (await readAll(trivy, fromBuffer(JSON.stringify(report)))).runs.find(({ looked_for }) => looked_for)?.looked_for;
  };
  const vulnerable = { Class: 'lang-pkgs', Vulnerabilities: [{ VulnerabilityID: 'CVE-2024-0001', PkgName: 'lib', InstalledVersion: '1' }] };
  expect(await lookedFor(vulnerable)).toEqual(['system_packages', 'libraries']);
  expect(await lookedFor({ Class: 'secret', Secrets: [{ RuleID: 'aws', Title: 'AWS key', Severity: 'HIGH' }] })).toBeUndefined();
});

test.each([
  ['a folder of the repository', { ArtifactName: './services/a/', ArtifactType: 'filesystem' }, { restrictions: ['target services/a'], left_out: unshown }],
  [
    'the same folder in another spelling',
    { ArtifactName: 'services\\a', ArtifactType: 'repository' },
    { restrictions: ['target services/a'], left_out: unshown },
  ],
  [
    'an image without an operating system',
    { ArtifactName: 'shop', ArtifactType: 'container_image', Metadata: { DiffIDs: ['sha256:a'] } },
    { left_out: ['system_packages', ...unshown] },
  ],
])('a scan of %s says nothing about the rest', async (_, artifact, limits) => {
  const { runs } = await readAll(trivy, fromBuffer(JSON.stringify({ SchemaVersion: 2, ...artifact, Results: [] })));
  expect(runs).toContainEqual(limits);
});

const debian = { ArtifactName: 'shop', ArtifactType: 'container_image', Metadata: { DiffIDs: ['sha256:a'], OS: { Family: 'debian', Name: '12' } } };
const leftOut = async (artifact: object): Promise<string[]> => {
  const { runs } = await readAll(trivy, fromBuffer(JSON.stringify({ SchemaVersion: 2, Results: [], ...artifact })));
  return runs.flatMap(({ restrictions = [], left_out = [] }) => [...restrictions, ...left_out]);
};

test.each([
  { ArtifactName: '.', ArtifactType: 'filesystem' },
  { ArtifactName: '/tmp/build-17', ArtifactType: 'filesystem' },
  { ArtifactName: 'C:\\build\\17', ArtifactType: 'filesystem' },
  { ArtifactName: 'https://git.example.com/shop', ArtifactType: 'repository' },
  { ArtifactName: 'git.example.com/team/shop', ArtifactType: 'repository' },
  { ...debian, Results: [{ Target: 'shop (debian 12)', Class: 'os-pkgs', Type: 'debian' }] },
  { ...debian, Results: [{ Target: 'shop (debian 12)', Type: 'debian' }] },
])('a scan of all of %j leaves out no packages', async (artifact) => {
  expect(await leftOut(artifact)).toEqual(unshown);
});

test.each([
  ['whose libraries alone were searched', [{ Target: 'app/package-lock.json', Class: 'lang-pkgs', Type: 'npm' }], ['system_packages']],
  ['searched for secrets alone', [], ['system_packages', 'libraries']],
  ['searched for secrets alone, which has some', [{ Target: 'app/.env', Class: 'secret', Secrets: [] }], ['system_packages', 'libraries']],
])('a scan of an image with an operating system %s leaves packages out', async (_, Results, left_out) => {
  expect((await leftOut({ ...debian, Results })).filter((one) => one.endsWith('packages') || one === 'libraries')).toEqual(left_out);
});

test('what a supplier calls unaffected does not show that ignored findings are listed', async () => {
  const found = { VulnerabilityID: 'CVE-2024-0001', PkgName: 'lib', InstalledVersion: '1', Status: 'not_affected' };
  const report = (lists: object) => ({
    ...debian,
    Results: [{ Target: 'shop (debian 12)', Class: 'os-pkgs', Type: 'debian', Vulnerabilities: [found], ...lists }],
  });
  expect(await leftOut(report({}))).toContain('suppressed');
  const modified = [{ Type: 'vulnerability', Status: 'ignored', Finding: found }];
  expect(await leftOut(report({ ExperimentalModifiedFindings: modified }))).not.toContain('suppressed');
});
