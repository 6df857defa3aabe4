import { type RawBuilder, sql } from 'kysely';

/**
 * The risk score is the sum of the points of each factor, at most 100. docs/risk.md explains it. It is implemented twice, in JavaScript and in SQL. A test
 * compares the two.
 */
export const RISK_MODEL = 'rrs-2';

export interface RiskInputs {
  /** From 0 (unknown) to 5 (critical). */
  severity: number;
  cvss_score: number | null;
  epss: number | null;
  kev: boolean;
  /** Whether the component itself is malicious. */
  malicious?: boolean;
  criticality: 'low' | 'medium' | 'high' | 'critical';
  exposure: 'internet' | 'internal' | 'unknown';
}

/** Where the inputs come from. */
export interface RiskOrigin {
  epss_date?: string | null;
  /** Who knows that the vulnerability is exploited, and the version or date of that. */
  exploited_source?: 'CISA KEV' | 'CISA SSVC' | 'report';
  exploited_date?: string | null;
  cvss_version?: string | null;
  /** Whether the CVSS score comes from the report or from enrichment. */
  cvss_source?: 'report' | 'enrichment' | null;
  /** Set if a person chose the severity. */
  severity_override?: number | null;
}

export const riskFactors = ['severity', 'exploitation_likelihood', 'known_exploited', 'asset_criticality', 'asset_exposure'] as const;

export interface RiskFactor {
  name: (typeof riskFactors)[number];
  /** The input as text. */
  input: string;
  /** From 0 to 1. */
  value: number;
  /** Most points that the factor can add. */
  weight: number;
  /** Value times weight, rounded to one decimal. */
  points: number;
  source: string | null;
  /** Date or version of the source. */
  date: string | null;
}

type Weights = Readonly<Record<RiskFactor['name'], number>>;
const WEIGHTS: Weights = { severity: 50, exploitation_likelihood: 15, known_exploited: 75, asset_criticality: 10, asset_exposure: 10 };
/** Exploitation alone weighs as much as everything else about a finding that nobody exploits, except for the exposure of its asset. */
const EXPLOITED_WEIGHTS: Weights = { severity: 10, exploitation_likelihood: 3, known_exploited: 75, asset_criticality: 2, asset_exposure: 10 };

/** By severity, from unknown to critical: the score without CVSS, and the limits within which a CVSS score counts. */
const SCORE = [4, 0.5, 2.5, 5.5, 8, 9.5] as const;
const LOWEST = [0.5, 0.5, 0.5, 4, 7, 9] as const;
const HIGHEST = [10, 0.5, 3.9, 6.9, 8.9, 10] as const;
const CRITICAL = 5;
/** The lowest high severity has 35 points. Severity and likelihood together stay below it while the severity is unknown. */
const UNKNOWN_LIMIT = 34.9;
const CRITICALITY = { low: 0, medium: 0.4, high: 0.7, critical: 1 } as const;
const EXPOSURE = { internal: 0, unknown: 0.4, internet: 1 } as const;
const SEVERITY_NAMES = ['unknown', 'info', 'low', 'medium', 'high', 'critical'] as const;

export function riskOf(inputs: RiskInputs, origin: RiskOrigin = {}): { score: number; factors: RiskFactor[] } {
  const { epss, kev, malicious = false, criticality, exposure } = inputs;
  const weights = kev || malicious ? EXPLOITED_WEIGHTS : WEIGHTS;
  const factor = (name: RiskFactor['name'], value: number, rest: Pick<RiskFactor, 'input'> & Partial<RiskFactor>): RiskFactor => ({
    name,
    value: shown(value),
    weight: weights[name],
    points: tenth(value * weights[name]),
    source: null,
    date: null,
    ...rest,
  });
  const likelihood = factor('exploitation_likelihood', epss ?? 0, {
    input: epss === null ? 'no EPSS score' : `EPSS ${epss}`,
    ...(epss === null ? {} : { source: 'EPSS', date: origin.epss_date ?? null }),
  });
  const factors = [
    severityFactor(inputs, origin, factor, likelihood.points),
    likelihood,
    factor('known_exploited', kev || malicious ? 1 : 0, {
      input: malicious ? 'malicious package' : kev ? 'known to be exploited' : 'not known to be exploited',
      ...(malicious ? { source: 'report' } : kev ? { source: origin.exploited_source ?? null, date: origin.exploited_date ?? null } : {}),
    }),
    factor('asset_criticality', CRITICALITY[criticality], { input: criticality, source: 'asset' }),
    factor('asset_exposure', EXPOSURE[exposure], { input: exposure, source: 'asset' }),
  ];
  return { score: tenth(factors.reduce((sum, { points }) => sum + points, 0)), factors };
}

