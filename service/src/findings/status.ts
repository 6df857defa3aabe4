/** The statuses of a finding and the allowed transitions. */
export const statuses = ['open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn'] as const;
export type Status = (typeof statuses)[number];

export const assurances = ['declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent'] as const;
export type Assurance = (typeof assurances)[number];

/** Justifications of a false positive: CycloneDX's VEX vocabulary for "not affected", and `inaccurate_finding`. */
export const justifications = [
  'code_not_present',
  'code_not_reachable',
  'requires_configuration',
  'requires_dependency',
  'requires_environment',
  'protected_by_compiler',
  'protected_at_runtime',
  'protected_at_perimeter',
  'protected_by_mitigating_control',
  'inaccurate_finding',
] as const;

export type By = 'person' | 'scan' | 'system';

/** Who may move a finding from one status to another. All other transitions are forbidden. */
const transitions: Readonly<Record<Status, Partial<Record<Status, readonly By[]>>>> = {
  open: {
    in_progress: ['person'],
    remediated: ['person'],
    verified: ['scan'],
    risk_accepted: ['person'],
    false_positive: ['person'],
    withdrawn: ['person', 'system'],
  },
  in_progress: {
    open: ['person'],
    remediated: ['person'],
    verified: ['scan'],
    risk_accepted: ['person'],
    false_positive: ['person'],
    withdrawn: ['person', 'system'],
  },
  remediated: {
    open: ['person', 'scan'],
    verified: ['person', 'scan'],
    risk_accepted: ['person'],
    false_positive: ['person'],
    withdrawn: ['person', 'system'],
  },
  verified: { open: ['person', 'scan'] },
  risk_accepted: { open: ['person', 'system'], verified: ['scan', 'system'] },
  false_positive: { open: ['person', 'system'] },
  withdrawn: { open: ['person', 'scan'] },
};

export function allowed(from: Status, by: By): Status[] {
  return statuses.filter((to) => transitions[from][to]?.includes(by));
}

export function mayMove(from: Status, to: Status, by: By): boolean {
  return transitions[from][to]?.includes(by) ?? false;
}

/** A person can replace the reason and details of a status, except `verified`, which rests on proof. */
export function mayRestate(status: Status): boolean {
  return status !== 'verified';
}

/** Two years, including a leap day. No acceptance is permanent. */
export const LONGEST_ACCEPTANCE_DAYS = 731;

/** Statuses from which a scan that sees the finding again reopens it. */
export const reopenedByScan = statuses.filter((status) => mayMove(status, 'open', 'scan'));
/** Statuses that become `verified` when a complete scan no longer reports the finding. */
export const verifiedByScan = statuses.filter((status) => mayMove(status, 'verified', 'scan'));
/** Statuses from which the service itself may withdraw a finding. */
export const withdrawnBySystem = statuses.filter((status) => mayMove(status, 'withdrawn', 'system'));
/** Statuses in which work or proof is outstanding. */
export const activeStatuses = ['open', 'in_progress', 'remediated'] as const satisfies readonly Status[];
export const closedStatuses: readonly Status[] = statuses.filter((status) => !(activeStatuses as readonly Status[]).includes(status));

export function isClosed(status: Status): boolean {
  return closedStatuses.includes(status);
}
