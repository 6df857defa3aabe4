import type { Asset } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';

/** Complete reports that say themselves that the tool looked at less than before, each in the words of its format. */
const engine = useImports();

const shop: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();

/** Imports two reports. Returns the status of each finding. */
async function statusesAfter(format: string, reports: readonly unknown[], asset: Asset | null = shop): Promise<Record<string, string>> {
  const org = await engine.organization();
  for (const [n, report] of reports.entries()) {
    const bytes = Buffer.from(typeof report === 'string' ? report : JSON.stringify(report));
    const scope = { coverage: 'complete' as const, started_at: at(1 + 7 * n), ...(asset ? { asset: { type: asset.type, name: asset.name } } : {}) };
    await engine.runFile(org, { format, name: `${format}.txt`, bytes }, scope);
  }
  return Object.fromEntries((await engine.findings(org)).map(({ title, status }) => [title, status]));
}

describe('Nessus without a list of plugins', () => {
  const nessus = (day: number, plugins: readonly [id: string, family: string][], policy = '') => `<NessusClientData_v2>
    <Policy><Preferences><ServerPreferences/></Preferences>${policy}</Policy><Report><ReportHost name="web1.example.com"><HostProperties>
    <tag name="HOST_START">${new Date(at(day)).toUTCString()}</tag><tag name="HOST_END">${new Date(at(day)).toUTCString()}</tag></HostProperties>${plugins
      .map(
        ([id, family]) =>
          `<ReportItem port="443" protocol="tcp" severity="3" pluginID="${id}" pluginName="P${id}" pluginFamily="${family}"><risk_factor>High</risk_factor></ReportItem>`,
      )
      .join('')}</ReportHost></Report></NessusClientData_v2>`;
  const families = (...items: [name: string, status: string][]) =>
    `<FamilySelection>${items.map(([name, status]) => `<FamilyItem><FamilyName>${name}</FamilyName><Status>${status}</Status></FamilyItem>`).join('')}</FamilySelection>`;
  const all: [string, string][] = [
    ['1', 'Web Servers'],
    ['2', 'Databases'],
  ];

  it.each([
    ['a family is disabled', families(['Web Servers', 'enabled'], ['Databases', 'disabled']), 'open'],
    ['some plugins of a family are disabled', families(['Web Servers', 'enabled'], ['Databases', 'mixed']), 'open'],
    [
      'a plugin is disabled',
      `${families(['Databases', 'enabled'])}<IndividualPluginSelection><PluginItem><PluginId>2</PluginId><Family>Databases</Family><Status>disabled</Status></PluginItem></IndividualPluginSelection>`,
      'open',
    ],
    ['all are enabled', families(['Web Servers', 'enabled'], ['Databases', 'enabled']), 'verified'],
  ])('closes nothing that it did not look for: %s', async (_, policy, status) => {
    const whole = families(['Web Servers', 'enabled'], ['Databases', 'enabled']);
    expect(await statusesAfter('nessus', [nessus(1, all, whole), nessus(8, [['1', 'Web Servers']], policy)], null)).toEqual({ P1: 'open', P2: status });
  });
});

describe('Nuclei', () => {
  const result = (id: string, more: object = {}) => ({
    'template-id': id,
    info: { name: id, severity: 'high' },
    type: 'http',
    host: 'https://shop.example.com',
    'matched-at': 'https://shop.example.com/x',
    timestamp: at(1),
    ...more,
  });
  const site: Asset = { type: 'web_application', name: 'https://shop.example.com' };

  it.each([
    ['it could not ask', { 'matcher-status': false, error: 'context deadline exceeded' }, 'open'],
    ['it asked and found nothing', { 'matcher-status': false }, 'verified'],
  ])('closes nothing on a site that did not answer: %s', async (_, more, status) => {
    expect(
      await statusesAfter(
        'nuclei',
        [
          [result('A'), result('B')],
          [result('A', more), result('B')],
        ],
        site,
      ),
    ).toEqual({ A: status, B: 'open' });
  });
});

