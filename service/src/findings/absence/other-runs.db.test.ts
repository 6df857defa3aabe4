import { describe, expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';
import { uploadsTo } from '../../testing/findings/uploads.ts';

/** Complete reports of the same format about the same asset that say nothing about the finding, because another tool or another run wrote them. */
const engine = useImports();

const shop = { type: 'repository', name: 'https://git.example.com/shop' } as const;
const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();

const { upload, statuses } = uploadsTo(engine);

describe('reports of scanners of your own in the generic format', () => {
  const found = (tool: string | undefined, ...titles: string[]) => ({ findings: titles.map((title) => ({ title, severity: 'high', rule: title, tool })) });

  it.each([
    ['says that it is another one', { scan: { tool: 'b' }, findings: [] }],
    ['has findings of another one', found('b', 'B')],
  ])('a clean report closes nothing if it %s', async (_, second) => {
    const org = await engine.organization();
    await upload(org, 'generic', found('a', 'A'), { started_at: at(1) });
    await upload(org, 'generic', second, { started_at: at(2) });
    expect(await statuses(org)).toMatchObject({ A: 'open' });
    await upload(org, 'generic', { scan: { tool: 'a' }, findings: [] }, { started_at: at(3) });
    expect(await statuses(org)).toMatchObject({ A: 'verified' });
  });

  it('a late report opens what a newer one of another scanner does not have', async () => {
    const org = await engine.organization();
    await upload(org, 'generic', found('b', 'B'), { started_at: at(2) });
    await upload(org, 'generic', found('a', 'A'), { started_at: at(1) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'open' });
  });

  it.each([
    ['no report has named a tool', [undefined], 'verified', []],
    ['all have named the same tool', ['a'], 'verified', []],
    [
      'they have named different tools',
      ['a', 'b'],
      'open',
      [
        expect.stringMatching(
          /^Nothing was closed: the report does not name the tool .* Name the tool in it, .* For GitHub, export the alerts of all states .*\.$/,
        ),
      ],
    ],
  ])('a clean report that names no tool: %s', async (_, tools, status, notes) => {
    const org = await engine.organization();
    for (const tool of tools) await upload(org, 'generic', found(tool, 'A'), { started_at: at(1) });
    const clean = await upload(org, 'generic', { scan: { tool_version: '1' }, findings: [] }, { started_at: at(2) });
    expect(await statuses(org)).toEqual({ A: status });
    expect(clean.notes).toEqual(notes);
  });
});

describe('sonar-report', () => {
  const report = (date: string, ...keys: string[]) => ({
    date,
    projectName: shop.name,
    sonarBaseURL: 'https://sonar.example.com',
    rules: [],
    issues: keys.map((key) => ({ key, rule: key, severity: 'MAJOR', component: `shop:${key}.java`, line: 1, message: key })),
  });

  it('states only the day, so a second report of one day closes nothing and says so', async () => {
    const org = await engine.organization();
    const second = /^1 finding that the report does not show stays open: an earlier report of the same time has shown it\. If the reports state only the day/;
    await upload(org, 'sonarqube', report('Thursday, Jan 1, 2026', 'A', 'B'), {});
    expect((await upload(org, 'sonarqube', report('Thursday, Jan 1, 2026', 'B'), {})).notes).toContainEqual(expect.stringMatching(second));
    expect((await upload(org, 'sonarqube', report('Thursday, Jan 1, 2026', 'A', 'B'), {})).notes).toEqual([]);
    expect((await upload(org, 'sonarqube', report('Friday, Jan 2, 2026', 'B'), {})).notes).toEqual([]);
    expect(Object.values(await statuses(org)).sort()).toEqual(['open', 'verified']);
  });
});

describe('SARIF', () => {
  const run = (category: string, ...rules: string[]) => ({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Linter' } },
        automationDetails: { id: category },
        results: rules.map((ruleId) => ({
          ruleId,
          message: { text: ruleId },
          locations: [{ physicalLocation: { artifactLocation: { uri: `${ruleId}.c` } } }],
        })),
      },
    ],
  });

  it('a run of one category closes nothing of another', async () => {
    const org = await engine.organization();
    await upload(org, 'sarif', run('/language:java/', 'A'), { started_at: at(1) });
    await upload(org, 'sarif', run('/language:python/'), { started_at: at(2) });
    expect(await statuses(org)).toEqual({ A: 'open' });
    await upload(org, 'sarif', run('/language:java/'), { started_at: at(3) });
    expect(await statuses(org)).toEqual({ A: 'verified' });
  });

  it('a run without a list of results closes nothing', async () => {
    const org = await engine.organization();
    const [{ version, runs }] = [run('x', 'A')];
    await upload(org, 'sarif', { version, runs }, { started_at: at(1) });
    await upload(org, 'sarif', { version, runs: [{ ...runs[0], results: null }] }, { started_at: at(2) });
    expect(await statuses(org)).toEqual({ A: 'open' });
  });
});

