import { describe, expect, it } from 'vitest';
import type { ScanScope } from '../../findings/import/manage-imports.ts';
import { useImports } from '../../testing/findings/imports.ts';
import { OTHER_ORDERS } from '../../testing/findings/orders.ts';
import { uploadsTo } from '../../testing/findings/uploads.ts';

/** Complete reports of the same source about the same asset that say nothing about the finding, because the run read something else or nothing. */
const engine = useImports();

const shop = { type: 'repository', name: 'https://git.example.com/shop' } as const;
const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();

const { upload, statuses } = uploadsTo(engine);

describe('a run that read nothing', () => {
  const semgrep = (found: string[], scanned?: string[]) => ({
    version: '1.90.0',
    errors: [],
    results: found.map((path) => ({ check_id: 'A', path, start: { line: 1 }, end: { line: 1 }, extra: { message: path, severity: 'ERROR', metadata: {} } })),
    ...(scanned && { paths: { scanned } }),
  });
  const bandit = (day: number, found: string[], read: string[]) => ({
    errors: [],
    generated_at: at(day),
    metrics: Object.fromEntries(['_totals', ...read].map((file) => [file, { loc: 1, 'SEVERITY.HIGH': 0, 'CONFIDENCE.HIGH': 0 }])),
    results: found.map((filename) => ({ filename, test_id: 'B1', issue_text: filename, issue_severity: 'HIGH', issue_confidence: 'HIGH', line_number: 1 })),
  });
  const npm = (total: number | undefined, ...names: string[]) => ({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(
      names.map((name) => [name, { name, severity: 'high', via: [{ source: 1, title: name, url: 'https://github.com/advisories/GHSA-2222-3333-4444' }] }]),
    ),
    metadata: { dependencies: { total } },
  });
  const snyk = (dependencyCount: number, ...names: string[]) => ({
    vulnerabilities: names.map((name) => ({ id: `SNYK-JS-${name}`, title: name, severity: 'high', packageName: name, name, version: '1.0.0', from: [] })),
    ok: names.length === 0,
    dependencyCount,
    packageManager: 'npm',
    projectName: 'shop',
    displayTargetFile: 'package-lock.json',
  });
  const checkov = {
    check_type: 'terraform',
    results: {
      passed_checks: [],
      failed_checks: [{ check_id: 'CKV_AWS_1', check_name: 'Bucket', file_path: '/main.tf', file_line_range: [1, 2], resource: 'aws_s3_bucket.a' }],
      skipped_checks: [],
      parsing_errors: [],
    },
    summary: { passed: 0, failed: 1, skipped: 0, parsing_errors: 0, resource_count: 1, checkov_version: '3.2.0' },
  };
  const nothing = { passed: 0, failed: 0, skipped: 0, parsing_errors: 0, resource_count: 0, checkov_version: '3.2.0' };
  const files = ['a.py', 'b.py', 'c.py'];

  const runs: [string, string, object, object][] = [
    ['Semgrep without files', 'semgrep', semgrep(['a.py'], files), semgrep([], [])],
    ['Semgrep that does not list files', 'semgrep', semgrep(['a.py'], files), semgrep([])],
    ['Bandit', 'bandit', bandit(1, ['a.py'], files), bandit(2, [], [])],
    ['npm audit without dependencies', 'npm_audit', npm(8, 'a'), npm(0)],
    ['npm audit that does not count dependencies', 'npm_audit', npm(100, 'a'), npm(undefined)],
    ['Snyk', 'snyk', snyk(8, 'a'), snyk(0)],
    ['Checkov, as a summary', 'checkov', checkov, nothing],
    ['Checkov, as an empty list', 'checkov', checkov, []],
    ['Checkov, of one framework', 'checkov', checkov, { ...checkov, results: { ...checkov.results, failed_checks: [] }, summary: nothing }],
  ];
  it.each(runs)('closes nothing: %s', async (_, format, seen, empty) => {
    const org = await engine.organization();
    await upload(org, format, seen, { started_at: at(1) });
    expect(Object.values(await statuses(org))).toEqual(['open']);
    await upload(org, format, empty, { started_at: at(2) });
    expect(Object.values(await statuses(org))).toEqual(['open']);
  });

  it.each(runs)('closes nothing of a report that arrives later: %s', async (_, format, seen, empty) => {
    const org = await engine.organization();
    await upload(org, format, empty, { started_at: at(2) });
    await upload(org, format, seen, { started_at: at(1) });
    expect(Object.values(await statuses(org))).toEqual(['open']);
  });
});

