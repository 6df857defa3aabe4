import { jsonReport, type Knows, type LabelledReport, repositoryScope, type Telling } from './report.ts';
import { imageLabel, libraryLabel, lockFiles, purlOf, pythonName, syftPurl, trivyPurl, withEpoch } from './spelling.ts';
import type { Ecosystem, Image, Library, Repository, SystemPackage } from './world.ts';

interface TrivyResult {
  Target: string;
  Class: string;
  Type: string;
  Vulnerabilities: unknown[];
  Packages?: unknown[];
}

const trivyTypes: Readonly<Record<Ecosystem, { inImage: string; target?: string; inFiles: string }>> = {
  npm: { inImage: 'node-pkg', target: 'Node.js', inFiles: 'npm' },
  pypi: { inImage: 'python-pkg', target: 'Python', inFiles: 'pip' },
  maven: { inImage: 'jar', target: 'Java', inFiles: 'pom' },
  golang: { inImage: 'gobinary', inFiles: 'gomod' },
  gem: { inImage: 'gemspec', target: 'Ruby', inFiles: 'bundler' },
  nuget: { inImage: 'nuget', inFiles: 'nuget' },
  composer: { inImage: 'composer', inFiles: 'composer' },
  cargo: { inImage: 'rustbinary', inFiles: 'cargo' },
};

function trivyLibraries(libraries: readonly Library[], { labels, knows }: Telling, { asset, inImage }: { asset: string; inImage: boolean }): TrivyResult[] {
  const byEcosystem = Map.groupBy(libraries, ({ ecosystem }) => ecosystem);
  return [...byEcosystem].map(([ecosystem, own]) => ({
    Target: inImage ? (trivyTypes[ecosystem].target ?? `app/${ecosystem}`) : lockFiles[ecosystem],
    Class: 'lang-pkgs',
    Type: inImage ? trivyTypes[ecosystem].inImage : trivyTypes[ecosystem].inFiles,
    Vulnerabilities: own.flatMap((library) =>
      library.vulnerabilities
        .filter((one) => knows(one, library.name))
        .flatMap((one) =>
          (inImage ? library.paths : [undefined]).map((path) => ({
            VulnerabilityID: one.cve,
            PkgID: `${library.name}@${library.version}`,
            PkgName: library.name,
            ...(path === undefined ? {} : { PkgPath: path }),
            PkgIdentifier: { PURL: purlOf(library) },
            InstalledVersion: ecosystem === 'golang' ? `v${library.version}` : library.version,
            Status: 'affected',
            Title: `${library.name}: ${one.title}`,
            Severity: one.severity.toUpperCase(),
            CweIDs: [`CWE-${one.cwe}`],
            References: [labels.url(libraryLabel(asset, one.cve, library))],
          })),
        ),
    ),
  }));
}

/** With `--list-all-pkgs` the report names the source of each package, without it does not. */
export function trivyImage(image: Image, telling: Telling): LabelledReport {
  const { labels, knows, listsPackages, at } = telling;
  const { name, tag, digest, distribution, packages, libraries } = image;
  const system: TrivyResult = {
    Target: `${name}:${tag} (${distribution.name} ${distribution.release})`,
    Class: 'os-pkgs',
    Type: distribution.name,
    ...(listsPackages && {
      Packages: packages.flatMap((one) =>
        one.binaries.map((binary) => ({
          ID: `${binary}@${withEpoch(one)}`,
          Name: binary,
          Version: one.version,
          ...(one.epoch && { Epoch: one.epoch }),
          SrcName: one.source,
          SrcVersion: one.version,
          Identifier: { PURL: trivyPurl(binary, one, distribution) },
        })),
      ),
    }),
    Vulnerabilities: eachBinary(packages, knows).map(({ one, binary, vulnerability }) => ({
      VulnerabilityID: vulnerability.cve,
      PkgID: `${binary}@${withEpoch(one)}`,
      PkgName: binary,
      PkgIdentifier: { PURL: trivyPurl(binary, one, distribution) },
      InstalledVersion: withEpoch(one),
      Status: 'affected',
      SeveritySource: distribution.name,
      Title: `${one.source}: ${vulnerability.title}`,
      Severity: vulnerability.severity.toUpperCase(),
      References: [labels.url(imageLabel(name, vulnerability.cve, one.source))],
    })),
  };
  return jsonReport('trivy', 'trivy', {
    SchemaVersion: 2,
    CreatedAt: at,
    ArtifactName: `${name}:${tag}`,
    ArtifactType: 'container_image',
    Metadata: { RepoTags: [`${name}:${tag}`], RepoDigests: [`${name}@${digest}`] },
    Results: [system, ...trivyLibraries(libraries, telling, { asset: `image ${name}`, inImage: true })],
  });
}

export function eachBinary(packages: readonly SystemPackage[], knows: Knows) {
  return packages.flatMap((one) =>
    one.vulnerabilities
      .filter((vulnerability) => knows(vulnerability, one.source))
      .flatMap((vulnerability) => one.binaries.map((binary) => ({ one, binary, vulnerability }))),
  );
}

export function trivyRepository({ name, libraries }: Repository, telling: Telling): LabelledReport {
  const content = {
    SchemaVersion: 2,
    CreatedAt: telling.at,
    ArtifactName: '.',
    ArtifactType: 'filesystem',
    Results: trivyLibraries(libraries, telling, { asset: `repository ${name}`, inImage: false }),
  };
  return jsonReport('trivy', 'trivy', content, repositoryScope(name, telling.spelling));
}

