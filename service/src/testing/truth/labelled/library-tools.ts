import { capitalized, eachBinary } from './anchore-aqua.ts';
import { jsonReport, type Knows, type LabelledReport, type Labels, repositoryScope, type Telling } from './report.ts';
import { imageLabel, libraryLabel, lockFiles, pythonName, withEpoch } from './spelling.ts';
import type { Ecosystem, Image, Library, Repository, Vulnerability } from './world.ts';

const known = (library: Library, knows: Knows): Vulnerability[] => library.vulnerabilities.filter((one) => knows(one, library.name));

const osvEcosystems: Readonly<Record<Ecosystem, string>> = {
  npm: 'npm',
  pypi: 'PyPI',
  maven: 'Maven',
  golang: 'Go',
  gem: 'RubyGems',
  nuget: 'NuGet',
  composer: 'Packagist',
  cargo: 'crates.io',
};

/** Each database that knows the vulnerability has its own record. One group joins them. */
function osvPackage(library: Library, { labels, knows }: Telling, asset: string): unknown {
  const { ecosystem, name, version } = library;
  const vulnerabilities = known(library, knows).map((one) => {
    const ids = [one.ghsa ?? one.cve, ...(one.own ? [one.own] : [])];
    const all = [...new Set([one.cve, ...ids])];
    const record = (id: string) => ({
      id,
      modified: '2026-01-01T00:00:00Z',
      aliases: all.filter((other) => other !== id),
      summary: one.title,
      references: [{ type: 'WEB', url: labels.url(libraryLabel(asset, one.cve, library)) }],
      database_specific: { severity: one.severity.toUpperCase() },
    });
    return { records: ids.map(record), group: { ids, aliases: all } };
  });
  return {
    package: { name: ecosystem === 'pypi' ? pythonName(name) : name, version, ecosystem: osvEcosystems[ecosystem] },
    vulnerabilities: vulnerabilities.flatMap(({ records }) => records),
    groups: vulnerabilities.map(({ group }) => group),
  };
}

export function osvRepository({ name, libraries }: Repository, telling: Telling): LabelledReport {
  const { spelling } = telling;
  const results = [...Map.groupBy(libraries, ({ ecosystem }) => ecosystem)].map(([ecosystem, own]) => ({
    source: { path: `/src/${lockFiles[ecosystem]}`, type: 'lockfile' },
    packages: own.map((library) => osvPackage(library, telling, `repository ${name}`)),
  }));
  return jsonReport('osv-scanner', 'osv_scanner', { results }, repositoryScope(name, spelling));
}

const osvDistributions: Readonly<Record<string, (release: string) => { ecosystem: string; prefix: string }>> = {
  debian: (release) => ({ ecosystem: `Debian:${release}`, prefix: 'DEBIAN-' }),
  ubuntu: (release) => ({ ecosystem: `Ubuntu:${release}:LTS`, prefix: 'UBUNTU-' }),
  alpine: (release) => ({ ecosystem: `Alpine:v${release.split('.').slice(0, 2).join('.')}`, prefix: 'ALPINE-' }),
};

/** It names source packages, and the distribution's own ids of vulnerabilities. Null: it has no records of the distribution that name single CVEs. */
export function osvImage(image: Image, { labels, knows }: Telling): LabelledReport | null {
  const { name, tag, distribution, packages } = image;
  const database = osvDistributions[distribution.name]?.(distribution.release);
  if (!database) return null;
  const found = packages.map((one) => {
    const seen = one.vulnerabilities.filter((vulnerability) => knows(vulnerability, one.source));
    return {
      package: { name: one.source, version: withEpoch(one), ecosystem: database.ecosystem },
      vulnerabilities: seen.map(({ cve, title }) => ({
        id: `${database.prefix}${cve}`,
        upstream: [cve],
        modified: '2026-01-01T00:00:00Z',
        details: title,
        references: [{ type: 'WEB', url: labels.url(imageLabel(name, cve, one.source)) }],
      })),
      groups: seen.map(({ cve }) => ({ ids: [`${database.prefix}${cve}`], aliases: [cve, `${database.prefix}${cve}`] })),
    };
  });
  const scope = { asset: { type: 'container_image' as const, name: `${name}:${tag}` } };
  return jsonReport('osv-scanner', 'osv_scanner', { results: [{ source: { path: '/var/lib/dpkg/status', type: 'os' }, packages: found }] }, scope);
}

const snykManagers: Readonly<Record<Ecosystem, string>> = {
  npm: 'npm',
  pypi: 'pip',
  maven: 'maven',
  golang: 'gomodules',
  gem: 'rubygems',
  nuget: 'nuget',
  composer: 'composer',
  cargo: 'cargo',
};