describe('Checkov', () => {
  const check = (check_id: string, file: string) => ({
    check_id,
    check_name: check_id,
    file_path: `/${file}`,
    file_line_range: [1, 4],
    resource: `bucket.${check_id}`,
  });
  const run = (lists: Record<string, object[]>) => ({ check_type: 'terraform', results: { passed_checks: [check('Z', 'z.tf')], failed_checks: [], ...lists } });

  it('closes nothing because a comment in the code skips the check', async () => {
    const org = await engine.organization();
    const [skipped, fixed] = [check('A', 'a.tf'), check('B', 'a.tf')];
    await upload(org, 'checkov', run({ failed_checks: [skipped, fixed] }), { started_at: at(1) });
    const { notes } = await upload(org, 'checkov', run({ skipped_checks: [skipped], passed_checks: [check('Z', 'z.tf'), fixed] }), { started_at: at(2) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'verified' });
    expect(notes).toEqual(['1 finding that the report does not show stays open: the check was not enabled, or was skipped there.']);
  });

  it('closes nothing because of such a comment if the older report arrives late', async () => {
    const org = await engine.organization();
    const [skipped, fixed] = [check('A', 'a.tf'), check('B', 'a.tf')];
    await upload(org, 'checkov', run({ skipped_checks: [skipped], passed_checks: [check('Z', 'z.tf'), fixed] }), { started_at: at(2) });
    await upload(org, 'checkov', run({ failed_checks: [skipped, fixed] }), { started_at: at(1) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'verified' });
  });
});

describe('Semgrep with skipped rules', () => {
  const result = (check_id: string) => ({ check_id, path: 'app.py', start: { line: 1 }, end: { line: 2 }, extra: { message: check_id, severity: 'ERROR' } });
  const run = (results: object[], more: object = {}) => ({ version: '1.90.0', errors: [], paths: { scanned: ['app.py'] }, results, ...more });
  const before = run([result('rules.sql'), result('rules.own.eval'), result('rules.xss'), result('rules.fixed')]);
  // Rules can be named without the folder of their file.
  const after = run([], {
    skipped_rules: [{ rule_id: 'rules.sql', details: 'requires version 99', position: { line: 1, col: 1, offset: 0 } }],
    errors: [
      { code: 0, level: 'info', type: ['IncompatibleRule', { rule_id: 'own.eval' }], rule_id: 'own.eval', message: 'requires version 99' },
      { code: 4, level: 'warn', type: 'Rule parse error', rule_id: 'xss', message: 'invalid pattern' },
    ],
  });

  it.each(['in order', 'late'])('closes nothing of rules that it could not run, with reports %s', async (order) => {
    const org = await engine.organization();
    const scans = [() => upload(org, 'semgrep', before, { started_at: at(1) }), () => upload(org, 'semgrep', after, { started_at: at(2) })];
    for (const scan of order === 'late' ? scans.toReversed() : scans) await scan();
    expect(await statuses(org)).toEqual({ 'rules.sql': 'open', 'rules.own.eval': 'open', 'rules.xss': 'open', 'rules.fixed': 'verified' });
  });
});

