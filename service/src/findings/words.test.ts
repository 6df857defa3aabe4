import { observation } from '@rrs/scan-reports/normalize.ts';
import { describe, expect, it } from 'vitest';
import { splitWords, wordsOf } from './words.ts';

describe('the words of a text', () => {
  it.each([
    ['log4j-core: RCE', ['log4j-core', 'rce', 'log4j', 'core']],
    ['https://git.example.com/shop/', ['https://git.example.com/shop', 'https', 'git', 'example', 'com', 'shop']],
    ['(see openssl.)', ['see', 'openssl']],
    ['c-ares -- a resolver', ['c-ares', 'resolver', 'ares']],
    ['team/c-ares', ['team/c-ares', 'team', 'c-ares', 'ares']],
    ['app:1.4', ['app:1.4', 'app', '1.4']],
    ['Größe: größe-klein/', ['größe', 'größe-klein', 'klein']],
    ['!&|', []],
  ])('of %j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });
});

describe('the words of a finding', () => {
  const found = { ...observation({ place: '1', tool: 'semgrep', title: 'Use of eval', severity: 'high' }) };
  const words = (given: Partial<typeof found>) =>
    wordsOf({ ...found, ...given }, 'shop').filter((word) => !['w:use', 'w:of', 'w:eval', 'w:shop'].includes(word));

  it.each([
    [{ vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'] }, ['v:cve-2021-44228', 'w:44228', 'v:ghsa-jfh8-c2jp-5v3q']],
    [{ cwes: [79], tags: ['PCI'] }, ['k:79', 't:pci']],
    [{ location: { path: './Src/auth/Login.ts' } }, ['w:src/auth/login.ts', 'w:login.ts', 'w:src', 'w:auth']],
    [{ location: { path: 'C:\\work\\src\\a b.ts' } }, ['w:work/src/a', 'w:b.ts', 'w:work', 'w:src']],
    [{ location: { path: 'my app/1/x/src.d/a-b.c' } }, ['w:my', 'w:app/1/x/src.d/a-b.c', 'w:a-b.c', 'w:app', 'w:src.d']],
    [{ location: { path: 'pom.xml' } }, ['w:pom.xml']],
    [{ rule: 'javascript.lang.eval-detected' }, ['w:javascript.lang.eval-detected', 'w:eval-detected', 'w:javascript', 'w:lang']],
    [{ rule: 'CKV_AWS_1' }, ['w:ckv_aws_1']],
    [{ rule: 'java:S2068' }, ['w:java:s2068', 'w:s2068', 'w:java']],
    [{ rule: 'py/sql-injection' }, ['w:py/sql-injection', 'w:sql-injection', 'w:py']],
    [{ rule: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', tool: 'manual' }, []],
    [{ location: { version: '1:1.1.1k-7+deb11' } }, ['w:1.1.1k-7', 'w:deb11']],
    [{ location: { version: '3' } }, ['w:3']],
    [{ location: { component: 'libssl1.1', source_package: 'openssl' } }, ['w:openssl', 'w:libssl1.1', 'w:libssl1']],
  ])('with %j', (given, expected) => {
    expect(words(given)).toEqual(expected);
  });

  it('keep a long path short enough for the index', () => {
    expect(Math.max(...words({ location: { path: `src/${'long-folder/'.repeat(50)}a.ts` } }).map(({ length }) => length))).toBeLessThanOrEqual(102);
  });

  it('have the nearest folders of a deep path, and the last parts of a long rule', () => {
    const path = words({ location: { path: `${Array.from({ length: 20 }, (_, n) => `folder${n}`).join('/')}/a.ts` } });
    expect(path.slice(2)).toEqual(Array.from({ length: 5 }, (_, n) => `w:folder${n + 15}`));
    expect(words({ rule: Array.from({ length: 20 }, (_, n) => `part${n}`).join('.') })).toHaveLength(7);
  });

  it('keep what identifies the finding, however long the title is', () => {
    const title = Array.from({ length: 200 }, (_, n) => `word${n}`).join(' ');
    expect(words({ title, rule: 'KSV014', location: { component: 'log4j-core', path: 'a/b.jar', version: '2.14' } })).toEqual(
      expect.arrayContaining(['w:ksv014', 'w:log4j-core', 'w:a/b.jar', 'w:2.14']),
    );
  });
});
