import type { Static } from 'typebox';
import type { FindingRow } from './field.ts';
import type { DecisionRow } from './names.ts';
import type { Acceptance } from './shapes.ts';

/** The decision says who accepted the risk. The columns of the finding say that it is accepted. */
export function shownAcceptance(row: FindingRow, decisions: readonly DecisionRow[]): Static<typeof Acceptance> {
  const { acceptance_owner, acceptance_expires_at, compensating_control, status_reason } = row;
  const isActive = acceptance_expires_at !== null;
  const decision = decisions.find(({ kind, state }) => kind === 'acceptance' && state === (isActive ? 'active' : 'requested'));
  const expires = acceptance_expires_at ?? decision?.expires_at;
  if (!expires) return null;
  const { person, person_name, approver, approver_name, requested_at, decided_at } = decision ?? {};
  return {
    state: isActive ? 'active' : 'requested',
    owner: acceptance_owner ?? decision?.owner ?? '',
    expires_at: expires.toISOString(),
    reason: isActive ? status_reason : (decision?.reason ?? null),
    compensating_control: isActive ? compensating_control : (decision?.compensating_control ?? null),
    requested_by: shownPerson(person, person_name),
    requested_at: requested_at?.toISOString() ?? null,
    approved_by: shownPerson(approver, approver_name),
    approved_at: approver ? (decided_at?.toISOString() ?? null) : null,
  };
}

export function shownPerson(id: string | null | undefined, name: string | null | undefined): { id: string; name: string } | null {
  return id ? { id, name: name ?? '' } : null;
}

/** Whether the finding is worse than what the active decision was about. */
export function isOutdated({ severity, kev }: FindingRow, decisions: readonly DecisionRow[]): boolean {
  return decisions.some((decision) => decision.state === 'active' && (severity > decision.severity || (kev && !decision.kev)));
}
