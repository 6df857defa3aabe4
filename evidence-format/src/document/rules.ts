import { type Conclusion, type Evidence, FINDING_STATES, type Finding, type FindingState, type Gap, type GapCode, type Grade, SEVERITIES } from './evidence.ts';

const ACTIVE: ReadonlySet<FindingState> = new Set(['open', 'in_progress', 'remediated']);

/** Implements the conclusion table of docs/evidence-package.md, section 7. */
export function concludeFrom(findings: readonly Pick<Finding, 'state'>[]): Conclusion {
  const states = new Set(findings.map(({ state }) => state));
  const active = [...states].some((state) => ACTIVE.has(state));
  const excepted = states.has('risk_accepted') || states.has('false_positive');
  if (states.has('verified')) return active || excepted ? 'partially_remediated' : 'remediated';
  if (active || !excepted) return 'not_remediated';
  return states.has('risk_accepted') ? 'risk_accepted' : 'false_positive';
}

const STATE_TEXT: Record<FindingState, string> = {
  open: 'open',
  in_progress: 'in progress',
  remediated: 'reported as remediated but not yet verified',
  verified: 'verified as remediated',
  risk_accepted: 'accepted as a risk',
  false_positive: 'marked as false positive',
  withdrawn: 'withdrawn by the source',
};

/** Explains the conclusion: one sentence for each state that occurs. */
export function reasonsOf(findings: readonly Pick<Finding, 'state'>[]): string[] {
  if (findings.length === 0) return ['No finding is linked to the work item.'];
  return FINDING_STATES.flatMap((state) => {
    const count = findings.filter((finding) => finding.state === state).length;
    return count === 0
      ? []
      : [`${count} of ${findings.length} ${findings.length === 1 ? 'finding' : 'findings'} ${count === 1 ? 'is' : 'are'} ${STATE_TEXT[state]}.`];
  });
}

const WEIGHTS: Record<GapCode, Gap['weight']> = {
  unfinished: 'major',
  no_findings: 'major',
  unlinked_active: 'major',
  no_rescan: 'major',
  no_scan_before: 'minor',
  scan_not_kept: 'minor',
  no_approval: 'minor',
  approver_is_author: 'major',
  rejected: 'major',
  no_artifact: 'minor',
  artifact_not_captured: 'minor',
  artifact_removed: 'minor',
  source_stale: 'minor',
  no_timestamp: 'minor',
  interrupted_sealing: 'minor',
  log_restarted: 'minor',
};

export function weightOf(code: GapCode, { fourEyes }: { fourEyes: boolean }): Gap['weight'] {
  return code === 'no_approval' && fourEyes ? 'major' : WEIGHTS[code];
}

export function gradeOf(gaps: readonly Pick<Gap, 'code' | 'weight'>[]): Grade {
  if (gaps.length === 0) return 'A';
  const major = new Set(gaps.filter(({ weight }) => weight === 'major').map(({ code }) => code)).size;
  return major === 0 ? 'B' : major === 1 ? 'C' : 'D';
}

export function countsOf(findings: readonly Pick<Finding, 'state' | 'severity'>[]): Omit<Evidence['counts'], 'artifacts' | 'scans'> {
  return {
    findings: findings.length,
    by_status: tally(
      FINDING_STATES,
      findings.map(({ state }) => state),
    ),
    by_severity: tally(
      SEVERITIES,
      findings.map(({ severity }) => severity),
    ),
  };
}

function tally<K extends string>(keys: readonly K[], values: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, values.filter((value) => value === key).length])) as Record<K, number>;
}
