import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Ticket } from '../contract.ts';
import { changes } from './changes.ts';

const MOMENT = 60_000;
const START = Date.parse('2026-11-15T00:00:00Z');

interface Vendor {
  tickets: { id: string; at: number }[];
  pageSize: number;
  /** So much older ones are sent too. */
  slackMs: number;
  disturbed?: { request: number; ticket: number; how: 'changed' | 'gone' };
}

const asTicket = ({ id, at }: { id: string; at: number }): Ticket => ({
  ...{ id, key: id, url: '', state: 'open', stateName: '', title: '', priority: null, dueDate: null, assignee: null, raw: null },
  updatedAt: new Date(at),
});

/** Told by numbered pages, to the minute, with one change between two requests. */
async function walked({ tickets, pageSize, slackMs, disturbed }: Vendor, since = new Date(START)): Promise<Ticket[]> {
  let held = tickets.map((ticket) => ({ ...ticket }));
  let request = 0;
  const told: Ticket[] = [];
  const pages = changes(since, MOMENT, async (from, next) => {
    const first = Math.floor(from.getTime() / MOMENT) * MOMENT - slackMs;
    const found = held.filter(({ at }) => at >= first).sort((one, other) => one.at - other.at || one.id.localeCompare(other.id));
    const skip = Number(next ?? 0);
    const page = found.slice(skip, skip + pageSize).map(asTicket);
    const answer = { tickets: page, next: skip + pageSize < found.length ? String(skip + pageSize) : null };
    const { id } = held[(disturbed?.ticket ?? 0) % Math.max(1, held.length)] ?? {};
    if (disturbed?.request === ++request)
      held = disturbed.how === 'gone' ? held.filter((one) => one.id !== id) : held.map((one) => (one.id === id ? { ...one, at: START + 86_400_000 } : one));
    return answer;
  });
  for await (const page of pages) told.push(...page);
  return told;
}

const vendor = fc.record({
  tickets: fc
    .array(fc.integer({ min: 0, max: 20 * MOMENT }), { maxLength: 30 })
    .map((times) => times.map((ms, index) => ({ id: `t${index}`, at: START + (ms % 3 === 0 ? ms : Math.floor(ms / (5 * MOMENT)) * 5 * MOMENT) }))),
  pageSize: fc.integer({ min: 1, max: 12 }),
  slackMs: fc.constantFrom(0, MOMENT, 5 * MOMENT),
});

describe('what changed since', () => {
  it('is told once and in order, however many changed in a moment', async () => {
    await fc.assert(
      fc.asyncProperty(vendor, async (given) => {
        const told = await walked(given);
        expect(told.map(({ id }) => id).sort()).toEqual(given.tickets.map(({ id }) => id).sort());
        expect(told.map(({ updatedAt }) => updatedAt.getTime())).toEqual(given.tickets.map(({ at }) => at).sort((one, other) => one - other));
      }),
    );
  });

  it('is told although a ticket changes or goes away between two pages', async () => {
    const disturbed = fc.record({ request: fc.integer({ min: 1, max: 12 }), ticket: fc.nat(40), how: fc.constantFrom('changed' as const, 'gone' as const) });
    await fc.assert(
      fc.asyncProperty(vendor, disturbed, async (given, how) => {
        const told = new Set((await walked({ ...given, disturbed: how })).map(({ id }) => id));
        const gone = how.how === 'gone' ? given.tickets[how.ticket % Math.max(1, given.tickets.length)]?.id : undefined;
        for (const { id } of given.tickets) if (id !== gone) expect(told).toContain(id);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves out what is older', async () => {
    const tickets = [0, 1, 2, 3].map((n) => ({ id: `t${n}`, at: START + n * MOMENT }));
    const told = await walked({ tickets, pageSize: 2, slackMs: 5 * MOMENT }, new Date(START + 2 * MOMENT));
    expect(told.map(({ id }) => id)).toEqual(['t2', 't3']);
  });

  it('ends when the vendor repeats itself', async () => {
    const page = [{ id: 'a', at: START }].map(asTicket);
    const endless = changes(new Date(START), MOMENT, async (_, next) => ({ tickets: page, next: String(Number(next ?? 0) + 1) }));
    await expect(async () => {
      for await (const _ of endless);
    }).rejects.toMatchObject({ kind: 'incomplete' });
    const stuck = changes(new Date(START), MOMENT, async () => ({ tickets: page, next: 'same' }));
    await expect(async () => {
      for await (const _ of stuck);
    }).rejects.toMatchObject({ kind: 'incomplete' });
    const empty = changes(new Date(START), MOMENT, async () => ({ tickets: [], next: '2' }));
    await expect(async () => {
      for await (const _ of empty);
    }).rejects.toMatchObject({ kind: 'incomplete' });
  });
});
