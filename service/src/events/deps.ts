import type { Database } from '../db/database.ts';
import type { Outbound } from '../net/request.ts';

export interface EventDeps {
  db: Database;
  /** Signs cursors and encrypts signing secrets. */
  secret: Buffer;
  outbound: Outbound;
  publicUrl: () => string;
}