describe('Trivy', () => {
  const failed = (ID: string, target: string) => ({
    Target: target,
    Class: 'config',
    Misconfigurations: [{ ID, Title: ID, Severity: 'HIGH', Status: 'FAIL' }],
  });
  const scan = (...results: object[]) => ({ SchemaVersion: 2, ArtifactName: '.', ArtifactType: 'filesystem', Results: results });
  const compliance = (...results: object[]) => ({ ID: 'docker-cis-1.6.0', Title: 'CIS', RelatedResources: [], Results: [{ ID: '4.1', Results: results }] });

  it('closes nothing with a report on the checks of one specification, unless one on the same specification showed it', async () => {
    const org = await engine.organization();
    await upload(org, 'trivy', scan(failed('A', 'web.yaml'), failed('B', 'Dockerfile')), { started_at: at(1) });
    await upload(org, 'trivy', compliance(failed('B', 'Dockerfile'), failed('C', 'Dockerfile')), { started_at: at(2) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'open', C: 'open' });
    await upload(org, 'trivy', compliance(failed('B', 'Dockerfile')), { started_at: at(3) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'open', C: 'verified' });
  });
});

describe('a scanner of a tool that may have been switched off', () => {
  const secret = (...names: string[]) => ({
    Target: '.env',
    Class: 'secret',
    Secrets: names.map((name, n) => ({ RuleID: name, Title: name, Severity: 'HIGH', StartLine: n + 1 })),
  });
  const config = (...names: string[]) => ({
    Target: 'Dockerfile',
    Class: 'config',
    Misconfigurations: names.map((name) => ({ ID: name, Title: name, Severity: 'HIGH', Status: 'FAIL' })),
  });
  const license = (...names: string[]) => ({
    Target: 'Node.js',
    Class: 'license',
    Licenses: names.map((Name) => ({ Name, PkgName: 'lib', Severity: 'HIGH' })),
  });
  const packages = {
    Target: 'package-lock.json',
    Class: 'lang-pkgs',
    Type: 'npm',
    Vulnerabilities: [{ VulnerabilityID: 'CVE-2026-0001', PkgName: 'lib', Title: 'V', Severity: 'HIGH' }],
  };
  const trivy = (...results: object[]) => ({ SchemaVersion: 2, ArtifactName: '.', ArtifactType: 'filesystem', Results: [packages, ...results] });

  it('Trivy closes secrets, misconfigurations and licenses only if the report shows that it looked for them', async () => {
    const org = await engine.organization();
    await upload(org, 'trivy', trivy(secret('S', 'T'), config('C'), license('L', 'M')), { started_at: at(1) });
    const { notes } = await upload(org, 'trivy', trivy(), { started_at: at(2) });
    const open = { S: 'open', T: 'open', C: 'open', 'License L of lib': 'open', 'License M of lib': 'open', V: 'open' };
    expect(await statuses(org)).toEqual(open);
    expect(notes).toEqual([
      expect.stringContaining('5 findings that the report does not show stay open: the run leaves out findings of this kind, does not show that it looked'),
    ]);
    await upload(org, 'trivy', trivy(secret('T'), config(), license('M')), { started_at: at(3) });
    expect(await statuses(org)).toEqual({ ...open, S: 'verified', C: 'verified', 'License L of lib': 'verified' });
  });

  it('Trivy closes the last secret if the scope says that it looked for secrets, and the finding says who states it', async () => {
    const org = await engine.organization();
    await upload(org, 'trivy', trivy(secret('S'), license('L')), { started_at: at(1) });
    await upload(org, 'trivy', trivy(), { started_at: at(2), looked_for: ['secrets'] });
    expect(await statuses(org)).toEqual({ S: 'verified', 'License L of lib': 'open', V: 'open' });
    const { rows } = await engine.admin().query<{ gaps: string[] }>(`select gaps from sightings where org_id = $1 and state = 'absent'`, [org]);
    expect(rows).toEqual([{ gaps: ['checks_unstated', 'search_unstated'] }]);
  });

  it.each(['in order', 'late'])('Trivy closes packages of an image only if its report shows that it searched them, with reports %s', async (order) => {
    const found = (Title: string) => ({ VulnerabilityID: `CVE-2026-${Title}`, PkgName: 'lib', Title, Severity: 'HIGH' });
    const system = (...Vulnerabilities: object[]) => ({ Target: 'shop (debian 12)', Class: 'os-pkgs', Type: 'debian', Vulnerabilities });
    const image = (...Results: object[]) => ({
      SchemaVersion: 2,
      ArtifactName: 'registry.example.com/shop:prod',
      ArtifactType: 'container_image',
      Metadata: { OS: { Family: 'debian', Name: '12' }, DiffIDs: ['sha256:a'] },
      Results,
    });
    const libraries = { Target: 'app/package-lock.json', Class: 'lang-pkgs', Type: 'npm', Vulnerabilities: [found('2000')] };
    const open = { 1000: 'open', 1001: 'open', 2000: 'open' };
    for (const [after, expected] of [
      [image(), open],
      [image(secret('S')), { ...open, S: 'open' }],
      [image({ ...libraries, Vulnerabilities: [] }), { ...open, 2000: 'verified' }],
      [image(system(found('1000'))), { ...open, 1001: 'verified', 2000: 'verified' }],
      [image(system()), { 1000: 'verified', 1001: 'verified', 2000: 'verified' }],
    ] as const) {
      const org = await engine.organization();
      const scans = [
        () => upload(org, 'trivy', image(system(found('1000'), found('1001')), libraries), { started_at: at(1) }),
        () => upload(org, 'trivy', after, { started_at: at(2) }),
      ];
      for (const scan of order === 'late' ? scans.toReversed() : scans) await scan();
      expect(await statuses(org)).toEqual(expected);
    }
  });

  it('Trivy opens secrets of a late report that a newer one does not show', async () => {
    const org = await engine.organization();
    await upload(org, 'trivy', trivy(), { started_at: at(2) });
    await upload(org, 'trivy', trivy(secret('S')), { started_at: at(1) });
    expect(await statuses(org)).toEqual({ S: 'open', V: 'open' });
  });

  it('Checkov closes secrets only if the report has others', async () => {
    const org = await engine.organization();
    const run = (check_type: string, ...ids: string[]) => ({
      check_type,
      results: {
        failed_checks: ids.map((check_id) => ({ check_id, check_name: check_id, file_path: '/a.tf', file_line_range: [1, 4], resource: check_id })),
        passed_checks: [{ check_id: 'Z', check_name: 'Z', file_path: '/a.tf', file_line_range: [1, 4], resource: 'z' }],
      },
    });
    await upload(org, 'checkov', [run('terraform', 'A'), run('dockerfile', 'B'), run('secrets', 'CKV_SECRET_2', 'CKV_SECRET_6')], { started_at: at(1) });
    await upload(org, 'checkov', [run('terraform', 'A'), run('dockerfile')], { started_at: at(2) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'verified', CKV_SECRET_2: 'open', CKV_SECRET_6: 'open' });
    await upload(org, 'checkov', [run('terraform', 'A'), run('dockerfile'), run('secrets', 'CKV_SECRET_6')], { started_at: at(3) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'verified', CKV_SECRET_2: 'verified', CKV_SECRET_6: 'open' });
  });

  it('Snyk closes no vulnerable packages with a scan of configurations', async () => {
    const org = await engine.organization();
    const report = (packageManager: string, vulnerabilities: object[]) => ({
      vulnerabilities,
      ok: true,
      packageManager,
      projectName: 'shop',
      dependencyCount: 3,
    });
    const found = { id: 'SNYK-JS-A', title: 'A', severity: 'high', packageName: 'a', name: 'a', version: '1.0.0', from: [] };
    await upload(org, 'snyk', report('npm', [found]), { started_at: at(1) });
    await upload(org, 'snyk', { ...report('terraformconfig', []), infrastructureAsCodeIssues: [] }, { started_at: at(2) });
    expect(await statuses(org)).toEqual({ A: 'open' });
    await upload(org, 'snyk', report('npm', []), { started_at: at(3) });
    expect(await statuses(org)).toEqual({ A: 'verified' });
  });
});

