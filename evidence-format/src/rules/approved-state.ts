import { toHex, utf8 } from '../bytes/bytes.ts';
import { createSha256 } from '../bytes/sha256.ts';
import type { Evidence } from '../document/evidence.ts';
import type { Acceptance, Assurance, Finding } from '../document/finding.ts';
import type { Artifact } from '../document/originals.ts';
import type { Person } from '../document/people.ts';
import type { Provenance } from '../document/scan.ts';
import type { PolicyVersion, UnlinkedFinding } from '../document/scope.ts';
import type { FindingState, Severity } from '../document/states.ts';
import { canonicalJson } from '../json/jcs.ts';

export const APPROVED_STATE_TYPE = 'https://rrs.example/approved-state/v2';

/**
 * What an approval is about. Left out on purpose: EPSS, risk, titles of findings, times of sightings, tags, comments, later scans and
 * approvals. Daily synchronization and harmless edits do not make an approval stale.
 */
export interface ApprovedState {
  organization_id: string;
  work_item_id: string;
  title: string;
  /** The policy in force. */
  policy: Pick<PolicyVersion, 'sla' | 'four_eyes' | 'brake'>;
  findings: readonly ApprovedFinding[];
  /** Findings that were removed from the work item. */
  unlinked: readonly Pick<UnlinkedFinding, 'id' | 'state'>[];
  artifacts: readonly ApprovedArtifact[];
}

export interface ApprovedFinding {
  id: string;
  state: FindingState;
  assurance: Assurance | null;
  provenance: Provenance | null;
  severity: Severity;
  severity_source: Severity;
  acceptance: Pick<Acceptance, 'owner' | 'expires_at' | 'compensating_control'> | null;
  justification: string | null;
  /** `decider` of the person who decided on the state. */
  decided_by: string | null;
}

export interface ApprovedArtifact {
  id: string;
  type: string;
  sha256: string | null;
  url: string | null;
  removed: boolean;
}

/** The lines of data/approvals/<id>.jsonl, without their line feeds. */
export function* approvedStateLines({ organization_id, work_item_id, title, policy, findings, unlinked, artifacts }: ApprovedState): Generator<string> {
  const present = new Set<string>(findings.map(({ severity_source }) => severity_source));
  const sla = Object.fromEntries(Object.entries(policy.sla).filter(([severity]) => severity === 'kev' || present.has(severity)));
  const { four_eyes, brake } = policy;
  yield canonicalJson({ type: APPROVED_STATE_TYPE, organization_id, work_item_id, title, policy: { sla, four_eyes, brake } });
  for (const finding of sorted(findings)) yield canonicalJson({ finding: listedFinding(finding) });
  for (const { id, state } of sorted(unlinked)) yield canonicalJson({ unlinked: { id, state } });
  for (const { id, type, sha256, url, removed } of sorted(artifacts)) yield canonicalJson({ artifact: { id, type, sha256, url, removed } });
}

function sorted<T extends { id: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

/** Picks the keys, so that an object with more of them has the same line. */
function listedFinding(finding: ApprovedFinding): ApprovedFinding {
  const { id, state, assurance, provenance, severity, severity_source, acceptance, justification, decided_by } = finding;
  const accepted = acceptance && { owner: acceptance.owner, expires_at: acceptance.expires_at, compensating_control: acceptance.compensating_control };
  return { id, state, assurance, provenance, severity, severity_source, acceptance: accepted, justification, decided_by };
}

/** SHA-256 in hexadecimal over the lines, each ended by a line feed. */
export function approvedStateDigest(lines: Iterable<string>): string {
  const hash = createSha256();
  for (const line of lines) hash.update(utf8(`${line}\n`));
  return toHex(hash.digest());
}

/** The state that a package describes. */
export function approvedStateOf({ organization, work_item, policies, findings, unlinked, artifacts }: StateSource): ApprovedState {
  const policy = policies.at(-1) ?? NO_POLICY;
  return {
    organization_id: organization.id,
    work_item_id: work_item.id,
    title: work_item.title,
    policy,
    findings: findings.map((finding) => ({ ...finding, decided_by: decider(finding.decided_by) })),
    unlinked,
    artifacts: artifacts.map((artifact) => ({ ...artifact, removed: artifact.removed !== null })),
  };
}

const NO_POLICY: ApprovedState['policy'] = {
  sla: { critical: null, high: null, medium: null, low: null, info: null, unknown: null, kev: null },
  four_eyes: false,
  brake: { findings: 0, share: 0 },
};

/** What `approvedStateOf` reads of a package. */
export interface StateSource extends Pick<Evidence, 'organization' | 'policies' | 'unlinked'> {
  work_item: Pick<Evidence['work_item'], 'id' | 'title'>;
  findings: readonly (Pick<Finding, Exclude<keyof ApprovedFinding, 'decided_by'>> & { decided_by: Person | null })[];
  artifacts: readonly Pick<Artifact, keyof ApprovedArtifact>[];
}

/** How a state names a person: by the human behind the credential, else by the credential. */
export function decider(by: Person | null): string | null {
  return by && (by.person ?? by.id ?? by.name);
}
