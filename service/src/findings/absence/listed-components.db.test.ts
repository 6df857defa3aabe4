import { expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';

/** Reports that list components without findings as well. A finding that is missing while its component is still there was not fixed. */
const engine = useImports();

const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();
const CVE = 'CVE-2021-23337';

/** A report of a day on lodash in a version, and on another library that has no weakness. */
type Report = (day: number, version: string, isVulnerable: boolean) => string;

const dependencyCheckXml: Report = (day, version, isVulnerable) => {
  const dependency = (name: string, its: string, found: string) =>
    `<dependency><fileName>${name}.js</fileName><filePath>/app/${name}.js</filePath><identifiers><package><id>pkg:npm/${name}@${its}</id></package></identifiers>${found}</dependency>`;
  const found = `<vulnerabilities><vulnerability source="NVD"><name>${CVE}</name><severity>HIGH</severity></vulnerability></vulnerabilities>`;
  return `<analysis xmlns="https://jeremylong.github.io/DependencyCheck/dependency-check.4.0.xsd"><scanInfo><engineVersion>9.0.9</engineVersion></scanInfo>
    <projectInfo><name>shop</name><reportDate>${at(day)}</reportDate></projectInfo>
    <dependencies>${dependency('lodash', version, isVulnerable ? found : '')}${dependency('axios', '1.0.0', '')}</dependencies></analysis>`;
};

const dependencyCheckJson: Report = (day, version, isVulnerable) => {
  const dependency = (name: string, its: string) => ({ fileName: `${name}.js`, filePath: `/app/${name}.js`, packages: [{ id: `pkg:npm/${name}@${its}` }] });
  const vulnerabilities = [{ name: CVE, severity: 'HIGH', source: 'NVD' }];
  return JSON.stringify({
    reportSchema: '1.1',
    scanInfo: { engineVersion: '12.1.0' },
    projectInfo: { name: 'shop', reportDate: at(day) },
    dependencies: [{ ...dependency('lodash', version), ...(isVulnerable ? { vulnerabilities } : {}) }, dependency('axios', '1.0.0')],
  });
};

const gitlab: Report = (day, version, isVulnerable) => {
  const dependency = (name: string, its: string) => ({ package: { name }, version: its });
  const found = {
    id: 'a',
    name: CVE,
    severity: 'High',
    identifiers: [{ type: 'cve', name: CVE, value: CVE }],
    location: { file: 'package-lock.json', dependency: dependency('lodash', version) },
  };
  const time = at(day).slice(0, 19);
  return JSON.stringify({
    version: '15.0.7',
    vulnerabilities: isVulnerable ? [found] : [],
    dependency_files: [{ path: 'package-lock.json', package_manager: 'npm', dependencies: [dependency('lodash', version), dependency('axios', '1.0.0')] }],
    scan: { scanner: { id: 'gemnasium', name: 'Gemnasium' }, type: 'dependency_scanning', status: 'success', start_time: time, end_time: time },
  });
};

const osvScanner: Report = (_, version, isVulnerable) => {
  const installed = (name: string, its: string) => ({ package: { name, version: its, ecosystem: 'npm' } });
  const found = { vulnerabilities: [{ id: CVE, affected: [] }], groups: [{ ids: [CVE] }] };
  const packages = [{ ...installed('lodash', version), ...(isVulnerable ? found : {}) }, installed('axios', '1.0.0')];
  return JSON.stringify({ results: [{ source: { path: '/app/package-lock.json', type: 'lockfile' }, packages }] });
};

const retireJs: Report = (day, version, isVulnerable) => {
  const vulnerabilities = isVulnerable ? [{ severity: 'high', identifiers: { CVE: [CVE], summary: 'A weakness' } }] : [];
  const data = [
    { file: '/app/lodash.js', results: [{ component: 'lodash', version, vulnerabilities }] },
    { file: '/app/axios.js', results: [{ component: 'axios', version: '1.0.0' }] },
  ];
  return JSON.stringify({ version: '5.0.0', start: at(day), data, messages: [], errors: [] });
};

const clairLayer: Report = (_, version, isVulnerable) => {
  const found = { Vulnerabilities: [{ Name: CVE, NamespaceName: 'debian:12', Severity: 'High' }] };
  return JSON.stringify({
    Layer: {
      Name: 'shop:prod',
      IndexedByVersion: 3,
      Features: [
        { Name: 'lodash', Version: version, ...(isVulnerable ? found : {}) },
        { Name: 'axios', Version: '1.0.0' },
      ],
    },
  });
};

it.each<[string, string, Report, object]>([
  ['OWASP Dependency-Check, XML', 'dependency_check', dependencyCheckXml, {}],
  ['OWASP Dependency-Check, JSON', 'dependency_check', dependencyCheckJson, {}],
  ['GitLab', 'gitlab', gitlab, { asset: { type: 'repository', name: 'https://git.example.com/shop' } }],
  ['OSV-Scanner', 'osv_scanner', osvScanner, { asset: { type: 'repository', name: 'https://git.example.com/shop' } }],
  ['Retire.js', 'retire_js', retireJs, { asset: { type: 'repository', name: 'https://git.example.com/shop' } }],
  ['Clair', 'clair', clairLayer, {}],
])('%s: a component in the same version was not fixed, and one in another version was', async (_, format, report, scope) => {
  const statusAfter = async (version: string) => {
    const org = await engine.organization();
    const send = (day: number, text: string) =>
      engine.runFile(org, { format, name: 'report', bytes: Buffer.from(text) }, { coverage: 'complete', started_at: at(day), ...scope });
    await send(1, report(1, '4.17.1', true));
    const { status, error } = await send(5, report(5, version, false));
    expect({ status, error }).toEqual({ status: 'succeeded', error: null });
    return (await engine.findings(org)).map((finding) => finding.status);
  };
  expect(await statusAfter('4.17.1')).toEqual(['withdrawn']);
  expect(await statusAfter('4.17.21')).toEqual(['verified']);
});
