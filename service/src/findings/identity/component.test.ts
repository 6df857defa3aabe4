import type { Location } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { componentOf, sameComponent } from './component.ts';

const read = (location: Location) => {
  const component = componentOf(location);
  if (!component) throw new Error('no component');
  return component;
};
const keyOf = (location: Location) => componentOf(location)?.key;

it.each<[string, Location, string]>([
  ['a package URL', { purl: 'pkg:npm/lodash@4.17.15' }, 'npm/lodash'],
  ['a package URL before name and ecosystem', { purl: 'pkg:npm/lodash', component: 'other', ecosystem: 'pypi' }, 'npm/lodash'],
  ['a name with its ecosystem', { component: 'lodash', ecosystem: 'npm' }, 'npm/lodash'],
  ['a name alone', { component: 'Lodash' }, '/lodash'],
  ['an npm scope, encoded', { purl: 'pkg:npm/%40angular/core@1' }, 'npm/@angular/core'],
  ['an npm scope, plain', { purl: 'pkg:npm/@angular/core@1' }, 'npm/@angular/core'],
  ['an npm scope in a name', { component: '@angular/core', ecosystem: 'npm' }, 'npm/@angular/core'],
  ['PyPI: underscore', { component: 'typed_ast', ecosystem: 'PyPI ' }, 'pypi/typed-ast'],
  ['PyPI: dots, runs and case', { component: 'Zope._.Interface', ecosystem: 'pypi' }, 'pypi/zope-interface'],
  ['PyPI: extras', { component: 'requests[security]', ecosystem: 'pypi' }, 'pypi/requests'],
  ['PyPI: package URL', { purl: 'pkg:pypi/Typed_AST@1' }, 'pypi/typed-ast'],
  ['Maven: group:artifact', { component: 'org.apache.logging.log4j:log4j-core', ecosystem: 'maven' }, 'maven/org.apache.logging.log4j/log4j-core'],
  ['Maven: package URL', { purl: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?type=jar' }, 'maven/org.apache.logging.log4j/log4j-core'],
  ['Maven keeps separators', { purl: 'pkg:maven/a/b_c' }, 'maven/a/b_c'],
  ['NuGet ignores case', { purl: 'pkg:nuget/Newtonsoft.Json@12' }, 'nuget/newtonsoft.json'],
  ['Composer ignores case', { component: 'Laravel/Framework', ecosystem: 'composer' }, 'composer/laravel/framework'],
  ['Cargo: separators', { component: 'serde_json', ecosystem: 'cargo' }, 'cargo/serde-json'],
  ['Go module', { purl: 'pkg:golang/github.com/Sirupsen/logrus@v1.8.1' }, 'golang/github.com/sirupsen/logrus'],
  ['Go package inside of a module', { purl: 'pkg:golang/golang.org/x/net@v0.1.0#http2' }, 'golang/golang.org/x/net'],
  ['Go standard library', { purl: 'pkg:golang/stdlib@1.22.0' }, 'golang/stdlib'],
  ['Swift', { component: 'https://github.com/apple/swift-nio.git', ecosystem: 'swift' }, 'swift/github.com/apple/swift-nio'],
  ['Debian: package URL', { purl: 'pkg:deb/debian/curl@7?arch=amd64&distro=debian-12' }, 'deb/curl'],
  ['Debian: name', { component: 'curl', ecosystem: 'deb' }, 'deb/curl'],
  ['Debian: stated source', { purl: 'pkg:deb/debian/libssl1.1@1.1.1', source_package: 'openssl' }, 'deb/openssl'],
  ['Debian: source in the package URL', { purl: 'pkg:deb/debian/libc6@2.31?upstream=glibc%402.31' }, 'deb/glibc'],
  ['Debian: source/binary', { component: 'openssl/libssl1.1', ecosystem: 'deb' }, 'deb/openssl'],
  ['Debian: source with version', { component: 'libssl1.1', ecosystem: 'deb', source_package: 'openssl (1.1.1n-0)' }, 'deb/openssl'],
  ['RPM: source package file', { purl: 'pkg:rpm/redhat/openssl-libs@1.1.1k-7.el8?upstream=openssl-1.1.1k-7.el8.src.rpm' }, 'rpm/openssl'],
  ['RPM: blank source', { component: 'openssl-libs', ecosystem: 'rpm', source_package: ' ' }, 'rpm/openssl-libs'],
  ['apk: distribution', { component: 'libcrypto3', ecosystem: 'apk', source_package: 'openssl' }, 'apk/openssl'],
  ['generic is no ecosystem', { purl: 'pkg:generic/openssl@1.1.1' }, '/openssl'],
  ['generic with a stated ecosystem', { purl: 'pkg:generic/openssl@1.1.1', ecosystem: 'conan' }, 'conan/openssl'],
  ['an action', { component: 'actions/checkout', ecosystem: 'githubactions' }, 'github/actions/checkout'],
  ['an action by package URL', { purl: 'pkg:github/actions/checkout@v4' }, 'github/actions/checkout'],
  ['an unknown ecosystem', { component: 'a', ecosystem: 'My-Registry' }, 'my-registry/a'],
  ['a package URL that cannot be read', { purl: 'lodash@1', component: 'lodash' }, '/lodash'],
])('%s', (_, location, key) => {
  expect(keyOf(location)).toBe(key);
});

it.each<Location>([{}, { path: 'a' }, { component: ' ' }, { ecosystem: 'npm' }, { purl: 'pkg:npm' }, { source_package: 'openssl' }])(
  '%j names no component',
  (location) => {
    expect(componentOf(location)).toBeNull();
  },
);

describe('two components', () => {
  it.each<[string, Location, Location, boolean]>([
    ['of two ecosystems', { component: 'perl', ecosystem: 'deb' }, { component: 'perl', ecosystem: 'npm' }, false],
    ['one of them without an ecosystem', { component: 'perl' }, { component: 'perl', ecosystem: 'deb' }, true],
    ['with other separators and without an ecosystem', { component: 'typed_ast' }, { purl: 'pkg:pypi/typed-ast' }, true],
    ['Maven with and without the ecosystem', { component: 'org.x:log4j-core' }, { purl: 'pkg:maven/org.x/log4j-core' }, true],
    ['Maven with and without the group', { component: 'log4j-core', ecosystem: 'maven' }, { purl: 'pkg:maven/org.x/log4j-core' }, true],
    ['artifact name and package URL', { component: 'log4j-core' }, { purl: 'pkg:maven/org.x/log4j-core' }, true],
    ['Maven groups', { purl: 'pkg:maven/a/lib' }, { purl: 'pkg:maven/b/lib' }, false],
    ['Maven groups without ecosystem', { component: 'a:lib' }, { purl: 'pkg:maven/b/lib' }, false],
    ['artifacts of one group', { purl: 'pkg:maven/a/log4j-api' }, { purl: 'pkg:maven/a/log4j-core' }, false],
    ['npm with and without a scope', { purl: 'pkg:npm/core' }, { purl: 'pkg:npm/%40babel/core' }, false],
    ['npm separators', { purl: 'pkg:npm/lodash.template' }, { purl: 'pkg:npm/lodash-template' }, false],
    ['the last part of a Go module', { component: 'logrus' }, { purl: 'pkg:golang/github.com/sirupsen/logrus' }, true],
    ['a Go module with a major version', { component: 'tool' }, { purl: 'pkg:golang/github.com/acme/tool/v2' }, true],
    ['binaries of one source', { purl: 'pkg:deb/debian/libssl1.1', source_package: 'openssl' }, { purl: 'pkg:deb/debian/openssl' }, true],
    ['a binary whose source only one tool knows', { purl: 'pkg:deb/debian/libssl1.1' }, { purl: 'pkg:deb/debian/libssl1.1', source_package: 'openssl' }, true],
    ['the same without an ecosystem', { component: 'libssl1.1' }, { purl: 'pkg:deb/debian/libssl1.1', source_package: 'openssl' }, true],
    ['binaries of two sources', { purl: 'pkg:deb/debian/libc6', source_package: 'glibc' }, { purl: 'pkg:deb/debian/bash', source_package: 'bash' }, false],
    ['binaries that no tool knows the source of', { purl: 'pkg:deb/debian/libc6' }, { purl: 'pkg:deb/debian/libc-bin' }, false],
    ['a distribution and a language', { purl: 'pkg:deb/debian/python-requests' }, { purl: 'pkg:pypi/requests' }, false],
  ])('%s', (_, one, other, same) => {
    expect(sameComponent(read(one), read(other))).toBe(same);
    expect(sameComponent(read(other), read(one))).toBe(same);
  });

  it('share a short name or a binary package if they may be the same, so that a database finds the candidates', () => {
    const name = fc.array(fc.constantFrom('a', 'B', 'a_b', 'a-b', 'a.b', 'v2', '@s'), { minLength: 1, maxLength: 3 });
    const location = fc.record({
      component: fc.tuple(name, fc.constantFrom('/', ':')).map(([parts, separator]) => parts.join(separator)),
      ecosystem: fc.constantFrom('', 'npm', 'maven', 'pypi', 'deb', 'golang'),
      source_package: fc.constantFrom('a', 'a-b', ''),
    });
    fc.assert(
      fc.property(location, location, (one, other) => {
        const [a, b] = [read(one), read(other)];
        if (!sameComponent(a, b)) return;
        const names = [b.name, b.binary];
        expect(a.short === b.short || names.includes(a.name) || (a.binary !== null && names.includes(a.binary))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
