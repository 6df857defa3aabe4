import { type Random, randomOf } from '../random.ts';

/** An invented ground truth: what is on which asset. Tools report parts of it in their own words. */
export interface World {
  images: Image[];
  repositories: Repository[];
}

export interface Vulnerability {
  cve: string;
  /** Null: only the CVE exists. */
  ghsa: string | null;
  /** Its id in the database of Snyk, without the package. */
  snyk: number;
  /** Its id in the database of the ecosystem: `PYSEC-…`, `GO-…`. */
  own: string | null;
  title: string;
  severity: 'critical' | 'high' | 'medium' | 'low';
  cwe: number;
}

const ecosystems = ['npm', 'pypi', 'maven', 'golang', 'gem', 'nuget', 'composer', 'cargo'] as const;
export type Ecosystem = (typeof ecosystems)[number];

/** A library in the spelling of its own registry. */
export interface Library {
  ecosystem: Ecosystem;
  name: string;
  version: string;
  /** Where it is. Tools that see files name all of them. */
  paths: string[];
  vulnerabilities: Vulnerability[];
}

/** A package of a distribution: the source that is fixed, and the binaries that are installed. */
export interface SystemPackage {
  source: string;
  binaries: string[];
  version: string;
  /** Of RPM packages. Zero is not written. */
  epoch: number;
  vulnerabilities: Vulnerability[];
}

export interface Distribution {
  type: 'deb' | 'apk' | 'rpm';
  name: 'debian' | 'ubuntu' | 'alpine' | 'redhat';
  release: string;
}

export interface Image {
  name: string;
  tag: string;
  digest: string;
  distribution: Distribution;
  packages: SystemPackage[];
  libraries: Library[];
}

export interface Repository {
  /** Host and path. */
  name: string;
  libraries: Library[];
}

const libraryNames: Readonly<Record<Ecosystem, readonly string[]>> = {
  npm: ['lodash', '@babel/traverse', 'foo-bar', 'foo.bar', 'protobuf', 'core', 'json5', '@acme/core', 'socket.io', 'xml2js'],
  pypi: ['PyYAML', 'Jinja2', 'ruamel.yaml', 'typing_extensions', 'protobuf', 'zope.interface', 'Foo_Bar', 'xml2js', 'Django'],
  maven: [
    'org.apache.logging.log4j:log4j-core',
    'org.apache.logging.log4j:log4j-api',
    'org.acme:core',
    'com.acme:core',
    'com.fasterxml.jackson.core:jackson-databind',
    'org.json:json',
    'com.google.protobuf:protobuf-java',
  ],
  golang: ['golang.org/x/net', 'golang.org/x/crypto', 'github.com/gorilla/websocket', 'gopkg.in/yaml.v2', 'github.com/acme/core/v2', 'github.com/acme/core'],
  gem: ['nokogiri', 'rack', 'foo-bar', 'foo_bar', 'json', 'protobuf'],
  nuget: ['Newtonsoft.Json', 'System.Text.Json', 'Microsoft.AspNetCore.App', 'Protobuf'],
  composer: ['symfony/http-foundation', 'guzzlehttp/guzzle', 'acme/core'],
  cargo: ['openssl', 'foo_bar', 'time', 'json5'],
};

const systemPackages = [
  { source: 'openssl', deb: ['openssl', 'libssl1.1'], apk: ['libcrypto1.1', 'libssl1.1'], rpm: ['openssl', 'openssl-libs'] },
  { source: 'glibc', deb: ['libc6', 'libc-bin'], apk: ['libc-compat'], rpm: ['glibc', 'glibc-common', 'glibc-minimal-langpack'] },
  { source: 'curl', deb: ['curl', 'libcurl4'], apk: ['libcurl', 'curl'], rpm: ['curl', 'libcurl'] },
  { source: 'zlib', deb: ['zlib1g'], apk: ['zlib'], rpm: ['zlib'] },
  { source: 'expat', deb: ['libexpat1'], apk: ['libexpat', 'expat'], rpm: ['expat'] },
  { source: 'gcc-10', deb: ['gcc-10-base', 'libgcc-s1', 'libstdc++6'], apk: ['libgcc', 'libstdc++'], rpm: ['libgcc', 'libstdc++'] },
  { source: 'gcc-9', deb: ['gcc-9-base'], apk: ['gcc-9-libs'], rpm: ['gcc-9-libs'] },
  { source: 'util-linux', deb: ['libblkid1', 'libmount1', 'mount'], apk: ['libblkid', 'libmount'], rpm: ['libblkid', 'libmount', 'util-linux'] },
  { source: 'python3.9', deb: ['python3.9', 'libpython3.9-stdlib'], apk: ['python3'], rpm: ['python39', 'python39-libs'] },
  { source: 'json', deb: ['libjson1'], apk: ['json'], rpm: ['json'] },
] as const;

