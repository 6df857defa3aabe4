import { type RawBuilder, sql } from 'kysely';

/** The risk score is the sum of the points of each factor, at most 100. It is implemented twice, in JavaScript and in SQL. A test compares the two. */
export const RISK_MODEL = 'rrs-1';

export interface RiskInputs {
  /** From 0 (unknown) to 5 (critical). */
  severity: number;
  cvss_score: number | null;
  epss: number | null;
  kev: boolean;
  criticality: 'low' | 'medium' | 'high' | 'critical';
  exposure: 'internet' | 'internal' | 'unknown';
}

export interface RiskFactor {
  name: 'base' | 'exploitation_likelihood' | 'known_exploited' | 'asset_criticality' | 'asset_exposure';
  /** The input value as text. */
  input: string;
  points: number;
  max: number;
}

const MAX = { base: 50, exploitation_likelihood: 15, known_exploited: 15, asset_criticality: 10, asset_exposure: 10 } as const;
/** Used if there is no CVSS score: the middle of the severity's score range. */
const SCORE_OF_SEVERITY = [4, 0.5, 2.5, 5.5, 8, 9.5] as const;
const CRITICALITY = { low: 0, medium: 4, high: 7, critical: 10 } as const;
const EXPOSURE = { internal: 0, unknown: 4, internet: 10 } as const;

export function riskOf(inputs: RiskInputs): { score: number; factors: RiskFactor[] } {
  const { severity, cvss_score, epss, kev, criticality, exposure } = inputs;
  const stated = SCORE_OF_SEVERITY[severity] ?? 4;
  const base = cvss_score === null ? stated : (cvss_score + stated) / 2;
  const factors: RiskFactor[] = [
    {
      name: 'base',
      input: cvss_score === null ? `severity ${severity} of 5` : `severity ${severity} of 5 and CVSS ${cvss_score}`,
      points: base * 5,
      max: MAX.base,
    },
    {
      name: 'exploitation_likelihood',
      input: epss === null ? 'no EPSS' : `EPSS ${epss}`,
      points: (epss ?? 0) * MAX.exploitation_likelihood,
      max: MAX.exploitation_likelihood,
    },
    {
      name: 'known_exploited',
      input: kev ? 'in the KEV catalogue' : 'not in the KEV catalogue',
      points: kev ? MAX.known_exploited : 0,
      max: MAX.known_exploited,
    },
    { name: 'asset_criticality', input: criticality, points: CRITICALITY[criticality], max: MAX.asset_criticality },
    { name: 'asset_exposure', input: exposure, points: EXPOSURE[exposure], max: MAX.asset_exposure },
  ];
  const rounded = factors.map((factor) => ({ ...factor, points: tenth(factor.points) }));
  return { score: tenth(rounded.reduce((sum, { points }) => sum + points, 0)), factors: rounded };
}

function tenth(points: number): number {
  return Math.round(points * 10 + 1e-6) / 10;
}

/** The same calculation in SQL. The parameters are the table aliases of the finding, or of a staged row, and of its asset. */
export function riskSql(finding: string, asset: string): RawBuilder<number> {
  const column = (table: string, name: string) => sql.ref(`${table}.${name}`);
  const stated = sql`(array[4, 0.5, 2.5, 5.5, 8, 9.5])[${column(finding, 'severity')} + 1]::numeric`;
  const cvss = sql`${column(finding, 'cvss_score')}::numeric`;
  const epss = sql`coalesce(${column(finding, 'epss')}, 0)::numeric`;
  const criticality = sql`case ${column(asset, 'criticality')} when 'low' then 0 when 'medium' then 4 when 'high' then 7 else 10 end`;
  const exposure = sql`case ${column(asset, 'exposure')} when 'internal' then 0 when 'unknown' then 4 else 10 end`;
  return sql<number>`(
    round(coalesce((${cvss} + ${stated}) / 2, ${stated}) * 5, 1) + round(${epss} * 15, 1)
    + case when ${column(finding, 'kev')} then 15 else 0 end + ${criticality} + ${exposure})`;
}
