import { describe, expect, test } from 'vitest';
import type { Location, ReportItem } from '../contract.ts';
import {
  cwesOf,
  filePath,
  hostAsset,
  idsIn,
  isIp,
  observation,
  parseUrl,
  RecordError,
  record,
  repositoryAsset,
  required,
  severityOf,
  severityOfScore,
  urlPlace,
  vulnerabilityIds,
  webAsset,
} from './normalize.ts';

describe('observation', () => {
  const given = { place: 'p', tool: 't', title: 'x', severity: 'low' } as const;

  test.each([
    [{ vulnerability_ids: ['MAL-2024-1234'] }, true],
    [{ cwes: [506], title: 'Malware in left-pad' }, true],
    [{ cwes: [506], title: 'Malicious Package' }, true],
    [{ cwes: [506], title: 'Possible backdoor' }, undefined],
    [{ title: 'Malware in left-pad' }, undefined],
    [{ vulnerability_ids: ['CVE-2024-1234'] }, undefined],
  ])('recognizes malicious packages: %j', (more, expected) => {
    expect(observation({ ...given, ...more }).malicious).toBe(expected);
  });

  test.each([
    ['attacked', undefined, true],
    ['attacked', false, true],
    ['functional', undefined, undefined],
    ['functional', true, true],
  ] as const)('what is used in attacks is known to be exploited: %s, %j', (exploit_maturity, known_exploited, expected) => {
    expect(observation({ ...given, exploit_maturity, known_exploited }).known_exploited).toBe(expected);
  });

  test('fills missing fields with empty values', () => {
    expect(observation(given)).toEqual({
      ...given,
      rule: null,
      external_id: null,
      description: null,
      solution: null,
      tool_severity: null,
      vulnerability_ids: [],
      cwes: [],
      cvss: [],
      references: [],
      asset: null,
      location: {},
      present: true,
      suppressed: false,
      first_seen: null,
      last_seen: null,
      tags: [],
    });
  });

  test.each([
    ['pkg:npm/%40angular/core@17.0.0', '@angular/core', '17.0.0'],
    ['pkg:npm/lodash', 'lodash', undefined],
    ['pkg:pypi/Typed_AST@1.5.4', 'typed-ast', '1.5.4'],
    ['pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?type=jar', 'org.apache.logging.log4j:log4j-core', '2.14.1'],
    ['pkg:deb/debian/libssl3@3.0.11-1~deb12u2?arch=amd64&upstream=openssl', 'libssl3', '3.0.11-1~deb12u2'],
    ['pkg:golang/github.com/example/tool@v1.2.3', 'github.com/example/tool', 'v1.2.3'],
    ['pkg:cargo/serde_json@1.0.0%2Bbuild', 'serde_json', '1.0.0+build'],
  ])('takes the component and the version from the package URL %s', (purl, component, version) => {
    expect(observation({ ...given, location: { purl } }).location).toEqual({ purl, component, ...(version ? { version } : {}) });
  });

  test.each<[Location, Location]>([
    [{ component: 'Core' }, { component: 'Core', version: '17.0.0' }],
    [{ version: '18' }, { component: '@angular/core', version: '18' }],
    [
      { component: 'core', version: '18' },
      { component: 'core', version: '18' },
    ],
  ])('leaves what the report states next to a package URL: %j', (stated, expected) => {
    const purl = 'pkg:npm/%40angular/core@17.0.0';
    expect(observation({ ...given, location: { purl, ...stated } }).location).toEqual({ purl, ...expected });
  });

  test.each(['pkg://npm/%40angular/core@17.0.0', 'pkg:///npm/%40angular/core@17.0.0'])('leaves out the slashes after the scheme of %s', (purl) => {
    const expected = { purl: 'pkg:npm/%40angular/core@17.0.0', component: '@angular/core', version: '17.0.0' };
    expect(observation({ ...given, location: { purl } }).location).toEqual(expected);
    expect(observation({ ...given, location: { purl, component: 'core', version: '18' } }).location).toEqual({ ...expected, component: 'core', version: '18' });
  });

  test('takes nothing from a package URL that cannot be read', () => {
    expect(observation({ ...given, location: { purl: 'pkg:npm' } }).location).toEqual({ purl: 'pkg:npm' });
  });

  test('limits the length of texts without breaking Unicode characters', () => {
    const long = observation({ ...given, title: '😀'.repeat(1_000), description: 'd'.repeat(20_000), rule: `r${'😀'.repeat(600)}` });
    expect(long.title.length).toBe(500);
    expect(long.title.endsWith('…')).toBe(true);
    expect(long.description?.length).toBe(16_000);
    expect(long.rule?.length).toBe(1_000);
    for (const text of [long.title, long.rule ?? '']) expect(text.isWellFormed()).toBe(true);
    expect(observation({ ...given, title: 'a\ud800b' }).title).toBe('a\ufffdb');
  });

  test('removes control characters, and extra spaces from names', () => {
    const made = observation({
      ...given,
      title: ' a\u0000b\u001b[31m ',
      description: 'x\ty\nz\u0000',
      rule: ' two\n  words ',
      location: { path: 'a\u0000b', component: ' ', line: 3 },
    });
    expect(made).toMatchObject({ title: 'ab[31m', description: 'x\ty\nz', rule: 'two words', location: { path: 'ab', line: 3 } });
    expect(made.location).not.toHaveProperty('component');
    expect(observation({ ...given, title: '\u0000 ' }).title).toBe('Untitled');
  });

  test('removes duplicates and limits the length of lists', () => {
    const many = Array.from({ length: 300 }, (_, index) => `t${index}`);
    const made = observation({
      ...given,
      tags: ['a', 'a', ' ', ...many],
      references: ['r', 'r', ...many],
      cwes: [79, 79],
      vulnerability_ids: ['cve-2020-1111', 'CVE-2020-1111'],
    });
    expect(made.tags.length).toBe(50);
    expect(made.references.length).toBe(50);
    expect(made).toMatchObject({ cwes: [79], vulnerability_ids: ['CVE-2020-1111'] });
  });
});

