import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bestRating, scoreVector } from './cvss.ts';

/** Scores as published by NVD and in the documents and examples of FIRST. */
const PUBLISHED: readonly [string, string, number, string][] = [
  ['the middle of CVSS 2', 'AV:N/AC:L/Au:N/C:P/I:P/A:P', 7.5, '2.0'],
  ['CVE-2002-0392', 'AV:N/AC:L/Au:N/C:N/I:N/A:C', 7.8, '2.0'],
  ['CVE-2003-0818', 'AV:N/AC:L/Au:N/C:C/I:C/A:C', 10, '2.0'],
  ['CVE-2003-0062', 'AV:L/AC:H/Au:N/C:C/I:C/A:C', 6.2, '2.0'],
  ['CVE-2021-44228', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 10, '3.1'],
  ['CVE-2014-0160', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', 7.5, '3.1'],
  ['CVE-2017-0144', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', 9.8, '3.1'],
  ['CVE-2013-1937', 'CVSS:3.0/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', 6.1, '3.0'],
  ['CVE-2013-0375', 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N', 6.4, '3.1'],
  ['CVE-2014-3566', 'CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N', 3.1, '3.1'],
  ['CVE-2012-1516', 'CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:H/A:H', 9.9, '3.1'],
  ['no impact', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 0, '3.1'],
  ['the base score whatever else is stated', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/RL:O/RC:U', 9.8, '3.1'],
  ['the worst of CVSS 4', 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H', 10, '4.0'],
  ['CVE-2021-44228 in 4.0', 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H', 10, '4.0'],
  ['CVE-2022-41741', 'CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 7.3, '4.0'],
  ['CVE-2020-3549', 'CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:P/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 7.7, '4.0'],
  ['CVE-2014-0160 in 4.0', 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N', 8.7, '4.0'],
  ['CVE-2023-3089', 'CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:L/VA:L/SC:N/SI:N/SA:N', 8.3, '4.0'],
  ['CVE-2022-21830', 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:A/VC:N/VI:N/VA:N/SC:L/SI:L/SA:N', 5.1, '4.0'],
  ['CVE-2022-22187', 'CVSS:4.0/AV:L/AC:L/AT:N/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 8.5, '4.0'],
  ['CVE-2023-21989', 'CVSS:4.0/AV:L/AC:L/AT:N/PR:H/UI:N/VC:N/VI:N/VA:N/SC:H/SI:N/SA:N', 5.9, '4.0'],
  ['CVE-2022-22186', 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:L/VI:L/VA:N/SC:N/SI:N/SA:N', 6.9, '4.0'],
];

const GARBAGE = [
  '',
  'CVSS',
  'CVSS:3.1/',
  'CVSS:3.1/AV:N',
  'CVSS:3.1/AV:X/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H',
  'CVSS:9.9/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
  'CVSS:4.0/AV:N/AC:L',
  'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H',
  'AV:N/AC:L/Au:N',
  'AV:N/AC:L/Au:N/C:P/I:P',
  'AV:N/AC:L/Au:N/C:X/I:P/A:P',
  '7.5',
  '__proto__',
];

describe('a CVSS vector', () => {
  it.each(PUBLISHED)('%s', (_, vector, score, version) => {
    expect(scoreVector(vector)).toEqual({ vector, score, version });
  });

  it('can be enclosed in parentheses, as in older reports, and in spaces', () => {
    expect(scoreVector('(AV:N/AC:L/Au:N/C:P/I:P/A:P)')).toMatchObject({ score: 7.5, version: '2.0' });
    expect(scoreVector(' CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N\n')).toMatchObject({
      score: 7.5,
      vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N',
    });
  });

  it.each(GARBAGE)('%j is not a vector', (vector) => {
    expect(scoreVector(vector)).toBeNull();
    expect(scoreVector(vector)).toBeNull();
  });

  it('of any kind has a score from 0 to 10 or none', () => {
    const pieces = fc.constantFrom(
      'CVSS:3.1',
      'CVSS:4.0',
      'CVSS:3.0',
      'AV:N',
      'AC:L',
      'PR:N',
      'UI:N',
      'S:U',
      'S:C',
      'C:H',
      'I:H',
      'A:N',
      'Au:N',
      'AT:N',
      'VC:H',
      'E:X',
      'x',
      '',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (parts) => {
        const score = scoreVector(parts.join('/'))?.score ?? 0;
        expect(score >= 0 && score <= 10).toBe(true);
      }),
    );
  });
});

describe('among several vectors', () => {
  const all = PUBLISHED.map(([, vector]) => ({ vector }));

  it('the newest version wins, then the highest score', () => {
    expect(bestRating([{ vector: 'AV:N/AC:L/Au:N/C:C/I:C/A:C' }, { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' }])).toMatchObject({
      version: '3.1',
      score: 7.5,
    });
    expect(bestRating(all)).toMatchObject({ version: '4.0', score: 10 });
    expect(bestRating([{ vector: 'nonsense' }])).toBeNull();
  });

  it('the order does not matter', () => {
    fc.assert(
      fc.property(
        fc.subarray(all, { minLength: 1 }).chain((some) => fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length }))),
        ([some, shuffled]) => {
          expect(bestRating(shuffled)).toEqual(bestRating(some));
        },
      ),
    );
  });
});
