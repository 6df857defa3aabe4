import type { Approval } from '../document/evidence.ts';
import type { Person } from '../document/people.ts';
import type { Credentials } from './credentials.ts';
import { type Identities, OWNERLESS } from './identities.ts';

/** The latest decision of each person about the work, and whether it counts. */
export interface FinalApproval {
  approval: Approval;
  /** Whether it is known who decided, and that person took no part in the work, before or after the decision. */
  independent: boolean;
  /** Whether the state that was approved is the state that the package describes. */
  fresh: boolean;
}

export interface ApprovalFacts {
  identities: Identities;
  credentials: Pick<Credentials, 'wasGiven'>;
  tookPart: (by: Person) => boolean;
  /** SHA-256 of the state that the package describes. */
  digest: string;
}

export function finalApprovals(approvals: readonly Approval[], { identities, credentials, tookPart, digest }: ApprovalFacts): FinalApproval[] {
  const latest = new Map<string, Approval>();
  for (const approval of approvals.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))) {
    const identity = identities.of(approval.by) ?? approval.by.name;
    // Different people may use keys without a member. One of them cannot take back what another one has rejected.
    const account = identity === OWNERLESS ? `${OWNERLESS} ${approval.by.id}` : identity;
    const before = latest.get(account);
    // Threat: somebody sets the password of whoever rejected the work, signs in, and approves it.
    const isTakenOver = before?.decision === 'rejected' && credentials.wasGiven(identity, { from: before.at, to: approval.at });
    const who = isTakenOver ? `${account} since ${approval.at}` : account;
    latest.delete(who);
    latest.set(who, approval);
  }
  // Anybody may have used a key without a member, also somebody who did the work.
  const isKnown = (by: Person): boolean => identities.of(by) !== OWNERLESS;
  return [...latest.values()].map((approval) => ({
    approval,
    independent: isKnown(approval.by) && !tookPart(approval.by),
    fresh: approval.state_sha256 === digest,
  }));
}
