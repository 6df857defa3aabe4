import type { Location } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { identityOf } from './identity.ts';

type Given = Parameters<typeof seen>[0];
const weakness = (given: Given) => {
  const { weakness: name, aliases } = identityOf(seen(given));
  return { weakness: name, aliases };
};
const at = (location: Location) => identityOf(seen({ location }));
const keyOf = (location: Location) => at(location).identityKey.text;
const placeOf = (location: Location) => at(location).place;

describe('the weakness', () => {
  it.each<[string, Given, { weakness: string; aliases: string[] }]>([
    ['one CVE', { vulnerability_ids: ['CVE-2024-1'] }, { weakness: 'CVE-2024-1', aliases: [] }],
    ['a CVE with its aliases', { vulnerability_ids: ['CVE-2024-1', 'GHSA-a', 'SNYK-JS-1'] }, { weakness: 'CVE-2024-1', aliases: ['GHSA-a', 'SNYK-JS-1'] }],
    ['an advisory without CVE', { vulnerability_ids: ['GHSA-a'] }, { weakness: 'GHSA-a', aliases: [] }],
    ['ids in any order', { vulnerability_ids: ['SNYK-JS-1', 'GHSA-a'] }, { weakness: 'GHSA-a', aliases: ['SNYK-JS-1'] }],
    ['an erratum next to the CVE is not an alias', { vulnerability_ids: ['CVE-2024-1', 'RHSA-2024:1'] }, { weakness: 'CVE-2024-1', aliases: [] }],
    ['several CVEs: the check', { vulnerability_ids: ['CVE-2024-1', 'CVE-2024-2'], tool: 'nessus', rule: '42' }, { weakness: 'nessus:42', aliases: [] }],
    ['several CVEs and an advisory', { vulnerability_ids: ['CVE-2024-1', 'CVE-2024-2', 'GHSA-a'], tool: 'x', rule: '42' }, { weakness: 'x:42', aliases: [] }],
    ['several advisories: the check', { vulnerability_ids: ['GHSA-a', 'GHSA-b'], tool: 'x', rule: '42' }, { weakness: 'x:42', aliases: [] }],
    ['several CVEs without a check', { vulnerability_ids: ['CVE-2024-2', 'CVE-2024-1'] }, { weakness: 'CVE-2024-1+CVE-2024-2', aliases: [] }],
    ['a rule of a tool', { vulnerability_ids: [], tool: 'semgrep', rule: 'sql' }, { weakness: 'semgrep:sql', aliases: [] }],
  ])('%s', (_, given, wanted) => {
    expect(weakness(given)).toEqual(wanted);
  });

  it('does not depend on title, severity or versions', () => {
    const one = identityOf(seen({ title: 'a', severity: 'low', location: { component: 'lib', version: '1' } }));
    expect(identityOf(seen({ title: 'b', severity: 'high', location: { component: 'lib', version: '2' } }))).toEqual(one);
  });
});

describe('the identity key', () => {
  it.each<[string, Location, Location]>([
    ['package URL and ecosystem', { purl: 'pkg:npm/lodash@4.0.0', component: 'lodash' }, { component: 'Lodash', ecosystem: 'npm' }],
    ['scoped package', { purl: 'pkg:npm/%40angular/core@1' }, { component: '@angular/core', ecosystem: 'npm' }],
    ['maven coordinates', { purl: 'pkg:maven/org.apache/log4j-core@2?type=jar' }, { component: 'org.apache:log4j-core', ecosystem: 'maven' }],
    ['package of a distribution', { purl: 'pkg:deb/debian/openssl@3?arch=amd64' }, { component: 'openssl', ecosystem: 'deb' }],
    ['binaries of one source', { purl: 'pkg:deb/debian/libssl3', source_package: 'openssl' }, { purl: 'pkg:deb/debian/openssl', source_package: 'openssl' }],
    ['versions', { component: 'a', version: '1' }, { component: 'a', version: '2', fixed_version: '3' }],
    ['paths of a component', { component: 'a', path: 'x/a.jar' }, { component: 'a', path: 'y/a.jar' }],
    ['ports of a component', { component: 'a', port: 80 }, { component: 'a', port: 81 }],
    ['a fingerprint that moved', { path: 'a', line: 1, fingerprint: 'f' }, { path: 'a', line: 9, fingerprint: 'f' }],
    ['absolute path of a build service', { path: 'src/a.ts', line: 1 }, { path: '/home/runner/work/shop/shop/src/a.ts', line: 1 }],
    ['pages of one application', { url: 'https://x/a' }, { url: 'https://X:443/b?c=1' }],
    ['parameters', { url: 'https://x/', parameter: 'a' }, { url: 'https://x/', parameter: 'b' }],
    ['methods', { url: 'https://x/', method: 'get' }, { url: 'https://x/', method: 'POST' }],
    ['broken escapes', { purl: 'pkg:npm/%zz@1' }, { component: '%zz', ecosystem: 'npm' }],
  ])('is the same: %s', (_, one, other) => {
    expect(keyOf(one)).toBe(keyOf(other));
  });

  it.each<[string, Location, Location]>([
    ['component', { component: 'a' }, { component: 'b' }],
    ['ecosystem', { purl: 'pkg:deb/debian/perl' }, { purl: 'pkg:npm/perl' }],
    ['namespace', { purl: 'pkg:maven/a/lib@1' }, { purl: 'pkg:maven/b/lib@1' }],
    ['line', { path: 'a', line: 1 }, { path: 'a', line: 2 }],
    ['file', { path: 'a', line: 1 }, { path: 'b', line: 1 }],
    ['fingerprint', { path: 'a', fingerprint: 'f' }, { path: 'a', fingerprint: 'g' }],
    ['resource in a file', { path: 'main.tf', resource: 'a' }, { path: 'main.tf', resource: 'b' }],
    ['port', { port: 80, protocol: 'tcp' }, { port: 443, protocol: 'tcp' }],
    ['protocol', { port: 53, protocol: 'tcp' }, { port: 53, protocol: 'udp' }],
    ['origin', { url: 'https://x/' }, { url: 'https://y/' }],
    ['scheme', { url: 'https://x/' }, { url: 'http://x/' }],
    ['resource', { resource: 'a' }, { resource: 'b' }],
    ['nowhere and somewhere', {}, { port: 1 }],
  ])('is different: %s', (_, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other));
  });
});