test('severityOf maps the common words in any case', () => {
  expect(['CRITICAL', ' High ', 'Moderate', 'minor', 'Negligible', 'None', 'whatever', undefined].map(severityOf)).toEqual([
    'critical',
    'high',
    'medium',
    'low',
    'info',
    'info',
    'unknown',
    'unknown',
  ]);
  expect(severityOf('toString')).toBe('unknown');
  expect(severityOf('constructor')).toBe('unknown');
});

test('severityOfScore follows the CVSS scale', () => {
  expect([10, 9, 8.9, 7, 6.9, 4, 3.9, 0.1, 0, -1, 11, undefined].map(severityOfScore)).toEqual([
    'critical',
    'critical',
    'high',
    'high',
    'medium',
    'medium',
    'low',
    'low',
    'info',
    'unknown',
    'unknown',
    'unknown',
  ]);
});

test('idsIn finds ids in texts, and vulnerabilityIds sorts them', () => {
  expect(idsIn('see cve-2021-44228, CVE-2021-44228 and GHSA-JFH8-C2JP-5V3Q.', null, undefined, 'CVE-2021-45046-log4j')).toEqual([
    'CVE-2021-44228',
    'CVE-2021-45046',
    'GHSA-jfh8-c2jp-5v3q',
  ]);
  expect(idsIn('CVE-21-1, XCVE-2021-44228, GHSA-aaaa-bbbb-cccc, CVE-2021-123')).toEqual([]);
  expect(vulnerabilityIds('rustsec-2021-0001', undefined, ' ', 'ghsa-jfh8-c2jp-5v3q', 'cve-2021-44228')).toEqual([
    'CVE-2021-44228',
    'GHSA-jfh8-c2jp-5v3q',
    'RUSTSEC-2021-0001',
  ]);
});

test('cwesOf reads numbers and all common spellings', () => {
  expect(
    cwesOf(79, '80', 'CWE-89: SQL Injection', 'cwe-022', 'external/cwe/cwe-078', 'CWE #310', 'https://cwe.mitre.org/data/definitions/CWE-400.html'),
  ).toEqual([79, 80, 89, 22, 78, 310, 400]);
  expect(cwesOf(['CWE-79', ['CWE-79', 'CWE-80, CWE-81']])).toEqual([79, 80, 81]);
  expect(cwesOf(0, -1, 1.5, '', 'NVD-CWE-Other', 'NVD-CWE-noinfo', null, undefined, {}, '12 monkeys', 1_000_000)).toEqual([]);
});

test('isIp accepts only IPv4 and IPv6 addresses', () => {
  for (const ip of ['192.0.2.1', '::1', '2001:db8::1', 'fe80::1%eth0']) expect(isIp(ip), ip).toBe(true);
  for (const other of ['999.0.2.1', 'example.com', 'ab:cd', '', '192.0.2', '00:00:5e:00:53:01']) expect(isIp(other), other).toBe(false);
});

