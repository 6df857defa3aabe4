import type { Random } from '../../../service/src/testing/truth/random.ts';
import type { Language } from './names.ts';

type Severity = 'critical' | 'high' | 'medium' | 'low';

export interface Vulnerability {
  cve: string;
  title: string;
  severity: Severity;
  vector: string;
  cwe: number;
  /** Tools know it from this week of the history on. Negative: from before its beginning. */
  published: number;
}

/** A package that can be installed, in the version with these vulnerabilities. */
export interface Package {
  ecosystem: 'deb' | 'npm' | 'pypi' | 'maven' | 'golang';
  name: string;
  version: string;
  fixed: string;
  vulnerabilities: Vulnerability[];
}

interface Flaw {
  cwe: number;
  what: string;
  by: string;
}

const flaws: readonly [Flaw, ...Flaw[]] = [
  { cwe: 787, what: 'out-of-bounds write', by: 'a crafted file' },
  { cwe: 125, what: 'out-of-bounds read', by: 'a truncated record' },
  { cwe: 416, what: 'use after free', by: 'a closed connection' },
  { cwe: 400, what: 'uncontrolled resource consumption', by: 'a deeply nested document' },
  { cwe: 20, what: 'improper input validation', by: 'an invalid header' },
  { cwe: 22, what: 'path traversal', by: 'an archive with absolute names' },
  { cwe: 1333, what: 'inefficient regular expression', by: 'a long line' },
  { cwe: 502, what: 'deserialization of untrusted data', by: 'a crafted object' },
  { cwe: 476, what: 'null pointer dereference', by: 'a missing field' },
];

const vectors: Readonly<Record<Severity, string>> = {
  critical: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  high: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H',
  medium: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:N/I:N/A:H',
  low: 'CVSS:3.1/AV:L/AC:H/PR:L/UI:N/S:U/C:L/I:N/A:N',
};
const severities = ['critical', 'high', 'high', 'high', 'medium', 'medium', 'medium', 'medium', 'medium', 'low', 'low', 'low'] as const;

const famous: Readonly<Record<string, Omit<Vulnerability, 'published' | 'vector'>>> = {
  'org.apache.logging.log4j:log4j-core': {
    cve: 'CVE-2021-44228',
    title: 'log4j-core: remote code execution through JNDI lookups (Log4Shell)',
    severity: 'critical',
    cwe: 502,
  },
  'org.springframework:spring-beans': {
    cve: 'CVE-2022-22965',
    title: 'spring-beans: remote code execution through data binding (Spring4Shell)',
    severity: 'critical',
    cwe: 94,
  },
  'golang.org/x/net': { cve: 'CVE-2023-44487', title: 'HTTP/2: rapid resets exhaust the server', severity: 'high', cwe: 400 },
  libwebp: { cve: 'CVE-2023-4863', title: 'libwebp: heap buffer overflow in the Huffman tables', severity: 'high', cwe: 787 },
  openssl: { cve: 'CVE-2022-0778', title: 'openssl: infinite loop in BN_mod_sqrt() with crafted certificates', severity: 'high', cwe: 835 },
};
/** CVEs that the demo's copy of the KEV catalog lists. */
export const exploited = ['CVE-2021-44228', 'CVE-2022-22965', 'CVE-2023-44487', 'CVE-2023-4863'] as const;

const systemPackages = `openssl 3.0.11-1 3.0.17-1, glibc 2.36-9 2.36-9+deb12u10, curl 7.88.1-10 7.88.1-10+deb12u12, zlib 1.2.13.dfsg-1 1.2.13.dfsg-2, expat 2.5.0-1 2.5.0-1+deb12u1,
  libxml2 2.9.14+dfsg-1 2.9.14+dfsg-2, sqlite3 3.40.1-2 3.40.1-3, krb5 1.20.1-2 1.20.1-3, perl 5.36.0-7 5.36.0-8, ncurses 6.4-4 6.4-5, tar 1.34+dfsg-1 1.35-1, gnutls28 3.7.9-2 3.7.9-3,
  systemd 252.17-1 252.39-1, util-linux 2.38.1-5 2.38.1-6, shadow 4.13-1 4.13-2, libwebp 1.2.4-0.1 1.2.4-0.2, tiff 4.5.0-6 4.5.0-7, git 2.39.2-1 2.39.5-1, openldap 2.5.13-5 2.5.13-6,
  python3.11 3.11.2-6 3.11.2-7, libgcrypt20 1.10.1-3 1.10.1-4, pcre2 10.42-1 10.43-1, freetype 2.12.1-5 2.12.1-6, nghttp2 1.52.0-1 1.52.0-2, libssh2 1.10.0-3 1.10.0-4, bash 5.2.15-2 5.2.15-3,
  apt 2.6.1 2.6.2, coreutils 9.1-1 9.1-2, gcc-12 12.2.0-14 12.2.0-15, libtasn1-6 4.19.0-2 4.19.0-3, lz4 1.9.4-1 1.9.4-2, p11-kit 0.24.1-2 0.24.1-3`;
