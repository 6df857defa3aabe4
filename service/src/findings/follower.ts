import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import type { Actor } from '../shared/actor.ts';

/** What other features do when findings change, in the same transaction. It is injected because findings do not import those features. */
export interface FindingFollower {
  /**
   * `ids` selects all findings whose status changed, and may select more. Call it after all other changes of findings in the transaction: it locks
   * work items, and other transactions lock findings before work items.
   */
  follow(tx: TenantTx, actor: Actor, ids: RawBuilder<unknown>): Promise<void>;
  /** Throws if the work item does not exist or is closed. */
  assertOpen(tx: TenantTx, orgId: string, workItemId: string): Promise<void>;
  /** Those of the findings that are on work items. */
  onWorkItems(tx: TenantTx, orgId: string, ids: RawBuilder<unknown>): Promise<string[]>;
  /** Links findings to a work item. Call it before `follow`. */
  link(tx: TenantTx, actor: Actor, workItemId: string, ids: readonly string[]): Promise<void>;
  /** Puts findings on the open work items of others that were merged into them. Call it before `follow`. */
  moveLinks(tx: TenantTx, actor: Actor, pairs: readonly MergedPair[]): Promise<void>;
  /** Puts findings that were separated again on the open work items that they were on, and on those that were given the finding that stood for both. Call it before `follow`. */
  restoreLinks(tx: TenantTx, actor: Actor, pairs: readonly SeparatedPair[]): Promise<void>;
}

/** A finding that was merged into another one. */
export interface MergedPair {
  from_id: string;
  into_id: string;
}

/** A finding that was separated from another one. `merged_at` is null if the two were always one. */
export interface SeparatedPair extends MergedPair {
  merged_at: Date | null;
}

export function idsSql(ids: readonly string[]): RawBuilder<unknown> {
  return sql`select unnest(${ids as string[]}::uuid[])`;
}
