import { branchOf, capital, componentOf, cve, damage, hex, records, type Scan, severityOf, type Tool, type Trial, timeOf, versionOf } from './scan.ts';

/** Tools that look for vulnerable packages in images and repositories. */

const imageName = ({ asset }: Trial, { asset: other, tag = 'prod' }: Scan): string => `registry.example.com/${other ?? asset}:${tag}`;
const repositoryName = ({ asset }: Trial, { asset: other }: Scan): string => `https://git.example.com/${other ?? asset}`;
const buildOf = ({ build, day }: Scan): number => build ?? day;

const trivyVulnerability = (trial: Trial, scan: Scan) => (n: number) => ({
  VulnerabilityID: cve(trial, n),
  PkgName: componentOf(scan, n),
  InstalledVersion: versionOf(scan, n),
  ...(scan.path ? { PkgPath: scan.path(n) } : {}),
  ...(scan.unfixed?.(n) ? { Status: 'affected' } : { FixedVersion: '9.0', Status: 'fixed' }),
  Severity: severityOf(scan, n).toUpperCase(),
});

export const trivyImage: Tool = {
  format: 'trivy',
  kind: 'image',
  hasTime: true,
  hasAsset: true,
  idOf: cve,
  write: (trial, scan) =>
    JSON.stringify({
      SchemaVersion: 2,
      CreatedAt: timeOf(scan).toISOString(),
      ArtifactName: imageName(trial, scan),
      ArtifactType: 'container_image',
      Metadata: {
        ...(scan.platform ? {} : { RepoDigests: [`registry.example.com/${trial.asset}@sha256:${hex(buildOf(scan))}`] }),
        ImageID: `sha256:${hex(buildOf(scan) + (scan.platform === 'arm64' ? 7 : 0))}`,
        ...(scan.platform ? { ImageConfig: { architecture: scan.platform, os: 'linux' } } : {}),
      },
      Results: [
        {
          Target: imageName(trial, scan),
          Class: 'os-pkgs',
          Type: 'debian',
          Vulnerabilities: [...records(scan, trivyVulnerability(trial, scan)), ...damage(scan)],
          ...(scan.suppressed
            ? {
                ExperimentalModifiedFindings: scan.suppressed.map((n) => ({
                  Type: 'vulnerability',
                  Status: 'ignored',
                  Statement: 'later',
                  Source: '.trivyignore',
                  Finding: trivyVulnerability(trial, scan)(n),
                })),
              }
            : {}),
        },
      ],
    }),
};

export const trivyRepository: Tool = {
  format: 'trivy',
  kind: 'repository',
  hasTime: true,
  hasAsset: true,
  idOf: cve,
  write: (trial, scan) =>
    JSON.stringify({
      SchemaVersion: 2,
      CreatedAt: timeOf(scan).toISOString(),
      ArtifactName: repositoryName(trial, scan),
      ArtifactType: 'repository',
      Metadata: {
        RepoURL: repositoryName(trial, scan),
        ...(branchOf(scan) === null ? {} : { Branch: branchOf(scan) }),
        Commit: scan.commit ?? hex(scan.day, 40),
      },
      Results: [
        { Target: 'package-lock.json', Class: 'lang-pkgs', Type: 'npm', Vulnerabilities: [...records(scan, trivyVulnerability(trial, scan)), ...damage(scan)] },
      ],
    }),
};

export const grype: Tool = {
  format: 'grype',
  kind: 'image',
  hasTime: true,
  hasAsset: true,
  idOf: cve,
  write: (trial, scan) => {
    const match = (n: number) => ({
      vulnerability: {
        id: cve(trial, n),
        severity: capital(severityOf(scan, n)),
        fix: scan.unfixed?.(n) ? { versions: [], state: 'not-fixed' } : { versions: ['9.0'], state: 'fixed' },
      },
      artifact: {
        name: componentOf(scan, n),
        version: versionOf(scan, n),
        type: 'deb',
        purl: `pkg:deb/debian/${componentOf(scan, n)}@${versionOf(scan, n)}`,
        ...(scan.path ? { locations: [{ path: scan.path(n) }] } : {}),
      },
    });
    const build = buildOf(scan) + (scan.platform === 'arm64' ? 7 : 0);
    return JSON.stringify({
      matches: [...records(scan, match), ...damage(scan)],
      ...(scan.suppressed
        ? { ignoredMatches: scan.suppressed.map((n) => ({ ...match(n), appliedIgnoreRules: [{ vulnerability: cve(trial, n), reason: 'later' }] })) }
        : {}),
      source: {
        type: 'image',
        target: {
          userInput: imageName(trial, scan),
          manifestDigest: `sha256:${hex(build)}`,
          ...(scan.platform ? { architecture: scan.platform, os: 'linux' } : {}),
        },
      },
      descriptor: {
        name: 'grype',
        version: '0.90.0',
        timestamp: timeOf(scan).toISOString(),
        db: { built: timeOf({ day: scan.knowledge ?? scan.day, hour: -6 }).toISOString() },
      },
    });
  },
};