const syftTypes: Readonly<Record<Ecosystem, string>> = {
  npm: 'npm',
  pypi: 'python',
  maven: 'java-archive',
  golang: 'go-module',
  gem: 'gem',
  nuget: 'dotnet',
  composer: 'php-composer',
  cargo: 'rust-crate',
};

function grypeLibrary(library: Library, { labels, knows }: Telling, asset: string): unknown[] {
  const { ecosystem, name, version, paths } = library;
  return library.vulnerabilities
    .filter((one) => knows(one, name))
    .map((one) => ({
      vulnerability: {
        id: one.ghsa ?? one.cve,
        dataSource: `https://github.com/advisories/${one.ghsa}`,
        namespace: `github:language:${ecosystem}`,
        severity: capitalized(one.severity),
        urls: [labels.url(libraryLabel(asset, one.cve, library))],
        description: one.title,
        cvss: [],
        fix: { versions: [], state: 'unknown' },
      },
      relatedVulnerabilities: one.ghsa ? [{ id: one.cve, namespace: 'nvd:cpe', severity: capitalized(one.severity), urls: [], cvss: [] }] : [],
      matchDetails: [],
      artifact: {
        name: ecosystem === 'maven' ? name.split(':')[1] : name,
        version: ecosystem === 'golang' ? `v${version}` : version,
        type: syftTypes[ecosystem],
        locations: paths.map((path) => ({ path: `/${path}` })),
        // Older releases of Syft keep the spelling of the package's own metadata.
        purl: ecosystem === 'pypi' && version.endsWith('1') ? `pkg:pypi/${name}@${version}` : purlOf(library),
        upstreams: [],
      },
    }));
}

const descriptorOf = ({ at }: Telling) => ({ name: 'grype', version: '0.90.0', timestamp: at, db: { built: at } });

export function grypeImage(image: Image, telling: Telling): LabelledReport {
  const { labels, knows } = telling;
  const { name, tag, digest, distribution, packages, libraries } = image;
  const matches = eachBinary(packages, knows).map(({ one, binary, vulnerability }) => ({
    vulnerability: {
      id: vulnerability.cve,
      namespace: `${distribution.name}:distro:${distribution.name}:${distribution.release}`,
      severity: capitalized(vulnerability.severity),
      urls: [labels.url(imageLabel(name, vulnerability.cve, one.source))],
      fix: { versions: [], state: 'not-fixed' },
    },
    relatedVulnerabilities: [],
    matchDetails: [],
    artifact: {
      name: binary,
      version: withEpoch(one),
      type: distribution.type,
      locations: [{ path: '/var/lib/dpkg/status' }],
      purl: syftPurl(binary, one, distribution),
      upstreams: binary === one.source ? [] : [{ name: one.source }],
    },
  }));
  return jsonReport('grype', 'grype', {
    matches: [...matches, ...libraries.flatMap((library) => grypeLibrary(library, telling, `image ${name}`))],
    source: { type: 'image', target: { userInput: `${name}:${tag}`, manifestDigest: digest, tags: [`${name}:${tag}`], repoDigests: [`${name}@${digest}`] } },
    distro: { name: distribution.name, version: distribution.release },
    descriptor: descriptorOf(telling),
  });
}

export function grypeRepository({ name, libraries }: Repository, telling: Telling): LabelledReport {
  const { spelling } = telling;
  const matches = libraries.flatMap((library) => grypeLibrary(library, telling, `repository ${name}`));
  return jsonReport(
    'grype',
    'grype',
    { matches, source: { type: 'directory', target: '.' }, descriptor: descriptorOf(telling) },
    repositoryScope(name, spelling),
  );
}

/** As Trivy writes it with `--format cyclonedx`: a package URL per component, and only the CVE. */
export function cyclonedxRepository({ name, libraries }: Repository, { labels, knows, spelling }: Telling): LabelledReport {
  const components = libraries.map((library) => ({
    ...nameInBom(library),
    type: 'library',
    'bom-ref': purlOf(library),
    version: library.version,
    purl: purlOf(library),
  }));
  const vulnerabilities = libraries.flatMap((library) =>
    library.vulnerabilities
      .filter((one) => knows(one, library.name))
      .map((one) => ({
        id: one.cve,
        source: { name: 'nvd' },
        ratings: [{ severity: one.severity, method: 'other' }],
        description: one.title,
        advisories: [{ url: labels.url(libraryLabel(`repository ${name}`, one.cve, library)) }],
        affects: [{ ref: purlOf(library), versions: [{ version: library.version, status: 'affected' }] }],
      })),
  );
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { timestamp: '2026-03-02T06:00:00Z', tools: { components: [{ type: 'application', name: 'cdxgen', version: '11.0.0' }] } },
    components,
    vulnerabilities,
  };
  return jsonReport('cyclonedx', 'cyclonedx', content, repositoryScope(name, spelling));
}

function nameInBom({ ecosystem, name }: Library): { group?: string; name: string } {
  if (ecosystem === 'maven') return { group: name.split(':')[0] ?? '', name: name.split(':')[1] ?? '' };
  return { name: ecosystem === 'pypi' ? pythonName(name) : name };
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
