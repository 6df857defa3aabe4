import { expect, it } from 'vitest';
import type { Database } from '../../db/database.ts';
import { newId } from '../../shared/ids.ts';
import { useTickets } from '../../testing/integrations/tickets.ts';
import { type LeasedTicket, leaseTicket, releaseTicket } from './lease.ts';

const tickets = useTickets();

async function linkedTicket() {
  const vendor = await tickets.vendor();
  const items = tickets.items();
  const { id } = await items.item(await items.findings(1), { title: 'leased' });
  const { db, ours } = tickets.api();
  const ticket = await tickets.linked(id, vendor.connection);
  return { db, orgId: ours.id, id: ticket.id };
}

/** A database that goes away after it did what it was told, or before. */
const failing = (db: Database, when: 'before' | 'after'): Database => ({
  ...db,
  withTenant: async (tenant, work) => {
    if (when === 'after') await db.withTenant(tenant, work);
    throw new Error('the database went away');
  },
});

it('a ticket does not wait for a lease that could not be released', async () => {
  const { db, orgId, id } = await linkedTicket();
  const leased = (await leaseTicket(db, orgId, id)) as LeasedTicket;
  expect(await leaseTicket(db, orgId, id)).toBe('busy');
  await releaseTicket(failing(db, 'before'), leased);
  const again = (await leaseTicket(db, orgId, id)) as LeasedTicket;
  expect(again.ticket.id).toBe(id);
  expect(await leaseTicket(db, orgId, id)).toBe('busy');
  await releaseTicket(db, again);
});

it('a ticket does not wait for a lease that was recorded, but not confirmed', async () => {
  const { db, orgId, id } = await linkedTicket();
  await expect(leaseTicket(failing(db, 'after'), orgId, id)).rejects.toThrow('went away');
  await expect(leaseTicket(failing(db, 'after'), orgId, id)).rejects.toThrow('went away');
  expect(await leaseTicket(db, orgId, id)).toMatchObject({ ticket: { id } });
});

it('a lease of another process is not taken over', async () => {
  const { db, orgId, id } = await linkedTicket();
  const leased = (await leaseTicket(db, orgId, id)) as LeasedTicket;
  await releaseTicket(failing(db, 'before'), leased);
  await tickets.query(`update rrs.tickets set lease_id = $2, leased_until = now() + interval '1 minute' where id = $1`, [id, newId()]);
  expect(await leaseTicket(db, orgId, id)).toBe('busy');
});
