/** What every fake of a ticketing vendor has in memory: 23 tickets of this connection, some that changed in the same second, and three of somebody else's. */

export interface Kept {
  number: number;
  createdAt: Date;
  updatedAt: Date;
  comments: string[];
}

export interface FakeTickets<T extends object> {
  all: (T & Kept)[];
  /** Later than anything that happened before. */
  tick(): Date;
  add(ticket: T): T & Kept;
  touch(ticket: T & Kept): void;
  /** Changed at that time or later, oldest change first. */
  changed(since: number): (T & Kept)[];
}

const OURS = 23;
const FOREIGN = 3;

export function fakeTickets<T extends object>(seed: (n: number, isOurs: boolean) => T): FakeTickets<T> {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const all = Array.from({ length: OURS + FOREIGN }, (_, n): T & Kept => {
    const isOurs = n % 8 !== 5;
    // Some changed together, as when many are edited at once.
    const at = new Date(now - (60 - (n >= 10 && n < 14 ? 10 : n)) * 7 * 60_000);
    return { ...seed(n + 1, isOurs), number: n + 1, createdAt: at, updatedAt: at, comments: [] };
  });
  let latest = now;
  const tick = (): Date => {
    latest = Math.max(Date.now(), latest + 1);
    return new Date(latest);
  };
  return {
    all,
    tick,
    add(ticket) {
      const at = tick();
      const kept = { ...ticket, number: all.length + 1, createdAt: at, updatedAt: at, comments: [] };
      all.push(kept);
      return kept;
    },
    touch(ticket) {
      ticket.updatedAt = tick();
    },
    changed: (since) =>
      all
        .filter(({ updatedAt }) => updatedAt.getTime() >= since)
        .sort((one, other) => one.updatedAt.getTime() - other.updatedAt.getTime() || one.number - other.number),
  };
}

/** Which of the records a page has, by an offset that the vendor hands out. */
export function cut<T>(records: readonly T[], from: number, { pageSize, endless }: { pageSize: number; endless?: boolean }): { page: T[]; more: boolean } {
  const start = endless ? Math.min(from, Math.max(0, records.length - pageSize)) : from;
  return { page: records.slice(start, start + pageSize), more: endless === true || start + pageSize < records.length };
}
