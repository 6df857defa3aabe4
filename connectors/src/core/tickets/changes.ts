import { ConnectorError, type Ticket } from '../contract.ts';

export interface ChangePage {
  tickets: readonly Ticket[];
  /** How to ask for more of the same; null at the end. */
  next: string | null;
}

/**
 * Oldest change first. A ticket that changes meanwhile moves to the end, and the pages behind it shift: so each page begins anew at the time of the last.
 * Only where one moment, the shortest time that the vendor tells apart, has more than a page, its next pages are followed, until they bring nothing new twice.
 */
export async function* changes(
  since: Date,
  momentMs: number,
  page: (from: Date, next: string | null) => Promise<ChangePage>,
): AsyncGenerator<readonly Ticket[]> {
  const news = newsSince(since);
  const momentOf = (time: Date): number => Math.floor(time.getTime() / momentMs);
  for (let [from, next, walk]: [Date, string | null, Walk] = [since, null, { fresh: 0, quiet: 0, isMore: false }]; ; ) {
    const answer = await page(from, next);
    const [now, isFollowing]: [number, boolean] = [momentOf(from), next !== null];
    const fresh = news(isFollowing ? answer.tickets.filter(({ updatedAt }) => momentOf(updatedAt) <= now) : answer.tickets);
    if (fresh.length > 0) yield fresh;
    walk.fresh += fresh.length;
    const last = Math.max(...answer.tickets.map(({ updatedAt }) => momentOf(updatedAt)));
    if (last <= now && answer.next !== null) {
      if (answer.tickets.length === 0 || answer.next === next) throw sameAgain();
      next = answer.next;
      continue;
    }
    next = null;
    walk = { fresh: 0, quiet: walk.fresh === 0 ? walk.quiet + 1 : 0, isMore: walk.isMore || last > now };
    if (isFollowing && walk.quiet < 2) continue;
    if (isFollowing ? !walk.isMore : answer.next === null) return;
    from = new Date((isFollowing ? now + 1 : last) * momentMs);
    walk = { fresh: 0, quiet: 0, isMore: false };
  }
}

/** Through the pages of one moment: how much it brought so far, how often in a row it brought nothing, and whether later ones were seen behind it. */
interface Walk {
  fresh: number;
  quiet: number;
  isMore: boolean;
}

/** Tells of each page what was not told yet, in order. What is older than asked for is not told, but known. */
export function newsSince(since: Date): (tickets: readonly Ticket[]) => Ticket[] {
  const seen = new Set<string>();
  // Many vendors cut their times to the second.
  const from = Math.floor(since.getTime() / 1000) * 1000;
  let again = 0;
  return (tickets) => {
    const before = seen.size;
    const fresh = tickets.filter(({ id, updatedAt }) => {
      const version = `${id} ${updatedAt.getTime()}`;
      return !seen.has(version) && seen.add(version) && updatedAt.getTime() >= from;
    });
    // Pages overlap, and some are looked at twice, but not for ever.
    again = seen.size > before ? 0 : again + tickets.length;
    if (again > 4 * seen.size + 100) throw sameAgain();
    return fresh.sort((one, other) => one.updatedAt.getTime() - other.updatedAt.getTime());
  };
}

export function sameAgain(): ConnectorError {
  return new ConnectorError('incomplete', 'The vendor says that there are more tickets, and sends the same ones again.');
}

const TEN_YEARS = 10 * 365 * 24 * 60;

/** For vendors that read any other time in the zone of whoever asks. A little longer, for clocks that differ. */
export function minutesAgo(from: Date): number {
  return Math.min(TEN_YEARS, Math.max(0, Math.ceil((Date.now() - from.getTime()) / 60_000)) + 5);
}