describe('sonar-report', () => {
  const report = (keys: string[], more: object = {}) => ({
    date: at(keys.length === 2 ? 1 : 8),
    projectName: 'shop',
    sonarBaseURL: 'https://sonar.example.com',
    rules: [],
    issues: keys.map((key) => ({ rule: `java:${key}`, severity: 'MAJOR', component: `${key}.java`, line: 1, message: key, key })),
    ...more,
  });

  it('closes nothing if it has only issues in new code', async () => {
    const whole = report(['A', 'B'], { inNewCodePeriod: false });
    expect(await statusesAfter('sonarqube', [whole, report(['B'], { inNewCodePeriod: true })])).toEqual({ A: 'open', B: 'open' });
    expect(await statusesAfter('sonarqube', [whole, report(['B'], { inNewCodePeriod: false })])).toEqual({ A: 'verified', B: 'open' });
  });
});

describe('Trivy with several reports in one file', () => {
  const trivy = (day: number, ...results: object[]) => ({
    SchemaVersion: 2,
    CreatedAt: at(day),
    ArtifactName: shop.name,
    ArtifactType: 'repository',
    Results: results,
  });
  const secrets = { Target: '.env', Class: 'secret', Secrets: [{ RuleID: 'key', Title: 'S', Severity: 'HIGH', StartLine: 1, EndLine: 1, Match: '***' }] };
  const packages = (...ids: number[]) => ({
    Target: 'package-lock.json',
    Class: 'lang-pkgs',
    Type: 'npm',
    Vulnerabilities: ids.map((n) => ({ VulnerabilityID: `CVE-2024-000${n}`, PkgName: `lib${n}`, InstalledVersion: '1', Severity: 'HIGH', Title: `V${n}` })),
  });
  const lines = (...documents: object[]): string => documents.map((document) => JSON.stringify(document)).join('\n');

  it('closes no secrets if none of them shows that it looked for secrets', async () => {
    const before = lines(trivy(1, secrets, packages(1)), trivy(1, packages(1, 2)));
    expect(await statusesAfter('trivy', [before, lines(trivy(8, packages(1)), trivy(8, packages(1)))])).toMatchObject({ S: 'open', V1: 'open' });
  });
});

describe('GitLab', () => {
  const report = (day: number, rules: string[], scan: object = {}) => ({
    version: '15.0.7',
    scan: { scanner: { id: 'sast', name: 'SAST' }, type: 'sast', status: 'success', start_time: at(day).slice(0, 19), end_time: at(day).slice(0, 19), ...scan },
    vulnerabilities: rules.map((name) => ({
      id: name,
      category: 'sast',
      name,
      severity: 'High',
      location: { file: `${name}.c`, start_line: 1 },
      identifiers: [{ type: 'rule', name, value: name }],
    })),
  });

  it('closes nothing if the analyzer reports a fatal error', async () => {
    const failed = { messages: [{ level: 'fatal', value: 'out of memory' }] };
    expect(await statusesAfter('gitlab', [report(1, ['A', 'B']), report(8, ['B'], failed)])).toEqual({ A: 'open', B: 'open' });
    const warned = { messages: [{ level: 'warn', value: 'slow' }] };
    expect(await statusesAfter('gitlab', [report(1, ['A', 'B']), report(8, ['B'], warned)])).toEqual({ A: 'verified', B: 'open' });
  });

  it('closes nothing by a scan of another type, although the same scanner did it', async () => {
    const reports = [report(1, ['A', 'B']), report(8, [], { type: 'secret_detection' })];
    for (const each of [reports, reports.toReversed()]) expect(await statusesAfter('gitlab', each)).toEqual({ A: 'open', B: 'open' });
    expect(await statusesAfter('gitlab', [...reports, report(9, ['B'])])).toEqual({ A: 'verified', B: 'open' });
  });
});

