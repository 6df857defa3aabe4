import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { createShares } from './shares.ts';

const MAX_WAIT_SECONDS = 60;
const POLL_MS = 50;
/** Of the time that the request has waited. Where everything takes long, frequent polls would make it take longer. */
const POLL_SHARE = 0.1;
/** Waiting requests poll the database. Beyond these, the response does not wait, which a preference allows. */
const waiting = createShares({ perOrganization: 20, perCredential: 10 });

export const PreferHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({ description: `\`wait=N\` (RFC 7240): seconds to wait for the result, at most ${MAX_WAIT_SECONDS}`, examples: ['wait=10'] }),
  ),
});

/** RFC 7240 `Prefer: wait=N`: how many seconds the caller is willing to wait for a result. */
export function preferredWait(request: FastifyRequest, defaultSeconds: number): number {
  return requestedWait(request) ?? defaultSeconds;
}

function requestedWait(request: FastifyRequest): number | null {
  const header = [request.headers.prefer ?? []].flat().join(',');
  const wait = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})(?![\w.])/i.exec(header)?.[1];
  return wait === undefined ? null : Math.min(Number(wait), MAX_WAIT_SECONDS);
}

/** Polls until there is a result, the time is over, or the caller disconnects. */
export async function waitFor<T>(request: FastifyRequest, reply: FastifyReply, seconds: number, poll: () => Promise<T | undefined>): Promise<T | undefined> {
  const release = seconds > 0 ? waiting.take(request.actor) : null;
  const started = performance.now();
  const deadline = started + (release === null ? 0 : seconds * 1000);
  if (requestedWait(request) !== null && (release !== null || seconds === 0)) reply.header('preference-applied', `wait=${seconds}`);
  try {
    for (;;) {
      const result = await poll();
      const now = performance.now();
      const left = deadline - now;
      if (result !== undefined || left <= 0 || reply.raw.destroyed) return result;
      await delay(Math.min(Math.max(POLL_MS, (now - started) * POLL_SHARE), left));
    }
  } finally {
    release?.();
  }
}
