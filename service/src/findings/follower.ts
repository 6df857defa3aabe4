import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import type { Actor } from '../shared/actor.ts';

/** What follows from a change of findings elsewhere, in the same transaction. Work items know of findings and not the other way round, so it is handed in. */
export interface FindingFollower {
  /**
   * `ids` selects findings whose status may have changed, those that changed among them. Comes after everything else that the
   * transaction does to findings: who follows locks what others reach through findings.
   */
  follow(tx: TenantTx, actor: Actor, ids: RawBuilder<unknown>): Promise<void>;
  /** Refuses a work item that is not there or takes no more findings. */
  assertOpen(tx: TenantTx, orgId: string, workItemId: string): Promise<void>;
  /** Before `follow`, where both are done. */
  link(tx: TenantTx, actor: Actor, workItemId: string, ids: readonly string[]): Promise<void>;
}

export function idsSql(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select unnest(${ids as string[]}::uuid[])`;
}
