import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { findingFacts } from '../../findings/relations.ts';
import { changeFindings } from '../../findings/triage/bulk.ts';
import type { Actor } from '../../shared/actor.ts';
import { readItem } from '../items/read.ts';
import { noFollower, updateWorkItem } from '../items/update.ts';
import { followReason, statusFollowing, type Theirs } from './fields.ts';

interface TicketState extends Pick<Theirs, 'state'> {
  key: string;
}

/** Moves the work item to the status that follows from the state of its ticket. A ticket that is reopened takes back what it claimed when it was closed. */
export async function followState(tx: TenantTx, actor: Actor, itemId: string, ticket: TicketState): Promise<void> {
  const { status } = await readItem(tx, actor.orgId, itemId);
  const to = statusFollowing(ticket.state, status);
  if (to === null) return;
  const isWithdrawn = status === 'awaiting_verification' && (await withdrawClaims(tx, actor, itemId, ticket));
  // Work on what was claimed as done has begun, even if the ticket is back in its first state.
  await updateWorkItem(tx, actor, {
    id: itemId,
    patch: { status: isWithdrawn ? 'in_progress' : to, reason: followReason(ticket.state, ticket.key) },
    check: () => {},
  });
}

/** Reopens the findings that were marked as remediated because this ticket was closed. Claims of people stay. Returns whether there were any. */
async function withdrawClaims(tx: TenantTx, actor: Actor, itemId: string, { key }: TicketState): Promise<boolean> {
  const { orgId } = actor;
  const { rows } = await sql<{ id: string }>`
    select f.id from work_item_findings l join ${findingFacts} f on f.org_id = ${orgId} and f.id = l.finding_id
    where l.org_id = ${orgId} and l.work_item_id = ${itemId} and l.unlinked_at is null and f.status = 'remediated' and f.status_reason = ${followReason('done', key)}
    order by f.id`.execute(tx);
  if (rows.length === 0) return false;
  const change = { status: 'open' as const, reason: `ticket ${key} was reopened` };
  await changeFindings(tx, actor, { ids: rows.map(({ id }) => id), change }, noFollower);
  return true;
}
