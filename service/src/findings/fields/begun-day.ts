/** The zone that begins a day first is 14 hours ahead of UTC. */
const AHEAD_MS = 14 * 3_600_000;

/** The day, if it has begun anywhere. Reports can only tell of fixes that were published. */
export function begunDay(day: string | undefined, now = Date.now()): string | null {
  return day !== undefined && Date.parse(day) - AHEAD_MS <= now ? day : null;
}
