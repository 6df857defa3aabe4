import { setTimeout as delay } from 'node:timers/promises';
import { errorCodeOf } from '../shared/errors.ts';
import type { Log } from './log.ts';

const GIVE_UP_AFTER_MS = 60_000;
const TOO_MANY_CONNECTIONS = '53300';
const CANNOT_CONNECT_NOW = '57P03';

/** Retries while the server refuses connections because it is starting or because many processes start at once. */
export async function retryWhileStarting<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + GIVE_UP_AFTER_MS; ; await delay(200 + Math.random() * 800)) {
    try {
      return await work();
    } catch (error) {
      if (!isTemporaryRefusal(error) || Date.now() > deadline) throw error;
      log.warn('database refuses connections, retrying');
    }
  }
}

function isTemporaryRefusal(error: unknown): boolean {
  const code = errorCodeOf(error instanceof Error && error.cause ? error.cause : error);
  return code === TOO_MANY_CONNECTIONS || code === CANNOT_CONNECT_NOW;
}
