import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { useImports } from '../testing/findings/imports.ts';
import { RISK_MODEL, type RiskInputs, riskFactors, riskOf, riskSql } from './risk.ts';

const engine = useImports();

const CRITICALITY = ['low', 'medium', 'high', 'critical'] as const;
const EXPOSURE = ['internal', 'unknown', 'internet'] as const;
/** In the precision in which they are published: CVSS with one decimal, EPSS with five. */
const inputs: fc.Arbitrary<Required<RiskInputs>> = fc.record({
  severity: fc.integer({ min: 0, max: 5 }),
  cvss_score: fc.option(fc.integer({ min: 0, max: 100 }).map((tenths) => tenths / 10)),
  epss: fc.option(
    fc.oneof(
      fc.constant(1),
      fc.integer({ min: 0, max: 100_000 }).map((parts) => parts / 100_000),
    ),
  ),
  kev: fc.boolean(),
  malicious: fc.boolean(),
  criticality: fc.constantFrom(...CRITICALITY),
  exposure: fc.constantFrom(...EXPOSURE),
});
const HIGH = 4;
const scoreOf = (one: RiskInputs): number => riskOf(one).score;
const harmless = inputs.map((one) => ({ ...one, kev: false, malicious: false }));

describe('the risk score', () => {
  it('is the same in SQL and in the explanation', async () => {
    const all = fc.sample(inputs, 4_000);
    const { rows } = await engine.db().withSystem((tx) =>
      sql<{ score: number }>`
        select ${riskSql('f', 'f')}::real as score
        from jsonb_to_recordset(${JSON.stringify(all.map((one, n) => ({ ...one, n })))}::jsonb)
          as f (severity smallint, cvss_score real, epss real, kev boolean, malicious boolean, criticality text, exposure text, n integer)
        order by n`.execute(tx),
    );
    expect(rows.map(({ score }) => score)).toEqual(all.map(scoreOf));
  });

  it('is between 0 and 100 and can be recomputed from its factors', () => {
    fc.assert(
      fc.property(inputs, (one) => {
        const { score, factors } = riskOf(one);
        expect(score >= 0 && score <= 100).toBe(true);
        expect(factors.map(({ name }) => name)).toEqual([...riskFactors]);
        expect(factors.reduce((sum, { points }) => sum + points, 0)).toBeCloseTo(score, 5);
        for (const { value, weight, points } of factors) {
          expect(value >= 0 && value <= 1).toBe(true);
          expect(Math.abs(value * weight - points)).toBeLessThanOrEqual(0.05 + 1e-6);
        }
      }),
    );
    const worst = { severity: 5, cvss_score: 10, epss: 1, kev: true, criticality: 'critical', exposure: 'internet' } as const;
    expect(scoreOf(worst)).toBe(100);
  });

  it('states the source and date of its inputs', () => {
    const one = { severity: 4, cvss_score: 8.1, epss: 0.3, kev: true, criticality: 'high', exposure: 'internet' } as const;
    const exploited = { exploited_source: 'CISA KEV', exploited_date: '2026.11.13' } as const;
    const origin = { epss_date: '2026-11-14', ...exploited, cvss_version: '3.1', cvss_source: 'enrichment', severity_override: null } as const;
    expect(riskOf(one, origin).factors).toMatchObject([
      { input: 'high, CVSS 8.1', source: 'report, CVSS 3.1 from enrichment', date: null },
      { input: 'EPSS 0.3', source: 'EPSS', date: '2026-11-14' },
      { input: 'known to be exploited', source: 'CISA KEV', date: '2026.11.13' },
      { input: 'high', source: 'asset' },
      { input: 'internet', source: 'asset' },
    ]);
    const unknown = { severity: 0, cvss_score: null, epss: null, kev: false, malicious: true, criticality: 'low', exposure: 'internal' } as const;
    expect(riskOf(unknown, { severity_override: 0 }).factors.slice(0, 3)).toMatchObject([
      { input: 'unknown, counted as critical', source: 'person' },
      { input: 'no EPSS score', source: null, date: null },
      { input: 'malicious package', source: 'report', date: null },
    ]);
  });
});