function snykVulnerability(one: Vulnerability, packageManager: string): Record<string, unknown> {
  return {
    title: one.title,
    severity: one.severity,
    identifiers: { CVE: [one.cve], CWE: [`CWE-${one.cwe}`], ...(one.ghsa ? { GHSA: [one.ghsa] } : {}) },
    packageManager,
    fixedIn: [],
  };
}

export function snykRepository({ name, libraries }: Repository, { labels, knows, spelling }: Telling): LabelledReport {
  const projects = [...Map.groupBy(libraries, ({ ecosystem }) => ecosystem)].map(([ecosystem, own]) => ({
    vulnerabilities: own.flatMap((library) => {
      const spelled = ecosystem === 'pypi' ? library.name.toLowerCase() : library.name;
      const about = {
        name: spelled,
        packageName: spelled,
        moduleName: spelled.toLowerCase(),
        version: library.version,
        from: ['shop@1.0.0', `${spelled}@${library.version}`],
      };
      const single = known(library, knows).map((one) => ({
        ...snykVulnerability(one, snykManagers[ecosystem]),
        ...about,
        id: `SNYK-${ecosystem.toUpperCase()}-${library.name.toUpperCase().replace(/[^A-Z]/g, '')}-${one.snyk}`,
        references: [{ title: 'Advisory', url: labels.url(libraryLabel(`repository ${name}`, one.cve, library)) }],
      }));
      return [...single, ...snykOfTwo(library, about, labels, `repository ${name}`)];
    }),
    ok: false,
    packageManager: snykManagers[ecosystem],
    projectName: 'shop',
    displayTargetFile: lockFiles[ecosystem],
  }));
  return jsonReport('snyk', 'snyk', projects, repositoryScope(name, spelling));
}

/** One advisory about two CVEs is neither of them. */
function snykOfTwo(library: Library, about: object, labels: Labels, asset: string): unknown[] {
  const [first, second] = library.vulnerabilities;
  if (!first || !second) return [];
  const id = `SNYK-${library.ecosystem.toUpperCase()}-TWO-${first.snyk}`;
  return [
    {
      ...snykVulnerability(first, snykManagers[library.ecosystem]),
      ...about,
      id,
      identifiers: { CVE: [first.cve, second.cve], CWE: [] },
      references: [{ title: 'Advisory', url: labels.url(libraryLabel(asset, id, library)) }],
    },
  ];
}

const snykDistributions = { debian: 'debian', ubuntu: 'ubuntu', alpine: 'alpine', redhat: 'rhel' } as const;

export function snykImage(image: Image, { labels, knows }: Telling): LabelledReport {
  const { name, tag, distribution, packages } = image;
  const manager = `${snykDistributions[distribution.name]}:${distribution.release.split('.').slice(0, 2).join('.')}`;
  const vulnerabilities = eachBinary(packages, knows).map(({ one, binary, vulnerability }) => {
    // RPM packages are named by their binary alone.
    const source = distribution.type === 'rpm' ? binary : one.source;
    const spelled = source === binary ? binary : `${source}/${binary}`;
    return {
      ...snykVulnerability(vulnerability, manager),
      id: `SNYK-${manager.toUpperCase().replace(/\W/g, '')}-${source.toUpperCase().replace(/\W/g, '')}-${vulnerability.snyk}`,
      name: spelled,
      packageName: source,
      version: withEpoch(one),
      from: [`docker-image|${name}@${tag}`, `${spelled}@${withEpoch(one)}`],
      references: [{ title: 'Tracker', url: labels.url(imageLabel(name, vulnerability.cve, one.source)) }],
    };
  });
  return jsonReport('snyk', 'snyk', {
    vulnerabilities,
    ok: false,
    packageManager: distribution.type,
    docker: { baseImage: `${distribution.name}:${distribution.release}` },
    projectName: `docker-image|${name}`,
    platform: 'linux/amd64',
    path: `${name}:${tag}/${name.split('/').at(-1)}`,
  });
}

/** It knows only the advisory of GitHub, and no version. */
export function npmAudit({ name, libraries }: Repository, { labels, knows, spelling }: Telling): LabelledReport {
  const own = libraries
    .filter(({ ecosystem }) => ecosystem === 'npm')
    .map((library) => ({ library, advisories: known(library, knows).filter(({ ghsa }) => ghsa !== null) }))
    .filter(({ advisories }) => advisories.length > 0);
  const vulnerabilities = own.map(({ library, advisories }) => [
    library.name,
    {
      name: library.name,
      severity: 'high',
      isDirect: true,
      via: advisories.map((one) => ({
        source: one.snyk,
        name: library.name,
        dependency: library.name,
        title: `${one.title} ${labels.url(libraryLabel(`repository ${name}`, one.cve, library))}`,
        url: `https://github.com/advisories/${one.ghsa}`,
        severity: one.severity === 'medium' ? 'moderate' : one.severity,
        cwe: [`CWE-${one.cwe}`],
        range: '<99',
      })),
      effects: [],
      range: '<99',
      nodes: [`node_modules/${library.name}`],
      fixAvailable: true,
    },
  ]);
  return jsonReport(
    'npm audit',
    'npm_audit',
    { auditReportVersion: 2, vulnerabilities: Object.fromEntries(vulnerabilities), metadata: {} },
    repositoryScope(name, spelling),
  );
}