const libraries: Readonly<Record<Language, string>> = {
  typescript: `npm lodash 4.17.15 4.17.21, npm axios 0.21.1 1.7.4, npm express 4.17.1 4.20.0, npm jsonwebtoken 8.5.1 9.0.0, npm ws 7.4.5 8.17.1, npm semver 7.3.5 7.5.2, npm minimist 1.2.5 1.2.6,
    npm node-fetch 2.6.1 2.6.7, npm tar 6.1.0 6.2.1, npm undici 5.26.0 5.28.4, npm follow-redirects 1.14.0 1.15.6, npm qs 6.5.2 6.5.3`,
  java: `maven org.apache.logging.log4j:log4j-core 2.14.1 2.17.1, maven org.springframework:spring-beans 5.3.17 5.3.18, maven com.fasterxml.jackson.core:jackson-databind 2.13.2 2.13.4.2,
    maven io.netty:netty-codec-http 4.1.77 4.1.108, maven org.yaml:snakeyaml 1.30 2.0, maven org.apache.tomcat.embed:tomcat-embed-core 9.0.62 9.0.98, maven com.h2database:h2 1.4.200 2.2.220,
    maven ch.qos.logback:logback-core 1.2.10 1.2.13, maven org.postgresql:postgresql 42.3.3 42.7.2, maven com.google.guava:guava 31.0 32.0.1`,
  python: `pypi jinja2 3.0.3 3.1.4, pypi requests 2.28.0 2.32.0, pypi urllib3 1.26.9 1.26.19, pypi pyyaml 5.3.1 5.4, pypi pillow 9.3.0 10.3.0, pypi cryptography 38.0.1 42.0.4, pypi django 3.2.15 4.2.16,
    pypi aiohttp 3.8.4 3.10.11, pypi certifi 2022.9.24 2024.7.4, pypi setuptools 65.5.0 70.0.0`,
  go: `golang golang.org/x/net v0.10.0 v0.33.0, golang golang.org/x/crypto v0.9.0 v0.31.0, golang github.com/golang-jwt/jwt/v4 v4.4.2 v4.5.1, golang google.golang.org/grpc v1.53.0 v1.56.3,
    golang github.com/gorilla/websocket v1.4.0 v1.4.1, golang gopkg.in/yaml.v3 v3.0.0 v3.0.1, golang github.com/docker/docker v23.0.1 v25.0.6, golang stdlib 1.20.4 1.22.7`,
};

export interface Catalogue {
  system: readonly Package[];
  libraries: Readonly<Record<Language, readonly Package[]>>;
}

/** What a world without surprises would know about these packages. Invented ids are beyond those that were ever assigned in their year. */
export function catalogueOf(random: Random, weeks: number): Catalogue {
  let next = 90_000;
  const vulnerability = (name: string): Vulnerability => {
    const [flaw, severity] = [random.pick(flaws), random.pick(severities)];
    // One in six becomes known during the history, week by week.
    const published = random.chance(1 / 6) ? random.number(weeks) : -1 - random.number(100);
    const cve = `CVE-${published < -20 ? 2025 : 2026}-${next}`;
    next += 1 + random.number(3);
    return { cve, title: `${name.split(/[/:]/).at(-1)}: ${flaw.what} through ${flaw.by}`, severity, vector: vectors[severity], cwe: flaw.cwe, published };
  };
  const packageOf = (ecosystem: Package['ecosystem'], [name = '', version = '', fixed = '']: readonly string[], most: number): Package => {
    const known = famous[name];
    const invented = Array.from({ length: 2 + random.number(most) }, () => vulnerability(name));
    return {
      ecosystem,
      name,
      version,
      fixed,
      vulnerabilities: [...(known ? [{ ...known, vector: vectors[known.severity], published: -50 }] : []), ...invented],
    };
  };
  const list = (text: string): string[][] => text.split(',').map((line) => line.trim().split(/\s+/));
  const librariesOf = (language: Language): Package[] =>
    list(libraries[language]).map(([ecosystem, ...rest]) => packageOf(ecosystem as Package['ecosystem'], rest, 4));
  return {
    system: list(systemPackages).map((line) => packageOf('deb', line, 10)),
    libraries: { typescript: librariesOf('typescript'), java: librariesOf('java'), python: librariesOf('python'), go: librariesOf('go') },
  };
}
