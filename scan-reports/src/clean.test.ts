import { expect, test } from 'vitest';
import { formats } from './registry.ts';
import { fromBuffer } from './shared/input.ts';
import { readAll } from './testing/reading.ts';

/** Reports without findings that name their asset. The last finding of an asset can only be closed if such a report covers it. */
const CLEAN: [format: string, asset: string, report: object | string][] = [
  [
    'trivy',
    'shop:1',
    { SchemaVersion: 2, ArtifactName: 'shop:1', ArtifactType: 'container_image', Results: [{ Target: 'shop:1 (debian 12)', Class: 'os-pkgs' }] },
  ],
  ['trivy', 'https://git.example.com/shop', { SchemaVersion: 2, ArtifactName: 'https://git.example.com/shop', ArtifactType: 'repository' }],
  ['grype', 'shop:1', { matches: [], source: { type: 'image', target: { userInput: 'shop:1' } }, descriptor: { name: 'grype' } }],
  ['snyk', 'shop', { vulnerabilities: [], ok: true, dependencyCount: 1, packageManager: 'npm', projectName: 'shop' }],
  ['snyk', 'shop:1', { vulnerabilities: [], ok: true, dependencyCount: 1, packageManager: 'deb', projectName: 'docker-image|shop', path: 'shop:1' }],
  ['clair', 'shop:1', { image: 'shop:1', unapproved: [], vulnerabilities: [] }],
  ['cyclonedx', 'shop', { bomFormat: 'CycloneDX', specVersion: '1.6', metadata: { component: { type: 'application', name: 'shop' } }, vulnerabilities: [] }],
  ['dependency_check', 'shop', { reportSchema: '1.1', scanInfo: {}, projectInfo: { name: 'shop' }, dependencies: [{ fileName: 'a.jar' }] }],
  ['zap', 'https://shop.example.com', '<OWASPZAPReport version="2.16.1"><site name="https://shop.example.com"><alerts/></site></OWASPZAPReport>'],
  ['zap', 'https://shop.example.com', { '@programName': 'ZAP', '@version': '2.16.1', site: [{ '@name': 'https://shop.example.com', alerts: [] }] }],
  ['openvas', '192.0.2.1', '<report format_id="x"><report><host><ip>192.0.2.1</ip></host><results/></report></report>'],
  ['nessus', '192.0.2.1', '<NessusClientData_v2><Report><ReportHost name="192.0.2.1"><HostProperties/></ReportHost></Report></NessusClientData_v2>'],
  ['qualys', '192.0.2.1', '<SCAN value="scan/1"><IP value="192.0.2.1"/></SCAN>'],
  ['nexpose', '192.0.2.1', '<NexposeReport><nodes><node address="192.0.2.1" status="alive"/></nodes></NexposeReport>'],
  [
    'nmap',
    '192.0.2.1',
    '<nmaprun><host><status state="up"/><address addr="192.0.2.1" addrtype="ipv4"/><ports><extraports state="closed" count="9"/></ports></host></nmaprun>',
  ],
  [
    'sarif',
    'https://git.example.com/shop',
    {
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'x' } }, results: [], versionControlProvenance: [{ repositoryUri: 'https://git.example.com/shop' }] }],
    },
  ],
  ['gitlab', 'https://shop.example.com', { version: '15.0.6', vulnerabilities: [], scan: { scanned_resources: [{ url: 'https://shop.example.com/a' }] } }],
  ['sonarqube', 'shop', { date: '2025-01-01', projectName: 'shop', sonarBaseURL: 'https://sonar.example.com', rules: [], issues: [] }],
  [
    'github',
    'https://github.com/acme/shop',
    { data: { repository: { url: 'https://github.com/acme/shop', vulnerabilityAlerts: { totalCount: 0, nodes: [] } } } },
  ],
  [
    'trivy_operator',
    'shop:1',
    { apiVersion: 'aquasecurity.github.io/v1alpha1', kind: 'VulnerabilityReport', report: { artifact: { repository: 'shop', tag: '1' }, vulnerabilities: [] } },
  ],
  ['prowler', 'arn:aws:s3:::shop', [{ CheckID: 's3_encryption', Status: 'PASS', Provider: 'aws', ResourceArn: 'arn:aws:s3:::shop' }]],
  ['generic', 'web1', { findings: [], scan: { asset: { type: 'host', name: 'web1' } } }],
];

test.each(CLEAN)('a clean report of %s covers %s', async (id, name, report) => {
  const format = formats.find((candidate) => candidate.id === id);
  if (!format) throw new Error(`There is no format ${id}.`);
  const { observations, rejections, runs } = await readAll(format, fromBuffer(typeof report === 'string' ? report : JSON.stringify(report)));
  expect({ observations, rejections }).toEqual({ observations: [], rejections: [] });
  expect(runs.flatMap(({ asset }) => asset?.name ?? [])).toEqual([name]);
  expect(runs.some(({ inventory_only, unfinished }) => inventory_only || unfinished)).toBe(false);
});
