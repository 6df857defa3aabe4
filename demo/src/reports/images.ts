import { createHash } from 'node:crypto';
import type { Package } from '../company/catalogue.ts';
import { type Image, type Installed, knownVulnerabilities } from '../company/world.ts';

export interface ImageScan {
  image: Image;
  tag: string;
  /** The week of the history whose state the image has. */
  week: number;
  at: Date;
}

const DISTRO = 'debian 12.9';
const digestOf = ({ image, tag }: ImageScan): string => `sha256:${createHash('sha256').update(`${image.repository}:${tag}`).digest('hex')}`;
const versionOf = ({ package: { version, fixed }, upgraded }: Installed, week: number): string => (week >= upgraded ? fixed : version);
const purlTypes = { npm: 'npm', pypi: 'pypi', maven: 'maven', golang: 'golang', deb: 'deb' } as const;
const fileTypes = { npm: 'node-pkg', pypi: 'python-pkg', maven: 'jar', golang: 'gobinary', deb: 'debian' } as const;

function purl({ ecosystem, name }: Package, version: string): string {
  const path = ecosystem === 'deb' ? `debian/${name}` : name.replace(':', '/');
  return `pkg:${purlTypes[ecosystem]}/${path}@${encodeURIComponent(version)}${ecosystem === 'deb' ? '?arch=amd64&distro=debian-12.9' : ''}`;
}

/** The output of `trivy image --format json --list-all-pkgs`. */
export function trivyReport(scan: ImageScan): string {
  const { image, tag, week, at } = scan;
  const name = `${image.repository}:${tag}`;
  const result = (target: string, deb: boolean) => {
    const packages = image.packages.filter((one) => (one.package.ecosystem === 'deb') === deb);
    return {
      Target: target,
      Class: deb ? 'os-pkgs' : 'lang-pkgs',
      Type: fileTypes[packages[0]?.package.ecosystem ?? 'deb'],
      Packages: packages.map((one) => ({
        Name: one.package.name,
        Version: versionOf(one, week),
        ...(deb ? { SrcName: one.package.name, SrcVersion: versionOf(one, week) } : {}),
        Identifier: { PURL: purl(one.package, versionOf(one, week)) },
      })),
      Vulnerabilities: packages.flatMap((one) =>
        knownVulnerabilities(one, week).map(({ cve, title, severity, vector, cwe }) => ({
          VulnerabilityID: cve,
          PkgName: one.package.name,
          PkgIdentifier: { PURL: purl(one.package, one.package.version) },
          InstalledVersion: one.package.version,
          FixedVersion: one.package.fixed,
          Status: 'fixed',
          Severity: severity.toUpperCase(),
          Title: title,
          Description: `${title}. Versions before ${one.package.fixed} are affected.`,
          CweIDs: [`CWE-${cwe}`],
          CVSS: { nvd: { V3Vector: vector } },
          References: [`https://nvd.nist.gov/vuln/detail/${cve}`],
        })),
      ),
    };
  };
  return JSON.stringify({
    SchemaVersion: 2,
    Trivy: { Version: '0.66.0' },
    CreatedAt: at.toISOString(),
    ArtifactName: name,
    ArtifactType: 'container_image',
    Metadata: { OS: { Family: 'debian', Name: '12.9' }, ImageID: digestOf(scan), RepoTags: [name], RepoDigests: [`${image.repository}@${digestOf(scan)}`] },
    Results: [result(`${name} (${DISTRO})`, true), result('app', false)],
  });
}

const grypeTypes = { npm: 'npm', pypi: 'python', maven: 'java-archive', golang: 'go-module', deb: 'deb' } as const;

/** The output of `grype -o json`. */
export function grypeReport(scan: ImageScan): string {
  const { image, tag, week, at } = scan;
  const matches = image.packages.flatMap((one) =>
    knownVulnerabilities(one, week).map(({ cve, title, severity, vector }) => ({
      vulnerability: {
        id: cve,
        dataSource: `https://nvd.nist.gov/vuln/detail/${cve}`,
        severity: severity.replace(/^./, (letter) => letter.toUpperCase()),
        description: title,
        cvss: [{ version: '3.1', vector, metrics: {} }],
        fix: { versions: [one.package.fixed], state: 'fixed' },
      },
      relatedVulnerabilities: [],
      matchDetails: [],
      artifact: {
        name: one.package.name.split(':').at(-1),
        version: one.package.version,
        type: grypeTypes[one.package.ecosystem],
        locations: [],
        purl: purl(one.package, one.package.version),
        upstreams: one.package.ecosystem === 'deb' ? [{ name: one.package.name }] : [],
      },
    })),
  );
  return JSON.stringify({
    matches,
    source: {
      type: 'image',
      target: { userInput: `${image.repository}:${tag}`, imageID: digestOf(scan), manifestDigest: digestOf(scan), tags: [`${image.repository}:${tag}`] },
    },
    distro: { name: 'debian', version: '12', idLike: [] },
    descriptor: {
      name: 'grype',
      version: '0.104.0',
      timestamp: at.toISOString(),
      db: { status: { built: new Date(at.getTime() - 6 * 3_600_000).toISOString() } },
    },
  });
}
