import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReportError } from '../../contract.ts';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { trivyOperator } from './index.ts';

const read = (name: string) => readAll(trivyOperator, fromBuffer(readFileSync(new URL(`fixtures/${name}`, import.meta.url)), name));

test('reads vulnerabilities of an image with the workload that runs it', async () => {
  const { observations, rejections } = await read('vulnerability-report.json');
  expect(rejections).toEqual([]);
  expect(observations[0]).toEqual({
    place: 'report.vulnerabilities[0]',
    tool: 'trivy',
    rule: 'CVE-2023-23914',
    external_id: null,
    title: 'curl: HSTS ignored on multiple requests',
    description: 'Long text.',
    solution: null,
    severity: 'critical',
    tool_severity: 'CRITICAL',
    vulnerability_ids: ['CVE-2023-23914'],
    cwes: [],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 9.1 }],
    references: ['https://avd.aquasec.com/nvd/cve-2023-23914', 'https://curl.example.com/CVE-2023-23914'],
    asset: {
      type: 'container_image',
      name: 'registry.example.com/library/web:1.4.2',
      identifiers: [{ kind: 'digest', value: 'sha256:0f1e2d3c' }],
      workload: 'shop/ReplicaSet/web/web',
    },
    location: {
      component: 'curl',
      version: '7.87.0-r1',
      fixed_version: '7.87.0-r2',
      purl: 'pkg:apk/alpine/curl@7.87.0-r1',
      resource: 'shop/ReplicaSet/web/web',
    },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: new Date('2025-03-23T16:23:01Z'),
    tags: ['alpine'],
  });
  expect(observations[1]).toMatchObject({
    title: 'GHSA-2qrg-x229-3v8q in log4j:log4j',
    severity: 'unknown',
    vulnerability_ids: ['GHSA-2qrg-x229-3v8q'],
    location: { component: 'log4j:log4j', path: 'opt/app/app.jar' },
  });
});

test('reads a list of reports of all kinds', async () => {
  const { observations } = await read('list.json');
  const workload = 'shop/ReplicaSet/web-965685897-with-a-name-that-is-too-long-for-a-label-of-kubernetes';
  expect(observations).toMatchObject([
    {
      place: 'items[0].report.checks[0]',
      rule: 'KSV014',
      severity: 'low',
      solution: 'Set it.',
      asset: { type: 'cloud_resource', name: workload },
      location: { resource: `${workload} Container web` },
      tags: ['Kubernetes Security Check', 'ConfigAuditReport'],
    },
    { place: 'items[0].report.checks[2]', rule: 'A check without an id', severity: 'medium' },
    {
      rule: 'aws-secret-access-key',
      severity: 'critical',
      cwes: [798],
      description: null,
      asset: { type: 'container_image', name: 'registry.example.com/shop/import@sha256:aaaa', workload: 'shop/Job/import/job' },
      location: { path: '/app/aws.txt', resource: 'shop/Job/import/job' },
    },
    { rule: 'KSV041', severity: 'critical', asset: { type: 'cloud_resource', name: 'ClusterRole/admin' } },
    { rule: 'CVE-2021-3711', severity: 'high', asset: { type: 'host', name: 'node-1.example.com' }, location: { component: 'openssl', version: '1.1.1k' } },
  ]);
  expect(JSON.stringify(observations)).not.toContain('not-a-real-secret');
});

test('reads failed compliance checks if they are listed, otherwise failed controls', async () => {
  const prefix = 'clustercompliancereports.aquasecurity.github.io';
  expect((await read('compliance-map.json')).observations).toMatchObject([
    {
      place: `${prefix}[0].status.detailReport.results[1].checks[0]`,
      rule: 'AVD-KSV-0041',
      title: 'Manage secrets',
      severity: 'critical',
      solution: 'Change the role.',
      asset: { type: 'cloud_resource', name: 'clusterrole-admin' },
      location: { resource: 'clusterrole-admin control 5.1.2' },
      last_seen: new Date('2025-03-13T12:01:32Z'),
    },
    { rule: 'AVD-KSV-0012', title: 'Minimize access to secrets', severity: 'high', asset: { name: 'shop/replicaset-web' } },
    { place: `${prefix}[1].status.summaryReport.controlCheck[0]`, rule: '1.0', severity: 'medium', asset: null },
  ]);
});

test('rejects malformed entries and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: '[0].report.vulnerabilities[0]', reason: 'vulnerabilityID is missing' },
    { place: '[0].report.vulnerabilities[1]', reason: 'resource is missing' },
    { place: '[0].report.checks[0]', reason: 'checkID is missing' },
    { place: '[0].report.secrets[0]', reason: 'target is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'CVE-2021-0002', asset: { name: 'library/web' } }]);
});

test('accepts a report without resources and rejects another report', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  for (const foreign of ['{}', '', '{"apiVersion": "v1", "kind": "Pod", "metadata": {}}', '{"SchemaVersion": 2, "Results": []}'])
    await expect(readAll(trivyOperator, fromBuffer(foreign))).rejects.toThrow(/of the apiVersion aquasecurity.github.io/);
  await expect(readAll(trivyOperator, fromBuffer('<x/>'))).rejects.toThrow(ReportError);
});

const resource = (kind: string, report: object) => ({
  apiVersion: 'aquasecurity.github.io/v1alpha1',
  kind,
  metadata: { name: 'replicaset-web', namespace: 'shop', labels: { 'trivy-operator.resource.kind': 'Job', 'trivy-operator.resource.name': 'mail' } },
  report,
});