const distributions: readonly [Distribution, ...Distribution[]] = [
  { type: 'deb', name: 'debian', release: '11' },
  { type: 'apk', name: 'alpine', release: '3.14.2' },
  { type: 'rpm', name: 'redhat', release: '8.7' },
  { type: 'deb', name: 'ubuntu', release: '22.04' },
];

/** Names that are easily confused. */
const imageNames = ['registry.example.com/shop/web', 'registry.example.com/shop/web-admin', 'mirror.example.com/shop/web'] as const;
const repositoryNames = ['git.example.com/acme/shop', 'git.example.com/acme/shop-api', 'git.example.com/acme-labs/shop'] as const;

export function worldOf(seed: number): World {
  const random = randomOf(seed);
  const vulnerabilities = createVulnerabilities(random);
  return {
    images: imageNames.map((name, n) => ({
      name,
      tag: 'main',
      digest: `sha256:${hex(random, 64)}`,
      distribution: distributions[(seed + n) % distributions.length] ?? distributions[0],
      packages: [],
      libraries: random.shuffled(allLibraries(random, vulnerabilities)).slice(0, 14),
    })),
    repositories: repositoryNames.map((name) => ({ name, libraries: allLibraries(random, vulnerabilities) })),
  };
}

/** Fills in the packages of the distribution of each image. */
export function withSystemPackages(world: World, seed: number): World {
  const random = randomOf(seed + 10_000);
  const vulnerabilities = createVulnerabilities(random, 20_000);
  const images = world.images.map((image) => ({
    ...image,
    packages: systemPackages.map(({ source, ...binaries }, n) => ({
      source,
      binaries: [...binaries[image.distribution.type]],
      version: versionOf(random, image.distribution, n),
      epoch: image.distribution.type === 'rpm' && n % 2 === 0 ? 1 : 0,
      vulnerabilities: someOf(random, vulnerabilities, 3).map((one) => ({ ...one, ghsa: null, own: null })),
    })),
  }));
  return { ...world, images };
}

function versionOf(random: Random, { type, name }: Distribution, n: number): string {
  const upstream = `${n + 1}.${random.number(20)}.${random.number(9)}`;
  if (type === 'apk') return `${upstream}-r${random.number(5)}`;
  if (type === 'rpm') return `${upstream}-${1 + random.number(9)}.el8_6`;
  return name === 'ubuntu' ? `${upstream}-0ubuntu1.${random.number(20)}` : `${upstream}-0+deb11u${random.number(6)}`;
}

function allLibraries(random: Random, vulnerabilities: readonly Vulnerability[]): Library[] {
  return ecosystems.flatMap((ecosystem) =>
    libraryNames[ecosystem].map((name, n) => ({
      ecosystem,
      name,
      version: `${1 + random.number(4)}.${random.number(20)}.${random.number(9)}`,
      paths: random.chance(0.2) ? [`app/${n}`, `plugins/${n}`] : [`app/${n}`],
      vulnerabilities: someOf(random, vulnerabilities, 3).map((one) => ({ ...one, own: ownId(ecosystem, one) })),
    })),
  );
}

/** From a small pool, so that several components share a vulnerability. */
function someOf(random: Random, vulnerabilities: readonly Vulnerability[], most: number): Vulnerability[] {
  return random.shuffled(vulnerabilities).slice(0, 1 + random.number(most));
}

function ownId(ecosystem: Ecosystem, { cve }: Vulnerability): string | null {
  const [, year, number] = cve.split('-');
  if (ecosystem === 'pypi') return `PYSEC-${year}-${number}`;
  if (ecosystem === 'golang') return `GO-${year}-${number}`;
  return ecosystem === 'cargo' ? `RUSTSEC-${year}-${number}` : null;
}

const titles = ['Prototype Pollution', 'Remote Code Execution', 'Denial of Service', 'Path Traversal', 'Improper Input Validation'] as const;
const severities = ['critical', 'high', 'medium', 'low'] as const;

function createVulnerabilities(random: Random, from = 10_000): Vulnerability[] {
  return Array.from({ length: 40 }, (_, n) => ({
    cve: `CVE-${2019 + (n % 6)}-${from + n * 7}`,
    ghsa: `GHSA-${ghsaPart(random)}-${ghsaPart(random)}-${ghsaPart(random)}`,
    snyk: 1_000_000 + from + n,
    own: null,
    title: random.pick(titles),
    severity: random.pick(severities),
    cwe: 20 + random.number(900),
  }));
}

const GHSA_CHARACTERS = '23456789cfghjmpqrvwx';

function ghsaPart(random: Random): string {
  return Array.from({ length: 4 }, () => GHSA_CHARACTERS[random.number(GHSA_CHARACTERS.length)]).join('');
}

export function hex(random: Random, length: number): string {
  return Array.from({ length }, () => random.number(16).toString(16)).join('');
}