describe('lock files of one repository', () => {
  const osv = (files: Record<string, string[]>) => ({
    results: Object.entries(files).map(([path, names]) => ({
      source: { path, type: 'lockfile' },
      packages: names.map((name) => ({
        package: { name, version: '1.0.0', ecosystem: 'npm' },
        vulnerabilities: [{ id: `GHSA-2222-3333-${name}${name}${name}${name}`, summary: name }],
        groups: [],
      })),
    })),
  });
  const npm = (total: number | undefined, ...names: string[]) => ({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(
      names.map((name) => [
        name,
        { name, severity: 'high', via: [{ source: 1, title: name, url: `https://github.com/advisories/GHSA-2222-3333-${name}${name}${name}${name}` }] },
      ]),
    ),
    metadata: { dependencies: { total } },
  });
  const snyk = (project: string, file: string, ...names: string[]) => ({
    vulnerabilities: names.map((name) => ({ id: `SNYK-JS-${name}`, title: name, severity: 'high', packageName: name, name, version: '1.0.0', from: [] })),
    ok: names.length === 0,
    packageManager: 'npm',
    projectName: project,
    displayTargetFile: file,
  });
  const [web, api] = ['/builds/shop/web/package-lock.json', '/builds/shop/api/package-lock.json'];
  const endOf = async (format: string, ...reports: (readonly [object, ScanScope?])[]) => {
    const org = await engine.organization();
    let notes: unknown;
    for (const [n, [report, scope]] of reports.entries()) ({ notes } = await upload(org, format, report, { started_at: at(n + 1), ...scope }));
    return { ...(await statuses(org)), notes };
  };
  const NOTE =
    '1 finding that the report does not show stays open: the report may be about another lock file, or of a run that read none. Set `path` in `scan_scope`, which is `.` if it is about the whole repository.';

  it('OSV-Scanner closes nothing of a lock file if it shows only others', async () => {
    expect(await endOf('osv_scanner', [osv({ [web]: ['f'] })], [osv({ [api]: ['g'] })])).toEqual({ f: 'open', g: 'open', notes: [NOTE] });
    expect(await endOf('osv_scanner', [osv({ [web]: ['f'] })], [osv({ [api]: ['g'] })], [osv({ [web]: ['h'] })])).toMatchObject({
      f: 'verified',
      g: 'open',
      h: 'open',
    });
  });

  it('OSV-Scanner closes what is gone from a lock file, from one of several, and from the only one', async () => {
    expect(await endOf('osv_scanner', [osv({ [web]: ['f', 'g'] })], [osv({ [web.replace('shop', 'shop@2')]: ['g'] })])).toMatchObject({
      f: 'verified',
      g: 'open',
    });
    expect(await endOf('osv_scanner', [osv({ [web]: ['f'], [api]: ['g'] })], [osv({ [api]: ['g'] })])).toMatchObject({ f: 'verified', g: 'open' });
    expect(await endOf('osv_scanner', [osv({ [web]: ['f'] })], [osv({})])).toMatchObject({ f: 'verified' });
  });

  it('a report without findings closes nothing if the source reports on several lock files, unless the scope says that it is about all', async () => {
    const runs = [[osv({ [web]: ['f'] })], [osv({ [api]: ['g'] })]] as const;
    expect(await endOf('osv_scanner', ...runs, [osv({})])).toMatchObject({ f: 'open', g: 'open' });
    expect(await endOf('osv_scanner', ...runs, [osv({}), { path: '.' }])).toMatchObject({ f: 'verified', g: 'verified' });
  });

  it('npm audit closes nothing if it checked many more or fewer dependencies', async () => {
    expect(await endOf('npm_audit', [npm(800, 'f')], [npm(300)])).toEqual({ f: 'open', notes: [NOTE] });
    expect(await endOf('npm_audit', [npm(300, 'f')], [npm(800, 'g')])).toMatchObject({ f: 'open', g: 'open' });
    expect(await endOf('npm_audit', [npm(800, 'f')], [npm(300), { path: './' }])).toMatchObject({ f: 'verified' });
    expect(await endOf('npm_audit', [npm(800, 'f')], [npm(795)])).toMatchObject({ f: 'verified' });
    expect(await endOf('npm_audit', [npm(undefined, 'f')], [npm(undefined)])).toMatchObject({ f: 'verified' });
  });

  it('Trivy closes nothing if it was started in another folder, as far as it lists packages', async () => {
    const trivy = (packages: number, ...names: string[]) => ({
      SchemaVersion: 2,
      ArtifactName: '.',
      ArtifactType: 'filesystem',
      Results: [
        {
          Target: 'package-lock.json',
          Class: 'lang-pkgs',
          Type: 'npm',
          Packages: Array.from({ length: packages }, (_, n) => ({ Name: `lib${packages}-${n}`, Version: '1.0.0' })),
          Vulnerabilities: names.map((name) => ({ VulnerabilityID: `CVE-2026-${name}`, PkgName: name, Title: name, Severity: 'HIGH' })),
        },
      ],
    });
    const asset = { type: 'repository', name: shop.name } as const;
    expect(await endOf('trivy', [trivy(800, 'f'), { asset }], [trivy(60, 'g'), { asset }])).toEqual({ f: 'open', g: 'open', notes: [NOTE] });
    expect(await endOf('trivy', [trivy(800, 'f'), { asset }], [trivy(60, 'g'), { asset, path: '.' }])).toMatchObject({ f: 'verified', g: 'open' });
    expect(await endOf('trivy', [trivy(800, 'f'), { asset }], [trivy(798, 'g'), { asset }])).toMatchObject({ f: 'verified', g: 'open' });
  });

  it.each([
    ['the lock files of a repository', { ArtifactName: '.', ArtifactType: 'filesystem' }],
    ['an image without an operating system', { ArtifactName: 'registry.example.com/shop:1', ArtifactType: 'container_image' }],
  ])('Trivy closes nothing of %s if it lists no packages any more', async (_, artifact) => {
    const trivy = (...names: string[]) => ({
      SchemaVersion: 2,
      ...artifact,
      Results: names.map((name) => ({
        Target: `${name}/package-lock.json`,
        Class: 'lang-pkgs',
        Type: 'npm',
        Packages: [{ Name: name, Version: '1.0.0' }],
        Vulnerabilities: name === 'fixed' ? [] : [{ VulnerabilityID: `CVE-2026-${name}`, PkgName: name, Title: name, Severity: 'HIGH' }],
      })),
    });
    const [older, newer] = [{ started_at: at(1) }, { started_at: at(9) }];
    expect(await endOf('trivy', [trivy('f', 'g'), older], [trivy(), newer])).toMatchObject({ f: 'open', g: 'open' });
    expect(await endOf('trivy', [trivy(), newer], [trivy('f', 'g'), older])).toMatchObject({ f: 'open', g: 'open' });
    expect(await endOf('trivy', [trivy('f', 'g'), older], [trivy('g', 'fixed'), newer])).toMatchObject({ f: 'verified', g: 'open' });
    expect(await endOf('trivy', [trivy('g', 'fixed'), newer], [trivy('f', 'g'), older])).toMatchObject({ f: 'verified', g: 'open' });
  });

  it('Trivy closes nothing if it lists no lock file any more, although it listed some without findings', async () => {
    const trivy = (files?: Record<string, string[]>) => {
      const found = (name: string) => ({ VulnerabilityID: `CVE-2026-${name}`, PkgName: name, Title: name, Severity: 'HIGH' });
      const Results = Object.entries(files ?? {}).map(([Target, names]) => ({ Target, Class: 'lang-pkgs', Vulnerabilities: names.map(found) }));
      return { SchemaVersion: 2, ArtifactName: '.', ArtifactType: 'filesystem', ...(files && { Results }) };
    };
    const [mixed, empty, older, newer] = [trivy({ a: ['f'], b: [] }), trivy(), { started_at: at(1) }, { started_at: at(9) }];
    expect(await endOf('trivy', [mixed, older], [empty, newer])).toEqual({ f: 'open', notes: [NOTE] });
    expect(await endOf('trivy', [empty, newer], [mixed, older])).toMatchObject({ f: 'open' });
    expect(await endOf('trivy', [mixed, older], [empty, { ...newer, path: '.' }])).toMatchObject({ f: 'verified' });
    expect(await endOf('trivy', [trivy({ a: ['f'] }), older], [trivy({ a: [] }), newer])).toMatchObject({ f: 'verified' });
    expect(await endOf('trivy', [trivy({ a: ['f'] }), older], [empty, newer])).toMatchObject({ f: 'verified' });
  });

  it('Snyk closes nothing of another project', async () => {
    expect(await endOf('snyk', [snyk('web', 'package-lock.json', 'f')], [snyk('api', 'package-lock.json')])).toMatchObject({ f: 'open' });
    expect(await endOf('snyk', [snyk('web', 'package-lock.json', 'f')], [snyk('web', 'yarn.lock')])).toMatchObject({ f: 'open' });
    expect(await endOf('snyk', [snyk('web', 'package-lock.json', 'f')], [snyk('web', 'package-lock.json')])).toMatchObject({ f: 'verified' });
  });

  it('a late report opens what a newer one on another lock file does not show', async () => {
    const late = (format: string, newer: object, older: object) => endOf(format, [newer, { started_at: at(9) }], [older, { started_at: at(1) }]);
    expect(await late('osv_scanner', osv({ [api]: ['g'] }), osv({ [web]: ['f'] }))).toMatchObject({ f: 'open' });
    expect(await late('npm_audit', npm(300), npm(800, 'f'))).toMatchObject({ f: 'open' });
    expect(await late('npm_audit', npm(800), npm(800, 'f'))).toMatchObject({ f: 'verified' });
  });
});

