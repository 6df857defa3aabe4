import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import type { FindingRow } from '../fields/field.ts';
import { severityName } from '../severity.ts';

const shownInHistory = [
  'status',
  'status_reason',
  'reason_code',
  'assurance',
  'acceptance_owner',
  'acceptance_expires_at',
  'compensating_control',
  'justification',
  'severity',
  'severity_override',
  'tags',
] as const;

function snapshot(finding: FindingRow): Record<string, unknown> {
  return {
    ...Object.fromEntries(shownInHistory.map((name) => [name, finding[name]])),
    severity: severityName(finding.severity),
    severity_override: finding.severity_override === null ? null : severityName(finding.severity_override),
  };
}

interface ChangedFinding {
  before: FindingRow;
  after: FindingRow;
  reason: string | null;
}

/** Writes the history entry, the audit event and the event of a change. */
export async function recordChange(tx: TenantTx, actor: Actor, { before, after, reason }: ChangedFinding): Promise<void> {
  const [was, is] = [snapshot(before), snapshot(after)];
  const isDecision = before.status_changed_at.getTime() !== after.status_changed_at.getTime();
  const names = Object.keys(is).filter(
    (name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]) || (isDecision && (name === 'status' || name === 'reason_code')),
  );
  const pick = (from: Record<string, unknown>) => Object.fromEntries(names.map((name) => [name, from[name]]));
  const changes = { before: pick(was), after: pick(is) };
  const action = before.status !== after.status ? 'status_changed' : names.includes('severity_override') ? 'severity_changed' : 'updated';
  await tx
    .insertInto('finding_history')
    .values({
      org_id: actor.orgId,
      finding_id: after.id,
      id: newId(),
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      person: actor.person?.id ?? null,
      person_name: actor.person?.name ?? null,
      request_id: actor.requestId,
      action,
      before: JSON.stringify(changes.before),
      after: JSON.stringify(changes.after),
      reason,
    })
    .execute();
  await recordAudit(tx, actor, { action: `finding.${action}`, objectType: 'finding', objectId: after.id, ...changes });
  await emit(tx, actor.orgId, { type: `finding.${action}`, subject: after.id, data: { from: before.status, to: after.status, ...changes.after } });
}
