import type { Conclusion, Counts, Gap, Grade } from '../document/evidence.ts';
import type { Finding } from '../document/finding.ts';
import { FINDING_STATES, SEVERITIES, STANDINGS } from '../document/states.ts';

type Concluded = Pick<Finding, 'standing' | 'state'>;

export function concludeFrom(findings: readonly Concluded[]): Conclusion {
  const has = (standing: Finding['standing']): boolean => findings.some((finding) => finding.standing === standing);
  if (has('active')) return has('remediated') ? 'partially_remediated' : 'not_remediated';
  if (has('remediated')) return has('excepted') ? 'partially_remediated' : 'remediated';
  return concludeExceptions(findings.filter(({ standing }) => standing === 'excepted'));
}

/** An exception that is neither an accepted risk nor a false positive was withdrawn by a person, which settles nothing. */
function concludeExceptions(excepted: readonly Concluded[]): Conclusion {
  const states = new Set(excepted.map(({ state }) => state));
  if (![...states].every((state) => state === 'risk_accepted' || state === 'false_positive')) return 'not_remediated';
  if (states.has('risk_accepted')) return 'risk_accepted';
  return states.has('false_positive') ? 'false_positive' : 'not_remediated';
}

export function gradeOf(gaps: readonly Pick<Gap, 'code' | 'weight'>[]): Grade {
  const major = new Set(gaps.filter(({ weight }) => weight === 'major').map(({ code }) => code)).size;
  if (major > 0) return major === 1 ? 'C' : 'D';
  return gaps.some(({ weight }) => weight === 'minor') ? 'B' : 'A';
}

export function countsOf(
  findings: readonly Pick<Finding, 'standing' | 'state' | 'severity'>[],
  others: Pick<Counts, 'unlinked' | 'artifacts' | 'scans'>,
): Counts {
  const counts: Counts = {
    findings: findings.length,
    by_standing: zeros(STANDINGS),
    by_status: zeros(FINDING_STATES),
    by_severity: zeros(SEVERITIES),
    ...others,
  };
  for (const { standing, state, severity } of findings) {
    counts.by_standing[standing]++;
    counts.by_status[state]++;
    counts.by_severity[severity]++;
  }
  return counts;
}

export function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
}