describe('Gitleaks', () => {
  const leak = (Description: string, Commit: string) => ({ Description, RuleID: Description, File: '.env', StartLine: 1, Fingerprint: Description, Commit });

  it('closes no secrets of the history with a scan of files', async () => {
    const org = await engine.organization();
    await upload(org, 'gitleaks', [leak('A', '4f1c'), leak('B', '4f1c')], { started_at: at(1) });
    await upload(org, 'gitleaks', [leak('C', ''), leak('D', '')], { started_at: at(2) });
    await upload(org, 'gitleaks', [leak('D', '')], { started_at: at(3) });
    expect(await statuses(org)).toEqual({ A: 'open', B: 'open', C: 'verified', D: 'open' });
    await upload(org, 'gitleaks', [leak('B', '4f1c')], { started_at: at(4) });
    expect(await statuses(org)).toMatchObject({ A: 'verified', B: 'open' });
  });
});

describe('OSV-Scanner', () => {
  const report = (allowlist: string[] | null, ...license_violations: string[]) => ({
    results: [
      { source: { path: 'go.mod', type: 'lockfile' }, packages: [{ package: { name: 'lib', version: '1.0.0', ecosystem: 'Go' }, license_violations }] },
    ],
    experimental_config: { licenses: { summary: false, allowlist } },
  });

  it('closes findings of licenses only if it compared them with a list', async () => {
    const org = await engine.organization();
    await upload(org, 'osv_scanner', report(['MIT'], 'GPL-3.0'), { started_at: at(1) });
    await upload(org, 'osv_scanner', report(null), { started_at: at(2) });
    expect(Object.values(await statuses(org))).toEqual(['open']);
    // The package is still there in the same version.
    await upload(org, 'osv_scanner', report(['MIT']), { started_at: at(3) });
    expect(Object.values(await statuses(org))).toEqual(['withdrawn']);
  });
});

