import { describe, expect, it } from 'vitest';
import { jiraFake, useTickets } from '../../testing/integrations/tickets.ts';

const tickets = useTickets();

async function linkedItem(given: object = {}) {
  const vendor = await tickets.vendor();
  const items = tickets.items();
  const ids = await items.findings(1);
  const { id } = await items.item(ids, { title: 'ours', priority: 'high', due_at: '2026-11-30T12:00:00Z', ...given });
  const ticket = await tickets.linked(id, vendor.connection);
  return { vendor, items, id, ticket, finding: ids[0] ?? '', at: ticket.external_id };
}
const driftOf = async (id: string) => (await tickets.drift()).find(({ work_item }) => work_item.id === id);

describe('a change of owned fields at the vendor', () => {
  const changed = { title: 'theirs', priority: 'low', dueDate: '2027-01-31' } as const;

  it('is listed with both values and not undone', async () => {
    const { vendor, items, id, ticket, at } = await linkedItem();
    expect(await driftOf(id)).toBeUndefined();
    await vendor.change(at, changed);
    await tickets.poll();
    expect(await driftOf(id)).toMatchObject({
      id: ticket.id,
      status: 'linked',
      problems: ['differs'],
      work_item: { id, title: 'ours', status: 'open' },
      drift: [
        { field: 'title', ours: 'ours', theirs: 'theirs' },
        { field: 'priority', ours: 'high', theirs: 'low' },
        { field: 'due_date', ours: '2026-11-30', theirs: '2027-01-31' },
      ],
    });
    expect(await vendor.read(at)).toMatchObject(changed);
    expect(await items.read(id)).toMatchObject({ title: 'ours', priority: 'high' });
    expect(await tickets.timeline(id)).toEqual(expect.arrayContaining(['ticket_changed', 'ticket_drifted']));
  });

  it('is overwritten by a repair with push', async () => {
    const { vendor, items, id, ticket, at } = await linkedItem();
    await items.patch(id, { status: 'in_progress' });
    await vendor.change(at, { ...changed, state: 'rejected' });
    await tickets.poll();
    expect((await driftOf(id))?.drift.map(({ field }) => field)).toEqual(['title', 'priority', 'due_date', 'state']);
    expect((await tickets.repair(id, ticket.id, 'push')).body).toMatchObject({ repairing: 'push' });
    await tickets.work();
    expect(await vendor.read(at)).toMatchObject({ title: 'ours', priority: 'high', dueDate: '2026-11-30', state: 'in_progress' });
    expect(await items.read(id)).toMatchObject({ title: 'ours', status: 'in_progress' });
    expect(await driftOf(id)).toBeUndefined();
  });

  it('is copied by a repair with pull on behalf of the requester, and not written back', async () => {
    const { vendor, items, id, ticket, at } = await linkedItem();
    await vendor.change(at, { ...changed, state: 'in_progress' });
    await tickets.query(`update rrs.tickets set changes_announced = changes_announced + 1 where id = $1`, [ticket.id]);
    expect((await tickets.repair(id, ticket.id, 'pull')).status).toBe(202);
    const before = vendor.requests.length;
    await tickets.work();
    expect(await items.read(id)).toMatchObject({ title: 'theirs', priority: 'low', due_at: '2027-01-31T23:59:59.000Z', status: 'in_progress' });
    expect(vendor.requests.slice(before).filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await driftOf(id)).toBeUndefined();
    const { body } = await tickets.ask<{ data: { action: string; actor: { type: string }; after: object }[] }>('GET', `/work-items/${id}/timeline`);
    expect(body.data).toContainEqual(expect.objectContaining({ action: 'work_item.updated', actor: expect.objectContaining({ type: 'api_key' }) }));
    await items.patch(id, { priority: 'medium' });
    await tickets.work();
    expect(await vendor.read(at)).toMatchObject({ title: 'theirs', priority: 'medium', dueDate: '2027-01-31' });
  });

  it('is copied by pull only as far as the rules of work items allow', async () => {
    const { vendor, items, id, ticket, at, finding } = await linkedItem();
    await items.patchFinding(finding, { status: 'remediated', reason: 'patched by hand' });
    await vendor.change(at, { title: 'theirs', state: 'in_progress' });
    await tickets.poll();
    await tickets.repair(id, ticket.id, 'pull');
    await tickets.work();
    expect(await items.read(id)).toMatchObject({ title: 'theirs', status: 'awaiting_verification' });
    expect((await items.readFinding(finding)).status).toBe('remediated');
    expect((await driftOf(id))?.drift).toEqual([expect.objectContaining({ field: 'state', reason: expect.stringContaining('claimed as remediated') })]);
  });
});

