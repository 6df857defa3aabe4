import { ConnectorError } from '../connector-error.ts';
import type { Ticket } from '../contract.ts';

export interface ChangePage {
  tickets: readonly Ticket[];
  /** The token of the next page. Null at the end. */
  next: string | null;
}

/**
 * Yields changed tickets, oldest change first. A ticket that changes during the walk moves to the end of the list and shifts the pages after it.
 * Therefore each query starts at the time of the last ticket instead of at the next page. Only if more than one page of tickets changed within one
 * tick, the shortest time that the vendor can tell apart, are its next pages followed, until two passes in a row yield nothing new.
 */
export async function* changes(since: Date, tickMs: number, page: (from: Date, next: string | null) => Promise<ChangePage>): AsyncGenerator<readonly Ticket[]> {
  const onlyNew = createDeduplicator(since);
  const tickOf = (time: Date): number => Math.floor(time.getTime() / tickMs);
  for (let [from, next, pass]: [Date, string | null, Pass] = [since, null, { fresh: 0, quiet: 0, hasLater: false }]; ; ) {
    const found = await page(from, next);
    const [now, isFollowing]: [number, boolean] = [tickOf(from), next !== null];
    const fresh = onlyNew(isFollowing ? found.tickets.filter(({ updatedAt }) => tickOf(updatedAt) <= now) : found.tickets);
    if (fresh.length > 0) yield fresh;
    pass.fresh += fresh.length;
    const last = Math.max(...found.tickets.map(({ updatedAt }) => tickOf(updatedAt)));
    if (last <= now && found.next !== null) {
      if (found.tickets.length === 0 || found.next === next) throw repeatedPage();
      next = found.next;
      continue;
    }
    next = null;
    pass = { fresh: 0, quiet: pass.fresh === 0 ? pass.quiet + 1 : 0, hasLater: pass.hasLater || last > now };
    if (isFollowing && pass.quiet < 2) continue;
    if (isFollowing ? !pass.hasLater : found.next === null) return;
    from = new Date((isFollowing ? now + 1 : last) * tickMs);
    pass = { fresh: 0, quiet: 0, hasLater: false };
  }
}

/** One pass over the pages of a tick. */
interface Pass {
  /** Tickets that were new in this pass. */
  fresh: number;
  /** Passes in a row without a new ticket. */
  quiet: number;
  /** Whether later tickets were seen after the tick. */
  hasLater: boolean;
}

/** Returns a filter for pages that keeps, in order, the tickets not seen before. Tickets older than `since` are remembered but dropped. */
export function createDeduplicator(since: Date): (tickets: readonly Ticket[]) => Ticket[] {
  const seen = new Set<string>();
  // Many vendors truncate times to the second.
  const from = Math.floor(since.getTime() / 1000) * 1000;
  let repeated = 0;
  return (tickets) => {
    const before = seen.size;
    const fresh = tickets.filter(({ id, updatedAt }) => {
      const version = `${id} ${updatedAt.getTime()}`;
      return !seen.has(version) && seen.add(version) && updatedAt.getTime() >= from;
    });
    // Pages overlap and some are read twice, but not without end.
    repeated = seen.size > before ? 0 : repeated + tickets.length;
    if (repeated > 4 * seen.size + 100) throw repeatedPage();
    return fresh.sort((one, other) => one.updatedAt.getTime() - other.updatedAt.getTime());
  };
}

export function repeatedPage(): ConnectorError {
  return new ConnectorError('incomplete', 'The vendor reports more tickets but sends the same ones again.');
}

const TEN_YEARS = 10 * 365 * 24 * 60;

/** For vendors that interpret absolute times in the time zone of the user. Five minutes longer, because clocks differ. */
export function minutesAgo(from: Date): number {
  return Math.min(TEN_YEARS, Math.max(0, Math.ceil((Date.now() - from.getTime()) / 60_000)) + 5);
}
