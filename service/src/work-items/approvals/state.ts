import { sql } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { readItem } from '../items/read.ts';

/** What a decision on a work item is about: one line of canonical JSON for the work item, each finding and each artifact, and the SHA-256 of all lines. */
export interface ItemState {
  digest: string;
  /** The lines, separated by line feeds. */
  text: string;
  /** Whether the person who asks had no part in the work, nor anybody who can use their credential. */
  isIndependent: boolean;
  /** What differs from the state that the person saw. Null if nothing does, or if that state is not known. */
  changes: string | null;
  inputs: StateInputs;
}

/** Identifies the rows that a state was computed from. */
interface StateInputs {
  /** Audit events since then are part of the inputs. */
  since: string;
  fingerprint: string;
}

/** Evidence computes the state, because a package must be able to show that an approval is about the same state and by somebody who had no part. */
export interface ItemStates {
  /** Takes seconds for thousands of findings, so it must not be called in a transaction. `seen` is the digest of the state that the person saw. */
  compute(actor: Actor, itemId: string, seen: string | null): Promise<ItemState>;
  /** The fingerprint of the inputs now. Cheap enough to be computed while a lock is held. */
  fingerprint(tx: TenantTx, orgId: string, itemId: string, since: string): Promise<string>;
}

/** Returns the current state and remembers it, so that whoever approves it later can be told what changed. */
export async function showState(db: Database, actor: Actor, id: string, states: ItemStates): Promise<ItemState> {
  await db.withTenant(actor, (tx) => readItem(tx, actor.orgId, id));
  const state = await states.compute(actor, id, null);
  await db.withTenant(actor, (tx) => rememberState(tx, actor.orgId, id, state));
  return state;
}

/** Something that the state depends on changed after it was computed. */
export class StateOutdated extends AppError {
  constructor() {
    super('conflict', 'The work item, its findings or the people involved are being changed. Read `GET /work-items/{id}/state` and decide again.');
  }
}

/** Checks that the state is still current and the one that the caller saw. The lock on work items must be held. */
export async function assertCurrentState(
  tx: TenantTx,
  orgId: string,
  id: string,
  { seen, state, states }: { seen: string; state: ItemState; states: ItemStates },
): Promise<void> {
  const { since, fingerprint } = state.inputs;
  if ((await states.fingerprint(tx, orgId, id, since)) !== fingerprint) throw new StateOutdated();
  if (seen === state.digest) return;
  const changed = state.changes === null ? 'The given digest is not that of a recent state.' : `What changed since: ${state.changes}.`;
  throw new AppError(
    'conflict',
    `\`state_digest\` is not the current state of the work item. ${changed} Read \`GET /work-items/${id}/state\` and decide again.`,
  );
}

const KEPT = sql`interval '1 day'`;

export async function rememberState(tx: TenantTx, orgId: string, id: string, { digest, text }: Pick<ItemState, 'digest' | 'text'>): Promise<void> {
  await sql`
    insert into work_item_states (org_id, work_item_id, digest, lines) values (${orgId}, ${id}, ${digest}, ${text})
    on conflict (org_id, work_item_id, digest) do update set shown_at = now()`.execute(tx);
  await sql`
    delete from work_item_states s where s.org_id = ${orgId} and s.work_item_id = ${id} and s.shown_at < now() - ${KEPT}
      and not exists (select from work_item_approvals a where a.org_id = ${orgId} and a.work_item_id = ${id} and a.state_digest = s.digest)`.execute(tx);
}

/** The lines of a state that was shown to somebody, separated by line feeds. Null if it is no longer stored. */
export async function readShownState(tx: TenantTx, orgId: string, id: string, digest: string): Promise<string | null> {
  const shown = await tx
    .selectFrom('work_item_states')
    .select('lines')
    .where('org_id', '=', orgId)
    .where('work_item_id', '=', id)
    .where('digest', '=', digest)
    .executeTakeFirst();
  return shown?.lines ?? null;
}

/** The state that a decision was made on. It is kept as long as the decision. */
export async function readDecidedState(
  tx: TenantTx,
  orgId: string,
  { id, approvalId }: { id: string; approvalId: string },
): Promise<{ digest: string; lines: string }> {
  const state = await tx
    .selectFrom('work_item_approvals as a')
    .innerJoin('work_item_states as s', (join) =>
      join.onRef('s.org_id', '=', 'a.org_id').onRef('s.work_item_id', '=', 'a.work_item_id').onRef('s.digest', '=', 'a.state_digest'),
    )
    .select(['s.digest', 's.lines'])
    .where('a.org_id', '=', orgId)
    .where('a.work_item_id', '=', id)
    .where('a.id', '=', approvalId)
    .executeTakeFirst();
  if (state === undefined) throw new AppError('not_found', `The work item "${id}" has no approval with the id "${approvalId}".`);
  return state;
}

/** The states that somebody approved or rejected. The lines are separated by line feeds. */
export async function readApprovedStates(tx: TenantTx, orgId: string, id: string): Promise<{ digest: string; lines: string }[]> {
  const { rows } = await sql<{ digest: string; lines: string }>`
    select s.digest, s.lines from work_item_states s where s.org_id = ${orgId} and s.work_item_id = ${id}
      and exists (select from work_item_approvals a where a.org_id = ${orgId} and a.work_item_id = ${id} and a.state_digest = s.digest)`.execute(tx);
  return rows;
}
