import type { TSchema } from 'typebox';
import type { Database } from '../db/database.ts';
import type { ItemStates } from './approvals/state.ts';

export interface WorkItemDeps {
  db: Database;
  /** Signs cursors and encrypts stored idempotent responses. */
  secret: Buffer;
  /** Schema of the finding filters in a request body. Passed in because the schemas of findings are private to their feature. */
  findingFilter: TSchema;
  /** Passed in because evidence, which computes states, comes after work items. */
  states: ItemStates;
}
