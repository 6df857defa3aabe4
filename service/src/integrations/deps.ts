import type { Sender } from '@rrs/connectors';
import type { Database } from '../db/database.ts';
import type { FindingFollower } from '../findings/follower.ts';
import type { Clock } from '../shared/clock.ts';
import type { IntegrationDeps } from './connections/connections.ts';

export interface IntegrationRoutesDeps extends IntegrationDeps {
  db: Database;
  /** Signs cursors and encrypts stored idempotent responses. */
  secret: Buffer;
  clock: Clock;
  sender: Sender;
  publicUrl: () => string;
  follower: FindingFollower;
}
