import { describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { identityOf } from './identity.ts';

type Given = Parameters<typeof seen>[0];
const weakness = (given: Given) => {
  const { weakness: name, aliases } = identityOf(seen(given));
  return { weakness: name, aliases };
};
const keyOf = (location: NonNullable<Given>['location']) => identityOf(seen({ location: location ?? {} })).identityKey.text;

describe('the weakness', () => {
  it.each<[string, Given, { weakness: string; aliases: string[] }]>([
    ['one CVE', { vulnerability_ids: ['CVE-2024-1'] }, { weakness: 'CVE-2024-1', aliases: [] }],
    ['a CVE with its aliases', { vulnerability_ids: ['CVE-2024-1', 'GHSA-a', 'SNYK-JS-1'] }, { weakness: 'CVE-2024-1', aliases: ['GHSA-a', 'SNYK-JS-1'] }],
    ['an advisory without CVE', { vulnerability_ids: ['GHSA-a'] }, { weakness: 'GHSA-a', aliases: [] }],
    ['ids in any order', { vulnerability_ids: ['SNYK-JS-1', 'GHSA-a'] }, { weakness: 'GHSA-a', aliases: ['SNYK-JS-1'] }],
    ['an erratum next to the CVE is not an alias', { vulnerability_ids: ['CVE-2024-1', 'RHSA-2024:1'] }, { weakness: 'CVE-2024-1', aliases: [] }],
    ['several CVEs: the check', { vulnerability_ids: ['CVE-2024-1', 'CVE-2024-2'], tool: 'nessus', rule: '42' }, { weakness: 'nessus:42', aliases: [] }],
    ['several advisories: the check', { vulnerability_ids: ['GHSA-a', 'GHSA-b'], tool: 'x', rule: '42' }, { weakness: 'x:42', aliases: [] }],
    ['several CVEs without a check', { vulnerability_ids: ['CVE-2024-2', 'CVE-2024-1'] }, { weakness: 'CVE-2024-1+CVE-2024-2', aliases: [] }],
    ['a rule of a tool', { vulnerability_ids: [], tool: 'semgrep', rule: 'sql' }, { weakness: 'semgrep:sql', aliases: [] }],
  ])('%s', (_, given, wanted) => {
    expect(weakness(given)).toEqual(wanted);
  });

  it('does not depend on title, severity or versions', () => {
    const one = identityOf(seen({ title: 'a', severity: 'low', location: { component: 'lib', version: '1' } }));
    expect(identityOf(seen({ title: 'b', severity: 'high', location: { component: 'lib', version: '2', path: '/x' } }))).toEqual(one);
  });
});

describe('the location', () => {
  it.each([
    ['package URL and name', { purl: 'pkg:npm/lodash@4.0.0', component: 'lodash' }, { component: 'Lodash' }],
    ['scoped package', { purl: 'pkg:npm/%40angular/core@1' }, { component: '@angular/core' }],
    ['maven coordinates', { purl: 'pkg:maven/org.apache/log4j-core@2?type=jar' }, { component: 'org.apache:log4j-core' }],
    ['package of a distribution', { purl: 'pkg:deb/debian/openssl@3?arch=amd64' }, { component: 'openssl' }],
    ['versions', { component: 'a', version: '1' }, { component: 'a', version: '2', fixed_version: '3' }],
    ['a fingerprint that moved', { path: 'a', line: 1, fingerprint: 'f' }, { path: 'a', line: 9, fingerprint: 'f' }],
    ['method in another case', { url: 'https://x/', method: 'get' }, { url: 'https://x/', method: 'GET' }],
    ['broken escapes', { purl: 'pkg:npm/%zz@1' }, { component: '%zz' }],
  ])('is the same: %s', (_, one, other) => {
    expect(keyOf(one)).toBe(keyOf(other));
  });

  it.each([
    ['component', { component: 'a' }, { component: 'b' }],
    ['namespace', { purl: 'pkg:maven/a/lib@1' }, { purl: 'pkg:maven/b/lib@1' }],
    ['line', { path: 'a', line: 1 }, { path: 'a', line: 2 }],
    ['file', { path: 'a', line: 1 }, { path: 'b', line: 1 }],
    ['fingerprint', { path: 'a', fingerprint: 'f' }, { path: 'a', fingerprint: 'g' }],
    ['port', { port: 80, protocol: 'tcp' }, { port: 443, protocol: 'tcp' }],
    ['protocol', { port: 53, protocol: 'tcp' }, { port: 53, protocol: 'udp' }],
    ['parameter', { url: 'https://x/', parameter: 'a' }, { url: 'https://x/', parameter: 'b' }],
    ['resource', { resource: 'a' }, { resource: 'b' }],
    ['nowhere and somewhere', {}, { port: 1 }],
  ])('is different: %s', (_, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other));
  });
});