export function gitlabDependencies({ name, libraries }: Repository, { labels, knows, spelling }: Telling): LabelledReport {
  const vulnerabilities = libraries.flatMap((library) =>
    known(library, knows).map((one) => ({
      id: `${one.snyk}${library.name}`,
      name: one.title,
      description: one.title,
      severity: capitalized(one.severity),
      location: {
        file: lockFiles[library.ecosystem],
        dependency: {
          // Gemnasium writes the coordinates of Maven with a slash.
          package: { name: library.ecosystem === 'maven' ? library.name.replace(':', '/') : library.name },
          version: library.ecosystem === 'golang' ? `v${library.version}` : library.version,
        },
      },
      identifiers: [
        { type: 'gemnasium', name: `Gemnasium-${one.snyk}`, value: String(one.snyk) },
        { type: 'cve', name: one.cve, value: one.cve },
        ...(one.ghsa ? [{ type: 'ghsa', name: one.ghsa, value: one.ghsa }] : []),
      ],
      links: [{ url: labels.url(libraryLabel(`repository ${name}`, one.cve, library)) }],
    })),
  );
  const scan = { scanner: { id: 'gemnasium', name: 'Gemnasium' }, type: 'dependency_scanning', status: 'success', end_time: '2026-03-02T07:00:00' };
  return jsonReport('gitlab', 'gitlab', { version: '15.0.7', vulnerabilities, scan }, repositoryScope(name, spelling));
}

/** GitLab runs Trivy, so packages are named by their binary. */
export function gitlabContainer(image: Image, { labels, knows }: Telling): LabelledReport {
  const { name, tag, distribution, packages } = image;
  const vulnerabilities = eachBinary(packages, knows).map(({ one, binary, vulnerability }) => ({
    id: `${vulnerability.snyk}${binary}`,
    name: vulnerability.cve,
    description: vulnerability.title,
    severity: capitalized(vulnerability.severity),
    location: {
      dependency: { package: { name: binary }, version: withEpoch(one) },
      operating_system: `${distribution.name} ${distribution.release}`,
      image: `${name}:${tag}`,
    },
    identifiers: [{ type: 'cve', name: vulnerability.cve, value: vulnerability.cve }],
    links: [{ url: labels.url(imageLabel(name, vulnerability.cve, one.source)) }],
  }));
  const scan = { scanner: { id: 'trivy', name: 'Trivy' }, type: 'container_scanning', status: 'success', end_time: '2026-03-02T07:00:00' };
  return jsonReport('gitlab', 'gitlab', { version: '15.0.7', vulnerabilities, scan });
}

const dependabotEcosystems: Readonly<Record<Ecosystem, string>> = {
  npm: 'npm',
  pypi: 'pip',
  maven: 'maven',
  golang: 'go',
  gem: 'rubygems',
  nuget: 'nuget',
  composer: 'composer',
  cargo: 'rust',
};

export function dependabot({ name, libraries }: Repository, { labels, knows }: Telling): LabelledReport {
  const alerts = libraries.flatMap((library) =>
    known(library, knows)
      .filter(({ ghsa }) => ghsa !== null)
      .map((one) => ({ one, library })),
  );
  const content = alerts.map(({ one, library: { ecosystem, ...library } }, n) => {
    const named = { ecosystem: dependabotEcosystems[ecosystem], name: library.name };
    return {
      number: n + 1,
      state: 'open',
      dependency: { package: named, manifest_path: lockFiles[ecosystem], scope: 'runtime' },
      security_advisory: {
        ghsa_id: one.ghsa,
        cve_id: one.cve,
        summary: one.title,
        severity: one.severity,
        references: [{ url: labels.url(libraryLabel(`repository ${name}`, one.cve, { ecosystem, ...library })) }],
      },
      security_vulnerability: { package: named, severity: one.severity, first_patched_version: null },
      repository: { id: 1, full_name: name.split('/').slice(1).join('/'), html_url: `https://${name}` },
    };
  });
  return jsonReport('dependabot', 'github', content);
}