describe('the ranking', () => {
  it('puts what is exploited above everything that nobody exploits on an equally exposed asset', () => {
    fc.assert(
      fc.property(inputs, harmless, fc.constantFrom('kev', 'malicious'), (one, other, reason) => {
        expect(scoreOf({ ...one, [reason]: true })).toBeGreaterThan(scoreOf({ ...other, exposure: one.exposure }));
      }),
      { numRuns: 2_000 },
    );
    const least = { severity: 1, cvss_score: 0, epss: null, kev: true, criticality: 'low' } as const;
    const most = { severity: 5, cvss_score: 10, epss: 1, kev: false, criticality: 'critical' } as const;
    for (const exposure of EXPOSURE) expect(scoreOf({ ...least, exposure })).toBeGreaterThan(scoreOf({ ...most, exposure }));
  });

  it('takes a malicious package for critical, whatever its severity', () => {
    fc.assert(
      fc.property(inputs, (one) => {
        expect(scoreOf({ ...one, malicious: true })).toBe(scoreOf({ ...one, malicious: true, severity: 5 }));
        expect(scoreOf({ ...one, malicious: true })).toBeGreaterThanOrEqual(scoreOf({ ...one, malicious: false, kev: true, severity: 5 }));
      }),
    );
  });

  it('never puts an unknown severity above a high one on the same asset, unless it is exploited', () => {
    fc.assert(
      fc.property(harmless, inputs, fc.integer({ min: HIGH, max: 5 }), (unknown, other, severity) => {
        const known = { ...other, severity, criticality: unknown.criticality, exposure: unknown.exposure };
        expect(scoreOf({ ...unknown, severity: 0 })).toBeLessThan(scoreOf(known));
      }),
      { numRuns: 2_000 },
    );
    const asset = { criticality: 'critical', exposure: 'internet', kev: false } as const;
    const unknown = { severity: 0, cvss_score: 10, epss: 1, ...asset };
    const high = { severity: HIGH, cvss_score: 0, epss: null, ...asset };
    expect(scoreOf(unknown)).toBeLessThan(scoreOf(high));
    expect(scoreOf({ ...unknown, kev: true })).toBeGreaterThan(scoreOf(high));
  });

  const more: readonly [string, (one: RiskInputs) => RiskInputs][] = [
    ['severity', (one) => ({ ...one, severity: Math.min(5, one.severity + 1) })],
    ['CVSS score', (one) => ({ ...one, cvss_score: one.cvss_score === null ? null : Math.min(10, one.cvss_score + 1) })],
    ['EPSS', (one) => ({ ...one, epss: Math.min(1, (one.epss ?? 0) + 0.1) })],
    ['known exploitation', (one) => ({ ...one, kev: true })],
    ['malice', (one) => ({ ...one, malicious: true })],
    ['criticality', (one) => ({ ...one, criticality: CRITICALITY[CRITICALITY.indexOf(one.criticality) + 1] ?? 'critical' })],
    ['exposure', (one) => ({ ...one, exposure: EXPOSURE[EXPOSURE.indexOf(one.exposure) + 1] ?? 'internet' })],
  ];
  it.each(more)('never falls with more %s', (name, raise) => {
    fc.assert(
      fc.property(inputs, (one) => {
        // An unknown severity is not the lowest one.
        const base = name === 'severity' ? { ...one, severity: Math.max(1, one.severity) } : one;
        expect(scoreOf(raise(base))).toBeGreaterThanOrEqual(scoreOf(base));
      }),
    );
  });
});

describe('docs/risk.md', () => {
  const text = readFileSync(new URL('../../../docs/risk.md', import.meta.url), 'utf8');
  const [section = ''] = /## Worked example[\s\S]*?(?=\n## |$)/.exec(text) ?? [];
  const tables = [...section.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll(/[`*]/g, '')),
      ),
  );
  const example = { severity: 4, cvss_score: 8.1, epss: 0.3, criticality: 'high', exposure: 'internet' } as const;

  it('names the model', () => {
    expect(text).toContain(`\`${RISK_MODEL}\``);
  });

  it.each([
    ['before', false, 0],
    ['after', true, 1],
  ] as const)('has the score of its example %s CISA lists the vulnerability', (_, kev, index) => {
    const { score, factors } = riskOf({ ...example, kev });
    const rows = factors.map(({ name, value, weight, points }) => [name, String(value), String(weight), points.toFixed(1)]);
    expect(tables[index]).toEqual([...rows, ['score', '', '', score.toFixed(1)]]);
  });
});
