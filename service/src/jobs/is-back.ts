import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

const POLL_MS = 100;
/** Shorter than the time after which a worker without a heartbeat counts as dead, and another one takes its jobs. */
const LONGEST_MS = 15_000;

/** Waits until the database answers. False if it does not in time, or if the signal aborts. */
export async function isBack(db: Database, signal: AbortSignal): Promise<boolean> {
  for (const deadline = performance.now() + LONGEST_MS; !signal.aborted && performance.now() < deadline; await delay(POLL_MS)) {
    const answers = db
      .withSystem((tx) => sql`select`.execute(tx))
      .then(
        () => true,
        () => false,
      );
    if (await answers) return true;
  }
  return false;
}
