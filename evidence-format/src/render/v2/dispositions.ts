import type { Finding } from '../../document/finding.ts';
import type { Standing } from '../../document/states.ts';

/** The wording is in the table, and colour only repeats it. */
export type Tone = 'good' | 'warn' | 'bad' | 'neutral';

/** How one kind of finding is shown in every format. */
interface Disposition {
  standing: Standing;
  label: string;
  /** Completes "2 findings are …". */
  phrase: string;
  tone: Tone;
  /** OSCAL: whether the objective that the weakness is gone is satisfied. */
  objective: 'satisfied' | 'not-satisfied';
  /** OSCAL: status of the risk. */
  risk: 'open' | 'remediating' | 'deviation-approved' | 'closed';
  /** OSCAL: whether the item of the plan of action is open. */
  planned: 'open' | 'closed';
  /** OSCAL: lifecycle of the remediation, or null if none is planned. */
  remediation: 'recommendation' | 'planned' | 'completed' | null;
  openvex: 'affected' | 'not_affected' | 'fixed' | 'under_investigation';
  cyclonedx: { state: 'exploitable' | 'not_affected' | 'resolved' | 'in_triage'; response: 'update' | 'will_not_fix' | null };
  /** SARIF: a suppression that nobody approved is under review. */
  sarif: { kind: 'fail' | 'pass' | 'notApplicable'; suppression: 'accepted' | 'underReview' | null };
}

const ACTIVE = {
  standing: 'active',
  tone: 'bad',
  objective: 'not-satisfied',
  risk: 'remediating',
  planned: 'open',
  remediation: 'planned',
  openvex: 'affected',
  cyclonedx: { state: 'exploitable', response: 'update' },
  sarif: { kind: 'fail', suppression: null },
} as const;

const FIXED = {
  standing: 'remediated',
  tone: 'good',
  objective: 'satisfied',
  risk: 'closed',
  planned: 'closed',
  remediation: 'completed',
  openvex: 'fixed',
  cyclonedx: { state: 'resolved', response: null },
  sarif: { kind: 'pass', suppression: null },
} as const;

/** Closed by a decision. The weakness may still exist. */
const EXCEPTED = {
  standing: 'excepted',
  tone: 'warn',
  objective: 'not-satisfied',
  risk: 'deviation-approved',
  planned: 'open',
  remediation: null,
  openvex: 'affected',
  cyclonedx: { state: 'exploitable', response: 'will_not_fix' },
  sarif: { kind: 'fail', suppression: 'accepted' },
} as const;

/** Closed by an act that nobody had to justify as a risk. */
const CLOSED_BY_HAND = { ...EXCEPTED, risk: 'open', sarif: { kind: 'fail', suppression: 'underReview' } } as const;

/** The one table that every rendering reads. */
export const DISPOSITIONS = {
  open: { ...ACTIVE, label: 'Open', phrase: 'open', risk: 'open', remediation: 'recommendation' },
  in_progress: { ...ACTIVE, label: 'In progress', phrase: 'in progress' },
  claimed: { ...ACTIVE, label: 'Claimed, not verified', phrase: 'claimed as fixed but not verified' },
  unproven: { ...ACTIVE, label: 'Closed, not proven', phrase: 'closed without proof of a fix' },
  accepted: { ...EXCEPTED, label: 'Risk accepted', phrase: 'accepted as a risk' },
  false_positive: {
    ...EXCEPTED,
    label: 'False positive',
    phrase: 'judged a false positive',
    openvex: 'not_affected',
    cyclonedx: { state: 'not_affected', response: null },
  },
  withdrawn_by_person: { ...CLOSED_BY_HAND, label: 'Withdrawn by a person', phrase: 'withdrawn by a person, not fixed' },
  asset_retired: { ...CLOSED_BY_HAND, label: 'Asset retired', phrase: 'closed because the asset was retired, not fixed' },
  asset_gone: { ...CLOSED_BY_HAND, label: 'Asset gone', phrase: 'closed because the source no longer lists the asset, not fixed' },
  track_ended: { ...CLOSED_BY_HAND, label: 'Version retired', phrase: 'closed because the version is no longer tracked, not fixed' },
  merged: { ...CLOSED_BY_HAND, label: 'Merged by a person', phrase: 'merged with a finding that is not fixed' },
  fixed_by_scan: { ...FIXED, label: 'Fixed, shown by a scan', phrase: 'shown as fixed by a scan' },
  fixed_by_person: { ...FIXED, label: 'Fixed, confirmed by a person', phrase: 'confirmed as fixed by a second person, not by a scan' },
  withdrawn_by_source: {
    standing: 'aside',
    label: 'Withdrawn by its source',
    phrase: 'set aside because the source withdrew the finding',
    tone: 'neutral',
    objective: 'not-satisfied',
    risk: 'closed',
    planned: 'closed',
    remediation: null,
    openvex: 'under_investigation',
    cyclonedx: { state: 'in_triage', response: null },
    sarif: { kind: 'notApplicable', suppression: null },
  },
} as const satisfies Record<string, Disposition>;

export type DispositionId = keyof typeof DISPOSITIONS;

/** In the order in which reports show them. */
export const DISPOSITION_IDS = Object.keys(DISPOSITIONS) as DispositionId[];

/** The standing decides. State and cause only choose the words within it. */
export function dispositionOf({ standing, state, cause }: Pick<Finding, 'standing' | 'state' | 'cause'>): DispositionId {
  switch (standing) {
    case 'remediated':
      return cause === 'scan' ? 'fixed_by_scan' : 'fixed_by_person';
    case 'aside':
      return 'withdrawn_by_source';
    case 'active':
      return state === 'open' || state === 'in_progress' ? state : state === 'remediated' ? 'claimed' : 'unproven';
    case 'excepted':
      if (cause === 'asset_retired' || cause === 'asset_gone' || cause === 'track_ended' || cause === 'merged') return cause;
      if (state === 'risk_accepted') return 'accepted';
      if (state === 'false_positive') return 'false_positive';
      return state === 'withdrawn' ? 'withdrawn_by_person' : 'merged';
  }
}

export const describe = (finding: Pick<Finding, 'standing' | 'state' | 'cause'>): Disposition => DISPOSITIONS[dispositionOf(finding)];
