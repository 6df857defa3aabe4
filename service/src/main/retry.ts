import { setTimeout as delay } from 'node:timers/promises';
import { errorCodeOf } from '../shared/errors.ts';
import type { Log } from './log.ts';

const PATIENCE_MS = 60_000;
const TOO_MANY_CONNECTIONS = '53300';
const CANNOT_CONNECT_NOW = '57P03';

/** When many processes start at once, or the server starts with them, it refuses some for a moment. */
export async function patiently<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await delay(200 + Math.random() * 800)) {
    try {
      return await work();
    } catch (error) {
      if (!isRefusedForNow(error) || Date.now() > deadline) throw error;
      log.warn('the database takes no more connections right now; trying again');
    }
  }
}

function isRefusedForNow(error: unknown): boolean {
  const code = errorCodeOf(error instanceof Error && error.cause ? error.cause : error);
  return code === TOO_MANY_CONNECTIONS || code === CANNOT_CONNECT_NOW;
}