test('hostAsset uses the best name and keeps the others as identifiers', () => {
  expect(hostAsset({ given: '192.0.2.1', fqdn: 'Web.Example.COM.', netbios: 'WEB', mac: '00:00:5E:00:53:01' })).toEqual({
    type: 'host',
    name: 'web.example.com',
    identifiers: [
      { kind: 'fqdn', value: 'web.example.com' },
      { kind: 'netbios', value: 'web' },
      { kind: 'ip', value: '192.0.2.1' },
      { kind: 'mac', value: '00:00:5e:00:53:01' },
    ],
  });
  expect(hostAsset({ given: 'web' })).toMatchObject({ name: 'web', identifiers: [{ kind: 'hostname', value: 'web' }] });
  expect(hostAsset({ given: 'web.example.com' })).toMatchObject({ identifiers: [{ kind: 'fqdn', value: 'web.example.com' }] });
  expect(hostAsset({ fqdn: '192.0.2.1' })).toMatchObject({ name: '192.0.2.1', identifiers: [{ kind: 'ip', value: '192.0.2.1' }] });
  expect(hostAsset({ fqdn: ' ', given: '' })).toEqual({ type: 'host', name: 'unspecified', identifiers: [] });
});

test('webAsset returns the origin, urlPlace the URL without query and fragment', () => {
  const url = 'HTTPS://user:secret@App.Example.com:443/a/b?c=1#d';
  expect(webAsset(url)).toEqual({ type: 'web_application', name: 'https://app.example.com', identifiers: [{ kind: 'fqdn', value: 'app.example.com' }] });
  expect(urlPlace(url)).toBe('https://app.example.com/a/b');
  expect(urlPlace('https://H:8443/icons/.%2e/../a%2fb/é%20//?x=1')).toBe('https://h:8443/icons/.%2e/../a%2fb/é%20//');
  expect([urlPlace('https://h'), urlPlace('https://h?x=/y'), urlPlace('h:80/a#b'), urlPlace('tcp://h:1')]).toEqual([
    'https://h/',
    'https://h/',
    'http://h/a',
    'tcp://h:1',
  ]);
  expect(webAsset('app.example.com:8443/x')).toMatchObject({ name: 'http://app.example.com:8443' });
  expect(webAsset('http://[2001:db8::1]:8080/')).toMatchObject({ name: 'http://[2001:db8::1]:8080', identifiers: [{ kind: 'ip', value: '2001:db8::1' }] });
  expect(webAsset('tcp://db.example.com:5432')).toMatchObject({ name: 'tcp://db.example.com:5432' });
  expect(webAsset('//app.example.com/x')).toMatchObject({ name: 'http://app.example.com' });
  for (const none of [undefined, '', 'http://', 'not an address', '/path']) {
    expect(webAsset(none), none).toBeNull();
    expect(urlPlace(none), none).toBeUndefined();
    expect(parseUrl(none), none).toBeNull();
  }
});

test('repositoryAsset removes credentials', () => {
  expect(repositoryAsset('https://user:token@git.example.com/team/app.git')).toEqual({ type: 'repository', name: 'https://git.example.com/team/app' });
  expect(repositoryAsset('https://token@git.example.com/team/app/')).toEqual({ type: 'repository', name: 'https://git.example.com/team/app' });
  expect(repositoryAsset('git@git.example.com:team/app.git')).toEqual({ type: 'repository', name: 'git@git.example.com:team/app' });
  expect(repositoryAsset('team/app')).toEqual({ type: 'repository', name: 'team/app' });
  expect(repositoryAsset('')).toBeNull();
  expect(repositoryAsset(undefined)).toBeNull();
});

test.each([
  ['src/a.ts', 'src/a.ts'],
  ['./././src//a.ts', 'src/a.ts'],
  ['C:\\src\\a.ts', 'C:/src/a.ts'],
  ['file:///home/a.ts', '/home/a.ts'],
  ['file:////home/a.ts', '/home/a.ts'],
  ['file:///C:/src/a.ts', 'C:/src/a.ts'],
  ['https://example.com//a', 'https://example.com//a'],
  ['./', undefined],
  ['', undefined],
  [undefined, undefined],
])('filePath of %s', (given, expected) => {
  expect(filePath(given)).toBe(expected);
});

test('a record that fails is rejected with its reason and affects no other record', () => {
  const made = observation({ place: 'p', tool: 't', title: 'x', severity: 'low' });
  const run = (make: Parameters<typeof record>[1]): ReportItem[] => [...record('p', make)];
  expect(run(() => made)).toEqual([{ observation: made }]);
  expect(run(() => [made, made])).toHaveLength(2);
  expect(run(() => null)).toEqual([]);
  expect(run(() => [])).toEqual([]);
  const rejected = (reason: string) => [{ rejection: { place: 'p', reason } }];
  const fail = (error: Error) => () => {
    throw error;
  };
  expect(run(fail(new RecordError('too odd')))).toEqual(rejected('too odd'));
  expect(run(fail(new TypeError('x is not a function')))).toEqual(rejected('the record does not have the expected shape'));
  expect(run(() => [observation({ place: 'p', tool: 't', title: required('', 'title'), severity: 'low' })])).toEqual(rejected('title is missing'));
  expect(required('x', 'title')).toBe('x');
});
