import { observation } from '@rrs/scan-reports/normalize.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterBody } from '../schemas-bulk.ts';
import { splitWords, wordsOf } from '../words.ts';
import { hasPrefix, idsIn, type Match, searchFor } from './search.ts';

/** Matches like the index, without aliases. */
function matches(match: Match, stored: readonly string[]): boolean {
  if ('any' in match) return match.any.some((one) => matches(one, stored));
  if ('all' in match) return match.all.every((one) => matches(one, stored));
  if ('id' in match) return stored.includes(`v:${match.id}`);
  return stored.some((word) => word === match.word || (match.prefix === true && word.startsWith(match.word)));
}
const finds = (query: string, text: readonly string[]): boolean =>
  matches(
    searchFor(query),
    text.map((word) => `w:${word}`),
  );

it.each([
  ['openssl', true],
  ['CVE-2022-0778 openssl', true],
  ['CVE-2022-0778', false],
  ['CWE-79', false],
  ['pkg:npm/lodash@4.17.15', false],
  ['pkg://npm/lodash@4.17.15', false],
])('whether a search for "%s" also finds longer words: %s', (query, finds) => {
  expect(hasPrefix(searchFor(query))).toBe(finds);
});

describe('a search', () => {
  const title = 'log4j-core: RCE in https://git.example.com/shop and registry.example.com/team/app:1.4';
  it.each([
    'log4j-core',
    'LOG4J',
    'core:',
    'git.example.com',
    'registry.example.com',
    'example.com/shop',
    'app:1.4',
    'app:1',
    'rce log4j-core',
    'git.example.com/',
    'log4',
    'regist',
    'git.exam',
    'exam',
    'a log4j-core',
  ])('for %j finds it', (query) => {
    expect(finds(query, splitWords(title))).toBe(true);
  });

  it.each(['log4j-api', 'git.example.org', 'log4j-core xss', 'x'.repeat(150), 'app:1.5', 'app:2', 'app:x', 'lo', 'og4j', 'core.log4j.x'])(
    'for %j does not',
    (query) => {
      expect(finds(query, splitWords(title))).toBe(false);
    },
  );

  it('takes the end of a host name for what it is, and not for the beginning of a longer one', () => {
    const url = splitWords('https://git.example.company/shop');
    expect(['git.example.company', 'git.exam', 'git.example.comp', 'git.example.com'].map((query) => finds(query, url))).toEqual([true, true, true, false]);
  });

  it('finds the beginning of a longer name in the middle of another', () => {
    expect(finds('service-api-gate', splitWords('shop-service-api-gateway'))).toBe(true);
  });

  it('finds a word that was stored with a trailing separator', () => {
    expect(finds('log4j-core', ['log4j-core:', 'log4j', 'core'])).toBe(true);
  });

  it('finds a text by any sequence of its words', () => {
    const text = fc.array(fc.stringMatching(/^[a-zé0-9]{2,8}([._@/:-]{1,2}[a-zé0-9]{1,8}){0,3}[:./]?$/), { minLength: 1, maxLength: 6 });
    fc.assert(fc.property(text, fc.nat(), (words, at) => finds(words.slice(at % words.length).join(' '), splitWords(words.join(' ')))));
  });

  it('without a word finds nothing, and the schema rejects most of them', () => {
    const { pattern } = FilterBody.properties.q as unknown as { pattern: string };
    const wordless = fc.oneof(fc.stringMatching(/^[!&|:./ -]{0,9}$/), fc.constantFrom('a', 'c: d', 'x.', 'ä/'));
    fc.assert(fc.property(wordless, (query) => !finds(query, splitWords(title)) && !new RegExp(pattern, 'u').test(query)));
    expect(finds('\u0130\u0130', splitWords(title))).toBe(false);
    expect(['c-d', 'go', 'äö', ' 42 '].every((query) => new RegExp(pattern, 'u').test(query))).toBe(true);
  });
});

describe('a search for what a scanner reports', () => {
  const django = {
    ...observation({ place: '1', tool: 'trivy', title: 'SQL injection in the admin', severity: 'high' }),
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-aaaa-bbbb-cccc'],
    cwes: [79],
    rule: 'KSV014',
    location: { component: 'Django', version: '2.0.1', path: 'srv/app/requirements.txt' },
  };
  const log4j = { ...django, location: { component: 'org.apache.logging.log4j:log4j-core', version: '2.14.1' } };
  const openssl = { ...django, location: { component: 'libssl1.1', source_package: 'openssl', version: '1.1.1k-r0' } };

  it.each([
    ['Django:2.0', [django]],
    ['django@2.0.1', [django]],
    ['django 2', [django]],
    ['django 2.0.11', []],
    ['django 2.01', []],
    ['sql inject', [django, log4j, openssl]],
    ['openssl 1.1.1k', [openssl]],
    ['openssl 1:1.1.1k', [openssl]],
    ['openssl 3', []],
    ['openss', [openssl]],
    ['KSV014 2.0', [django]],
    ['srv/app', [django]],
    ['requirements.txt', [django]],
    ['requirements', [django]],
    ['app', [django]],
    ['app/requirements.txt', [django]],
    ['srv/requirements.txt', [django]],
    ['app/require', [django]],
    ['pp/requirements.txt', []],
    ['CWE-79 log4', [log4j]],
    ['CWE-798', []],
    ['CVE-2021-44228', [django, log4j, openssl]],
    ['CVE-2021-4422', []],
    ['cve-2021-4', [django, log4j, openssl]],
    ['44228', [django, log4j, openssl]],
    ['ghsa-AAAA-bbbb-cccc openssl', [openssl]],
    ['pkg:pypi/django@2.0.1', [django]],
    ['pkg:pypi/django@2.0.2', []],
    ['pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?type=jar', [log4j]],
    ['pkg:maven/org.apache.logging.log4j/log4j-core', [log4j]],
    ['pkg:maven/org.other/log4j-core', []],
    ['pkg:deb/debian/openssl', [openssl]],
  ])('for %j', (query, found) => {
    expect([django, log4j, openssl].filter((one) => matches(searchFor(query), wordsOf(one, 'shop')))).toEqual(found);
  });

  it.each(['zqjava', 'zqmain/zqjava', 'src/zqmain', 'App.py', 'app', 'audit', 'security.audit', 'SECURITY', 'dangerous-sub', 'audit.dangerous'])(
    'for %j finds the parts of a path and a rule',
    (query) => {
      const found = {
        ...django,
        title: 'Command injection',
        rule: 'python.lang.security.audit.dangerous-subprocess-use',
        location: { path: 'src/zqmain/zqjava/App.py', line: 3 },
      };
      expect(matches(searchFor(query), wordsOf(found, 'shop'))).toBe(true);
    },
  );

  it('names the ids whose aliases count as well', () => {
    expect(idsIn(searchFor('shop GHSA-aaaa-bbbb-cccc SNYK-JS-LODASH-1 openssl'))).toEqual(['ghsa-aaaa-bbbb-cccc', 'snyk-js-lodash-1']);
  });
});