describe('CycloneDX', () => {
  const bom = (day: number, ids: number[], more: object = {}) => ({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: {
      timestamp: at(day),
      tools: { components: [{ name: 'tool', version: '1' }] },
      component: { type: 'application', name: 'shop', 'bom-ref': 'root' },
    },
    components: ids.map((n) => ({ type: 'library', name: `lib${n}`, version: '1', 'bom-ref': `c${n}`, purl: `pkg:npm/lib${n}@1` })),
    vulnerabilities: ids.map((n) => ({ id: `CVE-2024-000${n}`, description: `V${n}`, ratings: [{ severity: 'high' }], affects: [{ ref: `c${n}` }] })),
    ...more,
  });
  const statusOf = async (more: object) => Object.values(await statusesAfter('cyclonedx', [bom(1, [1, 2]), bom(8, [2], more)])).sort();

  it.each([
    ['incomplete', 'open'],
    ['incomplete_first_party_only', 'open'],
    ['complete', 'verified'],
    ['unknown', 'verified'],
  ])('closes nothing if it calls itself incomplete: %s', async (aggregate, status) => {
    expect(await statusOf({ compositions: [{ aggregate, assemblies: ['root'] }] })).toEqual(['open', status]);
  });
});

describe('ZAP', () => {
  const alert = (name: string, pages: string[], more: object) => ({
    pluginid: name,
    alert: name,
    riskcode: '2',
    instances: pages.map((page) => ({ uri: `https://shop.example.com/${page}`, method: 'GET' })),
    ...more,
  });
  const zap = (day: number, ...alerts: object[]) => ({
    '@programName': 'ZAP',
    '@version': '2.17.0',
    created: at(day),
    site: [{ '@name': 'https://shop.example.com', alerts }],
  });
  const first = zap(1, alert('A', ['x', 'y'], { count: '2' }), alert('B', ['x'], { count: '1' }));

  it.each([
    ['counts more than it lists', { count: '2' }, 'present'],
    ['calls the alert systemic, of which it lists only some', { count: '1', systemic: 'true' }, 'present'],
    ['lists all', { count: '1', systemic: 'false' }, 'absent'],
  ])('keeps URLs of an alert that a report may only not list, in every order: it %s', async (_, more, state) => {
    const second = zap(8, alert('A', ['x'], more));
    for (const reports of [
      [first, second],
      [second, first],
    ]) {
      const org = await engine.organization();
      for (const report of reports)
        await engine.runFile(
          org,
          { format: 'zap', name: 'zap.json', bytes: Buffer.from(JSON.stringify(report)) },
          { coverage: 'complete', started_at: report.created },
        );
      const { rows } = await engine.admin().query('select label, state from occurrences where org_id = $1 order by label', [org]);
      expect(rows).toEqual([
        { label: 'GET https://shop.example.com/x', state: 'present' },
        { label: 'GET https://shop.example.com/y', state },
      ]);
      expect((await engine.findings(org)).map(({ title, status }) => [title, status])).toEqual([
        ['A', 'open'],
        ['B', 'verified'],
      ]);
    }
  });
});

describe('GitHub', () => {
  const alert = (number: number) => ({
    number,
    state: 'OPEN',
    securityVulnerability: { severity: 'HIGH', package: { name: `lib${number}` }, advisory: { summary: `V${number}`, ghsaId: `GHSA-0000-0000-000${number}` } },
  });
  const response = (numbers: number[], more: object) => ({
    data: { repository: { url: shop.name, vulnerabilityAlerts: { nodes: numbers.map(alert), ...more } } },
  });

  it.each([
    ['counts more alerts than it lists', { totalCount: 2 }, 'open'],
    ['counts the alerts that it lists', { totalCount: 1 }, 'verified'],
  ])('closes nothing if a response may not have all alerts: it %s', async (_, more, status) => {
    expect(await statusesAfter('github', [response([1, 2], { totalCount: 2 }), response([1], more)])).toEqual({ V1: 'open', V2: status });
  });
});