type MakeFactor = (name: RiskFactor['name'], value: number, rest: Pick<RiskFactor, 'input'> & Partial<RiskFactor>) => RiskFactor;

function severityFactor({ severity, cvss_score, kev, malicious = false }: RiskInputs, origin: RiskOrigin, factor: MakeFactor, likelihood: number): RiskFactor {
  const counted = malicious ? CRITICAL : severity;
  const score = Math.min(HIGHEST[counted] ?? 10, Math.max(LOWEST[counted] ?? 0.5, cvss_score ?? SCORE[counted] ?? 4));
  const stated = [SEVERITY_NAMES[severity] ?? 'unknown', ...(malicious ? ['counted as critical'] : []), ...(cvss_score === null ? [] : [`CVSS ${cvss_score}`])];
  const chosen = origin.severity_override === null || origin.severity_override === undefined ? 'report' : 'person';
  const made = factor('severity', score / 10, {
    input: stated.join(', '),
    source: [chosen, cvssSource(cvss_score, origin)].filter(Boolean).join(', '),
  });
  if (counted !== 0 || kev || malicious) return made;
  const points = tenth(Math.min(made.points, UNKNOWN_LIMIT - likelihood));
  return { ...made, value: shown(points / made.weight), points };
}

function cvssSource(score: number | null, { cvss_version, cvss_source }: RiskOrigin): string | undefined {
  if (score === null) return undefined;
  const name = cvss_version ? `CVSS ${cvss_version}` : 'CVSS';
  return cvss_source ? `${name} from ${cvss_source}` : name;
}

/** EPSS scores have five decimals. */
function shown(value: number): number {
  return Math.round(value * 100_000) / 100_000;
}

function tenth(points: number): number {
  return Math.round(points * 10 + 1e-6) / 10;
}

/**
 * The same calculation in SQL. The parameters are the table aliases of the finding, or of a staged row, and of its asset, and whether the component is
 * malicious.
 */
export function riskSql(finding: string, asset: string): RawBuilder<number> {
  const column = (table: string, name: string) => sql.ref(`${table}.${name}`);
  const malicious = column(finding, 'malicious');
  const severity = sql`(case when ${malicious} then 5 else ${column(finding, 'severity')} end + 1)`;
  const bySeverity = (values: readonly number[]) => sql`(${sql.raw(`array[${values.join(', ')}]::numeric[]`)})[${severity}]`;
  const cvss = sql`coalesce(${column(finding, 'cvss_score')}::numeric, ${bySeverity(SCORE)})`;
  const score = sql`least(${bySeverity(HIGHEST)}, greatest(${bySeverity(LOWEST)}, ${cvss}))`;
  const epss = sql`coalesce(${column(finding, 'epss')}, 0)::numeric`;
  const criticality = sql`case ${column(asset, 'criticality')} when 'low' then 0 when 'medium' then 4 when 'high' then 7 else 10 end`;
  const exposure = sql`case ${column(asset, 'exposure')} when 'internal' then 0 when 'unknown' then 4 else 10 end`;
  // `least` ignores null, so the limit holds for unknown severities only.
  const limit = sql`case when ${severity} = 1 then ${sql.raw(String(UNKNOWN_LIMIT))} - round(${epss} * 15, 1) end`;
  return sql<number>`(${exposure} + case when ${column(finding, 'kev')} or ${malicious}
    then 75 + round(${score}, 1) + round(${epss} * 3, 1) + (${criticality}) * 0.2
    else least(round(${score} * 5, 1), ${limit}) + round(${epss} * 15, 1) + ${criticality} end)`;
}