describe('a change of the work item alone', () => {
  it('is listed as drift when the ticket is done and the finding came back', async () => {
    const { vendor, items, id, at, finding } = await linkedItem();
    await vendor.change(at, { state: 'done' });
    await tickets.poll();
    expect(await driftOf(id)).toBeUndefined();
    await items.patchFinding(finding, { status: 'open', reason: 'seen again' });
    expect((await items.read(id)).status).toBe('in_progress');
    const before = vendor.requests.length;
    await tickets.work();
    expect(vendor.requests).toHaveLength(before);
    expect((await driftOf(id))?.drift).toEqual([expect.objectContaining({ field: 'state', ours: 'in_progress', theirs: 'done' })]);
  });
});

describe('a ticket that was deleted at the vendor', () => {
  it('is listed, cannot be pulled from, and is recreated by push', async () => {
    const { vendor, items, id, ticket } = await linkedItem();
    const { origin } = await tickets.fake(jiraFake);
    await tickets.move(vendor.connection, jiraFake, origin);
    await tickets.query(`update rrs.tickets set read_at = now() - interval '25 hours' where id = $1`, [ticket.id]);
    await tickets.poll();
    expect(await driftOf(id)).toMatchObject({ problems: ['gone'], status: 'linked' });
    expect(await tickets.events('ticket.gone')).toContainEqual(expect.objectContaining({ work_item_id: id }));
    await items.patch(id, { title: 'written nowhere' });
    await tickets.work();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', error: null });
    expect(await tickets.repair(id, ticket.id, 'pull')).toMatchObject({ status: 409 });
    expect((await tickets.repair(id, ticket.id, 'push')).status).toBe(202);
    await tickets.work();
    expect((await tickets.tickets(id))[0]).toMatchObject({ id: ticket.id, status: 'linked', key: 'SEC-27', problems: [] });
    expect(await driftOf(id)).toBeUndefined();
  });
});

describe('a connection', () => {
  it('that is deleted leaves its tickets failed with an explanation', async () => {
    const { vendor, items, id, ticket } = await linkedItem();
    await tickets.ask('DELETE', `/integrations/${vendor.connection}`);
    await items.patch(id, { title: 'another' });
    await tickets.work();
    expect(await driftOf(id)).toMatchObject({
      status: 'failed',
      error: { kind: 'configuration', message: expect.stringContaining('deleted') },
      retry_at: null,
    });
    expect((await tickets.repair(id, ticket.id, 'push')).status).toBe(409);
  });

  it('that is paused sends no requests, and catches up when it is enabled', async () => {
    const { vendor, items, id, at } = await linkedItem();
    await tickets.ask('PATCH', `/integrations/${vendor.connection}`, { body: { enabled: false } });
    const before = vendor.requests.length;
    await items.patch(id, { title: 'later' });
    await tickets.work();
    await tickets.poll();
    expect(vendor.requests).toHaveLength(before);
    await tickets.ask('PATCH', `/integrations/${vendor.connection}`, { body: { enabled: true } });
    await tickets.poll();
    expect(await vendor.read(at)).toMatchObject({ title: 'later' });
  });
});
