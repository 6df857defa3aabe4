import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ticket } from '../contract.ts';
import { changes } from './changes.ts';

const TICK = 60_000;
const START = Date.parse('2026-11-15T00:00:00Z');

interface Vendor {
  tickets: { id: string; at: number }[];
  pageSize: number;
  /** The vendor also sends tickets that are this much too old. */
  slackMs: number;
  disturbance?: { request: number; ticket: number; effect: 'changed' | 'deleted' };
}

const asTicket = ({ id, at }: { id: string; at: number }): Ticket => ({
  ...{ id, key: id, url: '', state: 'open', stateName: '', title: '', priority: null, dueDate: null, assignee: null, raw: null },
  updatedAt: new Date(at),
});

/** Walks through numbered pages of a vendor with a resolution of one minute and one change between two requests. */
async function walk({ tickets, pageSize, slackMs, disturbance }: Vendor, since = new Date(START)): Promise<Ticket[]> {
  let stored = tickets.map((ticket) => ({ ...ticket }));
  let request = 0;
  const received: Ticket[] = [];
  const pages = changes(since, TICK, async (from, next) => {
    const first = Math.floor(from.getTime() / TICK) * TICK - slackMs;
    const found = stored.filter(({ at }) => at >= first).sort((one, other) => one.at - other.at || one.id.localeCompare(other.id));
    const skip = Number(next ?? 0);
    const page = found.slice(skip, skip + pageSize).map(asTicket);
    const answer = { tickets: page, next: skip + pageSize < found.length ? String(skip + pageSize) : null };
    const { id } = stored[(disturbance?.ticket ?? 0) % Math.max(1, stored.length)] ?? {};
    if (disturbance?.request === ++request)
      stored =
        disturbance.effect === 'deleted'
          ? stored.filter((one) => one.id !== id)
          : stored.map((one) => (one.id === id ? { ...one, at: START + 86_400_000 } : one));
    return answer;
  });
  for await (const page of pages) received.push(...page);
  return received;
}

const vendor = fc.record({
  tickets: fc
    .array(fc.integer({ min: 0, max: 20 * TICK }), { maxLength: 30 })
    .map((times) => times.map((ms, index) => ({ id: `t${index}`, at: START + (ms % 3 === 0 ? ms : Math.floor(ms / (5 * TICK)) * 5 * TICK) }))),
  pageSize: fc.integer({ min: 1, max: 12 }),
  slackMs: fc.constantFrom(0, TICK, 5 * TICK),
});

describe('changes', () => {
  it('yields every ticket once and in order, however many changed within one tick', async () => {
    await fc.assert(
      fc.asyncProperty(vendor, async (given) => {
        const received = await walk(given);
        expect(received.map(({ id }) => id).sort()).toEqual(given.tickets.map(({ id }) => id).sort());
        expect(received.map(({ updatedAt }) => updatedAt.getTime())).toEqual(given.tickets.map(({ at }) => at).sort((one, other) => one - other));
      }),
    );
  });

  it('misses no ticket when one changes or is deleted between two pages', async () => {
    const disturbance = fc.record({
      request: fc.integer({ min: 1, max: 12 }),
      ticket: fc.nat(40),
      effect: fc.constantFrom('changed' as const, 'deleted' as const),
    });
    await fc.assert(
      fc.asyncProperty(vendor, disturbance, async (given, event) => {
        const received = new Set((await walk({ ...given, disturbance: event })).map(({ id }) => id));
        const deleted = event.effect === 'deleted' ? given.tickets[event.ticket % Math.max(1, given.tickets.length)]?.id : undefined;
        for (const { id } of given.tickets) if (id !== deleted) expect(received).toContain(id);
      }),
      { numRuns: 500 },
    );
  });

  it('drops tickets that are older than requested', async () => {
    const tickets = [0, 1, 2, 3].map((n) => ({ id: `t${n}`, at: START + n * TICK }));
    const received = await walk({ tickets, pageSize: 2, slackMs: 5 * TICK }, new Date(START + 2 * TICK));
    expect(received.map(({ id }) => id)).toEqual(['t2', 't3']);
  });

  it('fails when the vendor repeats pages', async () => {
    const page = [{ id: 'a', at: START }].map(asTicket);
    const endless = changes(new Date(START), TICK, async (_, next) => ({ tickets: page, next: String(Number(next ?? 0) + 1) }));
    await expect(async () => {
      for await (const _ of endless);
    }).rejects.toMatchObject({ kind: 'incomplete' });
    const stuck = changes(new Date(START), TICK, async () => ({ tickets: page, next: 'same' }));
    await expect(async () => {
      for await (const _ of stuck);
    }).rejects.toMatchObject({ kind: 'incomplete' });
    const empty = changes(new Date(START), TICK, async () => ({ tickets: [], next: '2' }));
    await expect(async () => {
      for await (const _ of empty);
    }).rejects.toMatchObject({ kind: 'incomplete' });
  });
});