describe('the place', () => {
  it.each<[string, Location]>([
    ['path app/lib/x.jar', { component: 'x', path: '/app/lib/x.jar', version: '1' }],
    ['package libssl1.1', { purl: 'pkg:deb/debian/libssl1.1', source_package: 'openssl', path: 'var/lib/dpkg/status' }],
    ['package openssl', { component: 'openssl', ecosystem: 'apk' }],
    ['component org.x/lib', { purl: 'pkg:maven/org.x/lib@1' }],
    ['component lib', { component: 'lib', resource: 'arn:aws:ecr:eu-west-1:1:repository/shop/sha256:12' }],
    ['path lib/a-1.2.3.jar', { component: 'a', version: '1.2.3', path: 'lib/a-1.2.3.jar' }],
    ['port 443/tcp', { component: 'openssl', port: 443, protocol: 'TCP' }],
    ['https://x/jquery.js', { component: 'jquery', url: 'https://x/jquery.js' }],
    ['GET https://x/a?id (id)', { url: 'https://X/a?id=1', method: 'get', parameter: 'id' }],
    ['https://x/', { url: 'https://x' }],
    ['/admin', { url: '/admin?x=1' }],
    ['path src/a.ts', { path: './src/a.ts', line: 3, fingerprint: 'f' }],
    ['resource aws_s3_bucket.logs', { resource: 'aws_s3_bucket.logs' }],
    ['port 22', { port: 22 }],
    ['asset', {}],
    ['asset', { fingerprint: 'f' }],
  ])('%s', (label, location) => {
    expect(at(location).placeLabel).toBe(label);
  });

  it.each<[string, Location, Location]>([
    ['lines', { path: 'a', line: 1 }, { path: 'a', line: 2 }],
    ['payloads', { url: 'https://x/a?id=1', parameter: 'id' }, { url: 'https://x/a?id=2', parameter: 'id' }],
    ['versions', { component: 'a', path: 'x', version: '1' }, { component: 'a', path: 'x', version: '2' }],
    ['versions in the path', { component: 'a', path: 'x/a-1.2.3.jar', version: '1.2.3' }, { component: 'a', path: 'x/a-1.3.0.jar', version: '1.3.0' }],
    ['a leading slash', { component: 'a', path: '/x/y' }, { component: 'a', path: 'x/y' }],
    ['the source package', { purl: 'pkg:deb/debian/libssl1.1' }, { purl: 'pkg:deb/debian/libssl1.1', source_package: 'openssl' }],
  ])('is the same with other %s', (_, one, other) => {
    expect(placeOf(one)).toBe(placeOf(other));
  });

  it.each<[string, Location, Location]>([
    ['path', { component: 'a', path: 'x' }, { component: 'a', path: 'y' }],
    ['version in the path of code', { path: 'api/v1.2.3/a.ts', version: '1.2.3' }, { path: 'api/v1.2.4/a.ts', version: '1.2.4' }],
    ['page', { url: 'https://x/a' }, { url: 'https://x/b' }],
    ['parameter', { url: 'https://x/a', parameter: 'a' }, { url: 'https://x/a', parameter: 'b' }],
    ['method', { url: 'https://x/a', method: 'GET' }, { url: 'https://x/a', method: 'POST' }],
    ['binary package', { purl: 'pkg:deb/debian/libssl1.1', source_package: 'openssl' }, { purl: 'pkg:deb/debian/openssl', source_package: 'openssl' }],
    ['port', { component: 'a', port: 80 }, { component: 'a', port: 81 }],
  ])('is different with another %s', (_, one, other) => {
    expect(placeOf(one)).not.toBe(placeOf(other));
  });

  it('has a label of limited length', () => {
    expect(at({ path: 'x/'.repeat(2000) }).placeLabel).toHaveLength(500);
  });
});