test('covers the subject of every report, also without findings', async () => {
  const scanner = { name: 'Trivy', version: '0.50.1' };
  const image = { artifact: { repository: 'shop/web', tag: '1' }, scanner, updateTimestamp: '2025-01-01T00:00:00Z', vulnerabilities: [] };
  const items = [resource('VulnerabilityReport', image), resource('ConfigAuditReport', { scanner, checks: [] }), resource('ExposedSecretReport', image)];
  const facts = { tool_version: '0.50.1' };
  expect((await readAll(trivyOperator, fromBuffer(JSON.stringify({ items })))).runs).toEqual([
    { asset: { type: 'container_image', name: 'shop/web:1', workload: 'shop/Job/mail' }, finished_at: new Date('2025-01-01T00:00:00Z'), ...facts },
    { asset: { type: 'cloud_resource', name: 'shop/Job/mail' }, ...facts },
  ]);
});

test('tells the containers of a workload apart, because they can run other builds of one image', async () => {
  const items = ['init', 'main'].map((container, index) => {
    const { metadata, ...report } = resource('VulnerabilityReport', { artifact: { repository: 'shop/web', tag: String(index) }, vulnerabilities: [] });
    return { ...report, metadata: { ...metadata, labels: { ...metadata.labels, 'trivy-operator.container.name': container } } };
  });
  const { runs } = await readAll(trivyOperator, fromBuffer(JSON.stringify({ items })));
  expect(runs.flatMap(({ asset }) => asset?.workload ?? [])).toEqual(['shop/Job/mail/init', 'shop/Job/mail/main']);
});

test('says which severities it does not show all of', async () => {
  const vulnerabilities = ['HIGH', 'HIGH', 'LOW'].map((severity, index) => ({ vulnerabilityID: `CVE-2021-${index}`, resource: 'libssl3', severity }));
  const leftOut = async (...reports: [string, object][]) => {
    const items = reports.map(([kind, report]) => resource(kind, report));
    return (await readAll(trivyOperator, fromBuffer(JSON.stringify({ items })))).runs.flatMap(({ left_out = [] }) => left_out);
  };
  const counting = (summary: object): [string, object] => ['VulnerabilityReport', { vulnerabilities, summary }];
  expect(await leftOut(counting({ criticalCount: 0, highCount: 2, mediumCount: 0, lowCount: 1, unknownCount: 0 }))).toEqual(['secrets']);
  expect(await leftOut(counting({ criticalCount: 0, highCount: 1 }))).toEqual(['secrets']);
  expect(await leftOut(counting({ criticalCount: 1, highCount: 3, lowCount: 1 }))).toEqual(['secrets', 'critical', 'high']);
  expect(await leftOut(counting({ lowCount: 1 }), counting({ lowCount: 2 }), ['ExposedSecretReport', { secrets: [] }])).toEqual(['low']);
  expect(await leftOut(['ClusterVulnerabilityReport', { summary: { mediumCount: 1 } }])).toEqual(['secrets', 'medium']);
  expect(await leftOut(counting({ unknownCount: 1 })), 'the severity may be any').toEqual(['secrets', 'system_packages', 'libraries']);
  expect(await leftOut(['ConfigAuditReport', { summary: { highCount: 9 }, checks: [] }]), 'counts checks').toEqual(['secrets']);
  expect(await leftOut(counting({ noneCount: 1 }))).toEqual(['secrets', 'info']);
  const secret = { ruleID: 'key', target: '/app/key', severity: 'HIGH' };
  expect(await leftOut(['ExposedSecretReport', { summary: { highCount: 1 }, secrets: [secret] }])).toEqual([]);
  expect(await leftOut(['ExposedSecretReport', { summary: { highCount: 2 }, secrets: [secret] }])).toEqual(['secrets']);
});

test('says of which workloads it lists fewer failed checks than it counts', async () => {
  const checks = [false, false, true].map((success, index) => ({ checkID: `KSV00${index}`, severity: 'HIGH', success }));
  const cutIn = async (kind: string, summary: object) => {
    const { runs } = await readAll(trivyOperator, fromBuffer(JSON.stringify(resource(kind, { checks, summary }))));
    return runs.flatMap(({ asset, unfinished }) => (unfinished ? [asset?.name] : []));
  };
  for (const kind of ['ConfigAuditReport', 'ClusterRbacAssessmentReport', 'InfraAssessmentReport']) {
    expect(await cutIn(kind, { highCount: 2, lowCount: 0 })).toEqual([]);
    expect(await cutIn(kind, { highCount: 3 })).toEqual(['shop/Job/mail']);
    expect(await cutIn(kind, { highCount: 2, lowCount: 1 })).toEqual(['shop/Job/mail']);
  }
});

test('keeps the score and the type of a package without package URL', async () => {
  const vulnerabilities = [{ vulnerabilityID: 'CVE-2021-1', resource: 'libssl3', score: 7.5, packageType: 'debian' }];
  expect((await readAll(trivyOperator, fromBuffer(JSON.stringify(resource('VulnerabilityReport', { vulnerabilities }))))).observations).toMatchObject([
    { cvss: [{ score: 7.5 }], location: { component: 'libssl3', ecosystem: 'deb' } },
  ]);
});