describe('Nessus', () => {
  const item = '<ReportItem port="443" protocol="tcp" severity="3" pluginID="50001" pluginName="A"><risk_factor>High</risk_factor></ReportItem>';
  const ping = (answer: string) =>
    `<ReportItem port="0" protocol="tcp" severity="0" pluginID="10180" pluginName="Ping the remote host"><plugin_output>The remote host ${answer}</plugin_output></ReportItem>`;
  const report = (day: number, hosts: Record<string, string>) => {
    const time = new Date(at(day)).toUTCString();
    const properties = `<HostProperties><tag name="HOST_START">${time}</tag><tag name="HOST_END">${time}</tag></HostProperties>`;
    return `<?xml version="1.0" ?><NessusClientData_v2><Report name="weekly">${Object.entries(hosts)
      .map(([name, items]) => `<ReportHost name="${name}">${properties}${items}</ReportHost>`)
      .join('')}</Report></NessusClientData_v2>`;
  };
  const scan = async (org: string, text: string, names: readonly string[] = []) => {
    const assets = names.map((name) => ({ type: 'host', name }) as const);
    return engine.runFile(org, { format: 'nessus', name: 'a.nessus', bytes: Buffer.from(text) }, { coverage: 'complete', assets });
  };
  const open = async (org: string) => (await engine.findings(org)).filter(({ title, status }) => title === 'A' && status === 'open').map(({ asset }) => asset);

  it.each([
    ['is considered as dead - not scanning', ['web1']],
    ['is up', []],
  ])('a host of which the scan says that it %s', async (answer, expected) => {
    const org = await engine.organization();
    await scan(org, report(1, { web1: item }));
    await scan(org, report(2, { web1: ping(answer) }));
    expect(await open(org)).toEqual(expected);
  });

  it('closes nothing on hosts that the scope names and the report does not list', async () => {
    const org = await engine.organization();
    await scan(org, report(1, { web1: item, web2: item }));
    const { notes } = await scan(org, report(2, { web1: ping('is up') }), ['web1', 'web2']);
    expect(await open(org)).toEqual(['web2']);
    expect(notes).toEqual(['The report does not list the host "web2", so it says nothing about it, although `scan_scope` names it.']);
  });

  describe('of machines with one name', () => {
    const name = 'web.example.com';
    const machine = (address: string, { items = '', mac = '', credentialed = true } = {}) => ({ address, items, mac, credentialed });
    const report = (day: number, ...machines: ReturnType<typeof machine>[]) => {
      const time = new Date(at(day)).toUTCString();
      const hosts = machines.map(
        ({
          address,
          items,
          mac,
          credentialed,
        }) => `<ReportHost name="${name}"><HostProperties><tag name="host-fqdn">${name}</tag><tag name="host-ip">${address}</tag>
          ${mac && `<tag name="mac-address">${mac}</tag>`}<tag name="HOST_START">${time}</tag><tag name="HOST_END">${time}</tag><tag name="Credentialed_Scan">${credentialed}</tag></HostProperties>${items}</ReportHost>`,
      );
      return `<?xml version="1.0" ?><NessusClientData_v2><Report name="weekly">${hosts.join('')}</Report></NessusClientData_v2>`;
    };
    const [one, two] = ['192.0.2.10', '192.0.2.11'];
    const ORDERS = [[0, 1, 2], ...OTHER_ORDERS] as const;
    const openAfter = async (...reports: string[]): Promise<number> => {
      const org = await engine.organization();
      for (const text of reports) await scan(org, text);
      return (await open(org)).length;
    };

    it('a scan of one closes nothing of the other, in any order', async () => {
      const first = report(1, machine(one, { items: item }));
      expect(await openAfter(first, report(2, machine(two)))).toBe(1);
      expect(await openAfter(report(2, machine(two)), first)).toBe(1);
      const runs = [first, report(2, machine(two)), report(3, machine(one))];
      for (const order of ORDERS) expect(await openAfter(...order.map((n) => runs[n] ?? '')), order.join()).toBe(0);
    });

    it('says why the finding stays open', async () => {
      const org = await engine.organization();
      await scan(org, report(1, machine(one, { items: item })));
      const { notes } = await scan(org, report(2, machine(two)));
      expect(notes).toEqual([
        '1 finding that the report does not show stays open: the scan was of another address of the host, which can be another machine with the same name.',
      ]);
    });

    it('what both had is gone when neither has it any more', async () => {
      const both = report(1, machine(one, { items: item }), machine(two, { items: item }));
      expect(await openAfter(both, report(2, machine(two)))).toBe(1);
      expect(await openAfter(both, report(2, machine(two)), report(3, machine(one)))).toBe(0);
      expect(await openAfter(both, report(2, machine(one), machine(two)))).toBe(0);
      const runs = [report(1, machine(one, { items: item })), report(2, machine(two, { items: item })), report(3, machine(two))];
      for (const order of ORDERS) expect(await openAfter(...order.map((n) => runs[n] ?? '')), order.join()).toBe(1);
    });

    it('if one of them refused the credentials, nothing that needs them is gone', async () => {
      const both = (day: number, items: string, credentialed: boolean) => report(day, machine(one, { items, credentialed }), machine(two, { items }));
      expect(await openAfter(both(1, item, true), both(2, '', false))).toBe(1);
      expect(await openAfter(both(1, item, true), both(2, '', true))).toBe(0);
    });

    it('a MAC address tells that it is the same machine at another address', async () => {
      const mac = '00:00:5e:00:53:01';
      expect(await openAfter(report(1, machine(one, { items: item, mac })), report(2, machine(two, { mac })))).toBe(0);
      expect(await openAfter(report(1, machine(one, { items: item })), report(2, machine(one, { mac })))).toBe(0);
      expect(await openAfter(report(1, machine(one, { items: item })), report(2, machine(two, { mac })))).toBe(1);
    });

    // Which of the two machines a report with only the name means depends on which is known first. It proves nothing about either.
    it('a report with only the name and another address closes nothing of two machines, in any order', async () => {
      const named = (day: number, address: string, digit: number, items = '') => report(day, machine(address, { items, mac: `00:00:5e:00:53:0${digit}` }));
      const runs = [named(1, one, 1, item), named(2, two, 2, item), report(3, machine('192.0.2.12'))];
      for (const order of ORDERS) expect(await openAfter(...order.map((n) => runs[n] ?? '')), order.join()).toBe(2);
    });
  });
});
