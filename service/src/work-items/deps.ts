import type { TSchema } from 'typebox';
import type { Database } from '../db/database.ts';

export interface WorkItemDeps {
  db: Database;
  /** Signs cursors and seals kept answers. */
  secret: Buffer;
  /** The filters of the list of findings, as a body has them. */
  findingFilter: TSchema;
}
