/** The tickets of a fake ticketing vendor: 23 of this connection, some of which changed in the same second, and three others. */

export interface Stored {
  number: number;
  createdAt: Date;
  updatedAt: Date;
  comments: string[];
}

export interface FakeTickets<T extends object> {
  all: (T & Stored)[];
  /** A time later than all previous ones. */
  tick(): Date;
  add(ticket: T): T & Stored;
  touch(ticket: T & Stored): void;
  /** Tickets that changed at this time or later, oldest change first. */
  changed(since: number): (T & Stored)[];
}

const OURS = 23;
const FOREIGN = 3;

export function fakeTickets<T extends object>(seed: (n: number, isOurs: boolean) => T): FakeTickets<T> {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const all = Array.from({ length: OURS + FOREIGN }, (_, n): T & Stored => {
    const isOurs = n % 8 !== 5;
    // Some have the same time, as after a bulk edit.
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
      const stored = { ...ticket, number: all.length + 1, createdAt: at, updatedAt: at, comments: [] };
      all.push(stored);
      return stored;
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

/** The page of records at an offset. */
export function pageAt<T>(records: readonly T[], from: number, { pageSize, endless }: { pageSize: number; endless?: boolean }): { page: T[]; more: boolean } {
  const start = endless ? Math.min(from, Math.max(0, records.length - pageSize)) : from;
  return { page: records.slice(start, start + pageSize), more: endless === true || start + pageSize < records.length };
}
