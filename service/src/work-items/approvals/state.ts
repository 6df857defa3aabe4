import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { readItem } from '../items/read.ts';
import { stateDifference } from './state-difference.ts';

/** What a decision on a work item is about: one line of canonical JSON for the work item, each finding and each artifact, and the SHA-256 of all lines. */
export interface ItemState {
  digest: string;
  lines: readonly string[];
  /** Whether the person who asks had no part in the work, nor anybody who can use their credential. */
  isIndependent: boolean;
}

/** Evidence computes the state, because a package must be able to show that an approval is about the same state and by somebody who had no part. */
export type ReadItemState = (tx: TenantTx, orgId: string, itemId: string, asking: Actor) => Promise<ItemState>;

/** Returns the current state and remembers it, so that whoever approves it later can be told what changed. */
export async function showState(tx: TenantTx, actor: Actor, id: string, readState: ReadItemState): Promise<ItemState> {
  const { orgId } = actor;
  await readItem(tx, orgId, id);
  const state = await readState(tx, orgId, id, actor);
  await rememberState(tx, orgId, id, state);
  return state;
}

/** Checks that the state is the one that the caller saw. */
export async function assertCurrentState(tx: TenantTx, orgId: string, id: string, { seen, current }: { seen: string; current: ItemState }): Promise<void> {
  if (seen === current.digest) return;
  const known = await tx
    .selectFrom('work_item_states')
    .select('lines')
    .where('org_id', '=', orgId)
    .where('work_item_id', '=', id)
    .where('digest', '=', seen)
    .executeTakeFirst();
  const changed = known ? `What changed since: ${stateDifference(known.lines.split('\n'), current.lines)}.` : 'The given digest is not that of a recent state.';
  throw new AppError(
    'conflict',
    `\`state_digest\` is not the current state of the work item. ${changed} Read \`GET /work-items/${id}/state\` and decide again.`,
  );
}

const KEPT = sql`interval '1 day'`;

export async function rememberState(tx: TenantTx, orgId: string, id: string, { digest, lines }: Pick<ItemState, 'digest' | 'lines'>): Promise<void> {
  await sql`
    insert into work_item_states (org_id, work_item_id, digest, lines) values (${orgId}, ${id}, ${digest}, ${lines.join('\n')})
    on conflict (org_id, work_item_id, digest) do update set shown_at = now()`.execute(tx);
  await sql`
    delete from work_item_states s where s.org_id = ${orgId} and s.work_item_id = ${id} and s.shown_at < now() - ${KEPT}
      and not exists (select from work_item_approvals a where a.org_id = ${orgId} and a.work_item_id = ${id} and a.state_digest = s.digest)`.execute(tx);
}

/** The states that somebody approved or rejected. The lines are separated by line feeds. */
export async function readApprovedStates(tx: TenantTx, orgId: string, id: string): Promise<{ digest: string; lines: string }[]> {
  const { rows } = await sql<{ digest: string; lines: string }>`
    select s.digest, s.lines from work_item_states s where s.org_id = ${orgId} and s.work_item_id = ${id}
      and exists (select from work_item_approvals a where a.org_id = ${orgId} and a.work_item_id = ${id} and a.state_digest = s.digest)`.execute(tx);
  return rows;
}
