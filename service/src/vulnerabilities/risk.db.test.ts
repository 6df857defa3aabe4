import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { useImports } from '../testing/findings/imports.ts';
import { type RiskInputs, riskOf, riskSql } from './risk.ts';

const engine = useImports();

const CRITICALITY = ['low', 'medium', 'high', 'critical'] as const;
const EXPOSURE = ['internal', 'unknown', 'internet'] as const;
/** In the precision in which they are published: CVSS with one decimal, EPSS with five. */
const inputs: fc.Arbitrary<RiskInputs> = fc.record({
  severity: fc.integer({ min: 0, max: 5 }),
  cvss_score: fc.option(fc.integer({ min: 0, max: 100 }).map((tenths) => tenths / 10)),
  epss: fc.option(fc.integer({ min: 0, max: 100_000 }).map((parts) => parts / 100_000)),
  kev: fc.boolean(),
  criticality: fc.constantFrom(...CRITICALITY),
  exposure: fc.constantFrom(...EXPOSURE),
});

describe('the risk score', () => {
  it('is the same in SQL and in the explanation', async () => {
    const all = fc.sample(inputs, 2_000);
    const { rows } = await engine.db().withSystem((tx) =>
      sql<{ score: number }>`
        select ${riskSql('f', 'f')}::real as score
        from jsonb_to_recordset(${JSON.stringify(all.map((one, n) => ({ ...one, n })))}::jsonb) as f (severity smallint, cvss_score real, epss real, kev boolean, criticality text, exposure text, n integer)
        order by n`.execute(tx),
    );
    expect(rows.map(({ score }) => score)).toEqual(all.map((one) => riskOf(one).score));
  });

  it('is between 0 and 100, is the sum of its factors, and no factor exceeds its maximum', () => {
    fc.assert(
      fc.property(inputs, (one) => {
        const { score, factors } = riskOf(one);
        expect(score >= 0 && score <= 100).toBe(true);
        expect(factors.reduce((sum, { points }) => sum + points, 0)).toBeCloseTo(score, 5);
        for (const { points, max } of factors) expect(points >= 0 && points <= max).toBe(true);
        expect(factors.reduce((sum, { max }) => sum + max, 0)).toBe(100);
      }),
    );
    const worst = { severity: 5, cvss_score: 10, epss: 1, kev: true, criticality: 'critical', exposure: 'internet' } as const;
    expect(riskOf(worst).score).toBeGreaterThan(98);
  });

  const more: readonly [string, (one: RiskInputs) => RiskInputs][] = [
    ['severity', (one) => ({ ...one, severity: Math.min(5, Math.max(1, one.severity) + 1) })],
    ['CVSS score', (one) => ({ ...one, cvss_score: one.cvss_score === null ? null : Math.min(10, one.cvss_score + 1) })],
    ['EPSS', (one) => ({ ...one, epss: Math.min(1, (one.epss ?? 0) + 0.1) })],
    ['known exploitation', (one) => ({ ...one, kev: true })],
    ['criticality', (one) => ({ ...one, criticality: CRITICALITY[CRITICALITY.indexOf(one.criticality) + 1] ?? 'critical' })],
    ['exposure', (one) => ({ ...one, exposure: EXPOSURE[EXPOSURE.indexOf(one.exposure) + 1] ?? 'internet' })],
  ];
  it.each(more)('never decreases with more %s', (name, raise) => {
    fc.assert(
      fc.property(inputs, (one) => {
        const base = name === 'severity' ? { ...one, severity: Math.max(1, one.severity) } : one;
        expect(riskOf(raise(base)).score).toBeGreaterThanOrEqual(riskOf(base).score);
      }),
    );
  });
});