describe('Semgrep', () => {
  const result = (path: string) => ({ check_id: 'A', path, start: { line: 1 }, end: { line: 1 }, extra: { message: path, severity: 'ERROR', metadata: {} } });
  const run = (scanned: string[], found: string[]) => ({ version: '1.90.0', results: found.map(result), errors: [], paths: { scanned } });

  it('closes nothing if it was started in another folder, where it finds the same again', async () => {
    const org = await engine.organization();
    await upload(org, 'semgrep', run(['src/a.py', 'src/b.py'], ['src/a.py', 'src/b.py']), { started_at: at(1) });
    await upload(org, 'semgrep', run(['app/src/a.py', 'app/src/b.py'], ['app/src/b.py']), { started_at: at(2) });
    expect(Object.values(await statuses(org))).toEqual(['open', 'open', 'open']);
  });

  it('is one source for a folder, however its name is spelled', async () => {
    const org = await engine.organization();
    await upload(org, 'semgrep', run(['a.py', 'b.py'], ['a.py']), { started_at: at(1), path: 'web' });
    await upload(org, 'semgrep', run(['a.py', 'b.py'], []), { started_at: at(2), path: './web/' });
    expect(Object.values(await statuses(org))).toEqual(['verified']);
  });
});

describe('rules of Semgrep', () => {
  const semgrep = (rules: string[] | undefined, ...found: string[]) => ({
    version: '1.90.0',
    errors: [],
    paths: { scanned: ['a.py', 'b.py'] },
    results: found.map((check_id) => ({ check_id, path: 'a.py', start: { line: 1 }, end: { line: 1 }, extra: { message: check_id, severity: 'ERROR' } })),
    ...(rules && { time: { rules } }),
  });

  it('another configuration closes nothing of the rules that it does not have', async () => {
    const org = await engine.organization();
    await upload(org, 'semgrep', semgrep(['one', 'two'], 'one', 'two'));
    await upload(org, 'semgrep', semgrep(['two', 'three']));
    expect(await statuses(org)).toEqual({ one: 'open', two: 'verified' });
  });
});

describe('a start that the scope states', () => {
  const report = (day: number, ...ids: string[]) => ({
    SchemaVersion: 2,
    CreatedAt: at(day),
    ArtifactName: shop.name,
    ArtifactType: 'repository',
    Metadata: { Commit: String(day).repeat(40) },
    Results: [
      {
        Target: 'package-lock.json',
        Class: 'lang-pkgs',
        Type: 'npm',
        Vulnerabilities: ids.map((id) => ({ VulnerabilityID: id, PkgName: id, Title: id, Severity: 'HIGH' })),
      },
    ],
  });

  it('makes a scan prove less, and hides nothing that the report shows', async () => {
    const org = await engine.organization();
    await upload(org, 'trivy', report(3, 'CVE-2026-0001', 'CVE-2026-0002'));
    await upload(org, 'trivy', report(4, 'CVE-2026-0002', 'CVE-2026-0003'), { started_at: at(2) });
    expect(await statuses(org)).toEqual({ 'CVE-2026-0001': 'open', 'CVE-2026-0002': 'open', 'CVE-2026-0003': 'open' });
  });
});
