import type { Database } from '../db/database.ts';
import type { AssetFollower } from './assets.ts';

export interface AssetDeps {
  db: Database;
  /** Signs cursors. */
  secret: Buffer;
  /** Passed in, because findings depend on assets and not the other way round. */
  follower: AssetFollower;
}