export const snyk: Tool = {
  format: 'snyk',
  kind: 'repository',
  hasTime: false,
  hasAsset: false,
  idOf: cve,
  write: (trial, scan) =>
    JSON.stringify({
      vulnerabilities: [
        ...records(scan, (n) => ({
          id: `SNYK-JS-${componentOf(scan, n).toUpperCase()}-${trial.n}${n}`,
          title: 'Prototype pollution',
          severity: severityOf(scan, n),
          identifiers: { CVE: [cve(trial, n)], CWE: [] },
          packageName: componentOf(scan, n),
          name: componentOf(scan, n),
          version: versionOf(scan, n),
          ...(scan.unfixed?.(n) ? {} : { fixedIn: ['9.0'] }),
          from: ['shop@1.0.0', `${componentOf(scan, n)}@${versionOf(scan, n)}`],
        })),
        ...damage(scan),
      ],
      ok: scan.found.length === 0,
      dependencyCount: 20,
      packageManager: 'npm',
      ...(scan.failed ? { error: 'Missing node_modules folder' } : {}),
      projectName: scan.asset ?? trial.asset,
      displayTargetFile: 'package-lock.json',
      path: '/builds/shop',
    }),
};

const ghsa = ({ n }: Trial, k: number): string => {
  const letters = '23456789cfghjmpqrvwx';
  const word = (value: number): string => Array.from({ length: 4 }, (_, at) => letters[Math.floor(value / 20 ** at) % 20]).join('');
  return `GHSA-${word(n * 40 + k)}-${word(7 + n)}-${word(11 + k)}`;
};

export const npmAudit: Tool = {
  format: 'npm_audit',
  kind: 'repository',
  hasTime: false,
  hasAsset: false,
  idOf: ghsa,
  write: (trial, scan) =>
    JSON.stringify({
      auditReportVersion: 2,
      vulnerabilities: Object.fromEntries(
        scan.found.map((n) => [
          componentOf(scan, n),
          {
            name: componentOf(scan, n),
            severity: severityOf(scan, n) === 'medium' ? 'moderate' : severityOf(scan, n),
            isDirect: true,
            via: [
              {
                source: 1_000_000 + trial.n * 40 + n,
                name: componentOf(scan, n),
                dependency: componentOf(scan, n),
                title: 'Prototype pollution',
                url: `https://github.com/advisories/${ghsa(trial, n)}`,
                severity: severityOf(scan, n) === 'medium' ? 'moderate' : severityOf(scan, n),
                range: '<9.0.0',
              },
            ],
            effects: [],
            range: '<9.0.0',
            nodes: [`node_modules/${componentOf(scan, n)}`],
            fixAvailable: true,
          },
        ]),
      ),
      metadata: { vulnerabilities: { total: scan.found.length }, dependencies: { total: 20 } },
    }),
};

export const osvScanner: Tool = {
  format: 'osv_scanner',
  kind: 'repository',
  hasTime: false,
  hasAsset: false,
  idOf: cve,
  write: (trial, scan) =>
    JSON.stringify({
      results: [
        {
          source: { path: '/src/package-lock.json', type: 'lockfile' },
          packages: [
            ...records(scan, (n) => ({
              package: { name: componentOf(scan, n), version: versionOf(scan, n), ecosystem: 'npm' },
              vulnerabilities: [
                { id: ghsa(trial, n), aliases: [cve(trial, n)], summary: 'Bad', database_specific: { severity: severityOf(scan, n).toUpperCase() } },
              ],
              groups: [{ ids: [ghsa(trial, n)], aliases: [cve(trial, n), ghsa(trial, n)] }],
            })),
            ...(scan.damaged ? [{ package: { name: 'x', version: '1', ecosystem: 'npm' }, vulnerabilities: [{}], groups: [] }] : []),
          ],
        },
      ],
    }),
};

export const dependencyCheck: Tool = {
  format: 'dependency_check',
  kind: 'repository',
  hasTime: true,
  hasAsset: false,
  idOf: cve,
  write: (trial, scan) =>
    JSON.stringify({
      reportSchema: '1.1',
      scanInfo: {
        engineVersion: '12.1.0',
        dataSource: [{ name: 'NVD API Last Checked', timestamp: timeOf({ day: scan.knowledge ?? scan.day, hour: -6 }).toISOString() }],
      },
      projectInfo: { name: trial.asset, reportDate: timeOf(scan).toISOString() },
      dependencies: records(scan, (n) => ({
        isVirtual: false,
        fileName: `${componentOf(scan, n)}-${versionOf(scan, n)}.jar`,
        filePath: scan.path?.(n) ?? `/builds/lib/${componentOf(scan, n)}-${versionOf(scan, n)}.jar`,
        packages: [{ id: `pkg:maven/com.example/${componentOf(scan, n)}@${versionOf(scan, n)}`, confidence: 'HIGH' }],
        vulnerabilities: [{ source: 'NVD', name: cve(trial, n), severity: severityOf(scan, n).toUpperCase(), description: 'Bad' }],
      })),
    }),
};

export const cyclonedx: Tool = {
  format: 'cyclonedx',
  kind: 'image',
  hasTime: true,
  hasAsset: true,
  idOf: cve,
  write: (trial, scan) => {
    const ref = (n: number) => `pkg:deb/debian/${componentOf(scan, n)}@${versionOf(scan, n)}`;
    return JSON.stringify({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: {
        timestamp: timeOf(scan).toISOString(),
        tools: { components: [{ type: 'application', name: 'trivy', version: '0.60.0' }] },
        component: { type: 'container', name: `registry.example.com/${scan.asset ?? trial.asset}`, version: scan.tag ?? 'prod', 'bom-ref': 'image' },
      },
      components: scan.found.map((n) => ({ type: 'library', 'bom-ref': ref(n), name: componentOf(scan, n), version: versionOf(scan, n), purl: ref(n) })),
      vulnerabilities: records(scan, (n) => ({ id: cve(trial, n), ratings: [{ severity: severityOf(scan, n) }], affects: [{ ref: ref(n) }] })),
    });
  },
};