describe('Trivy Operator', () => {
  const audit = (day: number, ids: string[], highCount: number) => ({
    apiVersion: 'aquasecurity.github.io/v1alpha1',
    kind: 'ConfigAuditReport',
    metadata: { name: 'web', namespace: 'shop', labels: { 'trivy-operator.resource.kind': 'Job', 'trivy-operator.resource.name': 'web' } },
    report: { updateTimestamp: at(day), summary: { highCount }, checks: ids.map((checkID) => ({ checkID, title: checkID, severity: 'HIGH', success: false })) },
  });

  it.each([
    ['counts more failures than it lists', 2, 'open'],
    ['counts the failures that it lists', 1, 'verified'],
  ])('closes no checks of a workload that may not all be listed: it %s', async (_, count, status) => {
    expect(await statusesAfter('trivy_operator', [audit(1, ['A', 'B'], 2), audit(8, ['A'], count)], null)).toEqual({ A: 'open', B: status });
  });
});

describe('Snyk', () => {
  const snyk = (projectName: string, ids: string[], uniqueCount: number) => ({
    vulnerabilities: ids.map((id) => ({ id: `SNYK-JS-${id}-1`, title: id, name: id.toLowerCase(), version: '1', severity: 'high', upgradePath: [] })),
    ok: false,
    dependencyCount: 5,
    packageManager: 'npm',
    projectName,
    uniqueCount,
  });

  it.each([
    ['counts more vulnerabilities than it lists', 2, 'open'],
    ['counts the vulnerabilities that it lists', 1, 'verified'],
  ])('closes nothing of a project that may not be listed completely: it %s', async (_, count, status) => {
    const reports = [
      [snyk('shop', ['A', 'B'], 2), snyk('site', ['C', 'D'], 2)],
      [snyk('shop', ['A'], count), snyk('site', ['C'], 1)],
    ];
    expect(await statusesAfter('snyk', reports, null)).toEqual({ A: 'open', B: status, C: 'open', D: 'verified' });
    expect(await statusesAfter('snyk', [snyk('shop', ['A', 'B'], 2), snyk('shop', ['A'], count)])).toEqual({ A: 'open', B: status });
  });
});

describe('OpenVAS with a filter', () => {
  const openvas = (day: number, found: readonly string[], [full, filtered]: readonly [number, number], logs = 0, more = '') => `<report format_id="x"><report>
    <filters><term>apply_overrides=0 levels=hml rows=100 min_qod=70 first=1</term></filters><scan_run_status>Done</scan_run_status>
    <scan_start>${at(day)}</scan_start><results start="1" max="100">${found
      .map((name) => `<result><host>192.0.2.1</host><nvt oid="1.3.${name.charCodeAt(0)}"><name>${name}</name></nvt><threat>High</threat></result>`)
      .join('')}</results>
    <result_count>${full + logs}<full>${full + logs}</full><filtered>${filtered}</filtered><high><full>${full}</full><filtered>${filtered}</filtered></high>
    <log><full>${logs}</full><filtered>0</filtered></log></result_count>
    <host><ip>192.0.2.1</ip><start>${at(day)}</start><end>${at(day)}</end></host>${more}<scan_end>${at(day)}</scan_end></report></report>`;
  const timedOut = (oid: string) => `<errors><error><host>192.0.2.1</host><description>NVT timed out</description><nvt oid="${oid}"/></error></errors>`;

  it.each([
    ['leaves out one that the same filter let through before', openvas(8, ['A'], [2, 1]), 'open'],
    ['leaves out log messages only', openvas(8, ['A'], [1, 1], 30), 'verified'],
    ['could not finish the check', openvas(8, ['A'], [1, 1], 0, timedOut('1.3.66')), 'open'],
    ['could not finish another check', openvas(8, ['A'], [1, 1], 0, timedOut('1.3.67')), 'verified'],
  ])('closes what is missing only if the report has all findings: it %s', async (_, second, status) => {
    expect(await statusesAfter('openvas', [openvas(1, ['A', 'B'], [2, 2]), second], null)).toEqual({ A: 'open', B: status });
  });
});
