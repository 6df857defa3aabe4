import { describe, expect, it, onTestFinished } from 'vitest';
import { startWorker } from '../../jobs/worker.ts';
import { newId } from '../../shared/ids.ts';
import { jiraFake, ticketingFakes, useTickets } from '../../testing/integrations/tickets.ts';
import { markerOf } from './fields.ts';
import { releaseTicketLeases } from './lease.ts';

const tickets = useTickets();
const createdAt = (requests: { method: string; url: URL; body: string }[]) =>
  requests.filter(({ method, url }) => method === 'POST' && url.pathname.endsWith('/issue'));

describe('pushing a work item', () => {
  it('responds immediately, and a job creates the ticket', async () => {
    const vendor = await tickets.vendor();
    const items = tickets.items();
    const ids = await items.findings(2);
    const { id } = await items.item(ids, { title: 'Upgrade log4j', description: 'In all regions.', priority: 'high', due_at: '2026-11-30T12:00:00Z' });
    const pushed = await tickets.push(id, vendor.connection);
    expect(pushed).toMatchObject({ status: 'pushing', key: null, state: null, problems: [] });
    expect(vendor.requests).toHaveLength(0);

    await tickets.work();
    const [ticket] = await tickets.tickets(id);
    expect(ticket).toMatchObject({
      id: pushed.id,
      status: 'linked',
      key: 'SEC-27',
      state: 'open',
      assignee: 'Ada Lovelace',
      problems: [],
      drift: [],
      error: null,
    });
    expect(await vendor.read('SEC-27')).toMatchObject({ title: 'Upgrade log4j', priority: 'high', dueDate: '2026-11-30', state: 'open' });
    const sent = createdAt(vendor.requests)[0]?.body;
    for (const text of ['In all regions.', 'Due by 2026-11-30.', '2 findings', 'weak', `https://rrs.example/work/${id}`]) expect(sent).toContain(text);
    expect(await items.read(id)).toMatchObject({ tickets: [{ id: pushed.id, key: 'SEC-27' }] });
    expect(await tickets.timeline(id)).toEqual(expect.arrayContaining(['ticket_pushed', 'ticket_linked']));
    expect(await tickets.events('ticket.linked')).toContainEqual(
      expect.objectContaining({ work_item_id: id, key: 'SEC-27', found: false, assignee: 'Ada Lovelace' }),
    );
  });

  it('repeatedly or concurrently returns the same ticket', async () => {
    const vendor = await tickets.vendor();
    const { id } = await tickets.items().item([]);
    const answers = await Promise.all([1, 2, 3, 4].map(() => tickets.push(id, vendor.connection)));
    expect(new Set(answers.map((answer) => answer.id)).size).toBe(1);
    const job = { org_id: tickets.api().ours.id, ticket_id: answers[0]?.id ?? '' };
    await Promise.all([1, 2, 3].map(() => tickets.perform('sync_ticket', job)));
    await tickets.work();
    await tickets.workLater();
    expect(createdAt(vendor.requests)).toHaveLength(1);
    expect(await tickets.push(id, vendor.connection)).toMatchObject({ id: answers[0]?.id, status: 'linked', key: 'SEC-27' });
    await tickets.work();
    expect(createdAt(vendor.requests)).toHaveLength(1);
    expect((await tickets.timeline(id)).filter((action) => action === 'ticket_pushed')).toHaveLength(1);
  });

  it('creates no second ticket if the response of the vendor was lost', async () => {
    // The first response is the search for the ticket, the second is its creation.
    const vendor = await tickets.vendor(jiraFake, { fault: { kind: 'dropped', at: 2, for: 1 } });
    const { id } = await tickets.items().item([], { title: 'made once' });
    await tickets.push(id, vendor.connection);
    await tickets.work();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'failed', key: null, error: { kind: 'unavailable' } });
    expect(createdAt(vendor.requests)).toHaveLength(1);
    await tickets.workLater();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', key: 'SEC-27', error: null, problems: [] });
    expect(createdAt(vendor.requests)).toHaveLength(1);
    expect(await tickets.events('ticket.linked')).toContainEqual(expect.objectContaining({ work_item_id: id, found: true }));
  });

  it.each([
    ['when the lease has expired', () => tickets.query(`update rrs.tickets set leased_until = now() - interval '1 second' where lease_id is not null`)],
    ['when a service that is the only process starts', () => releaseTicketLeases(tickets.api().db)],
  ])('creates no second ticket if the worker died before it stored the first, and continues %s', async (_when, ended) => {
    const vendor = await tickets.vendor();
    const { id } = await tickets.items().item([], { title: 'made once' });
    const { id: ticketId } = await tickets.push(id, vendor.connection);
    const key = markerOf(tickets.api().ours.id, id);
    await vendor.create({ key, title: 'made once', body: ['x'], priority: 'medium', dueDate: null, url: 'https://rrs.example' });
    await tickets.query(`update rrs.tickets set lease_id = id, leased_until = now() + interval '1 minute' where id = $1`, [ticketId]);
    await tickets.work();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'pushing', key: null });
    await ended();
    await tickets.workLater();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', key: 'SEC-27' });
    expect(createdAt(vendor.requests)).toHaveLength(1);
  });

  it('fails with an explanation while the vendor is down, and is retried automatically', async () => {
    const vendor = await tickets.vendor(jiraFake, { fault: { kind: 'status', at: 1, status: 503 } });
    const { id } = await tickets.items().item([]);
    await tickets.push(id, vendor.connection);
    await tickets.work();
    const [failed] = await tickets.tickets(id);
    expect(failed).toMatchObject({
      status: 'failed',
      problems: ['failed'],
      error: { kind: 'unavailable', message: expect.stringMatching(/Jira Cloud.*503/s) },
    });
    expect(Date.parse(failed?.retry_at ?? '')).toBeGreaterThan(Date.now());
    expect(await tickets.events('ticket.failed')).toContainEqual(expect.objectContaining({ work_item_id: id, kind: 'unavailable' }));
    await tickets.workLater();
    expect(await tickets.timeline(id)).toEqual(['created', 'ticket_pushed', 'ticket_failed']);
    const { origin } = await tickets.fake(jiraFake);
    await tickets.move(vendor.connection, jiraFake, origin);
    await tickets.workLater();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', error: null, retry_at: null, problems: [] });
  });

  it('is carried out by a worker', async () => {
    const vendor = await tickets.vendor();
    const { databaseUrl: url, db } = tickets.api();
    const worker = await startWorker({ url, db, handlers: tickets.handlers(), concurrency: 2, log: { info: () => {}, error: () => {} } });
    onTestFinished(() => worker.stop());
    const { id } = await tickets.items().item([], { title: 'by a worker' });
    await tickets.push(id, vendor.connection);
    await expect.poll(async () => (await tickets.tickets(id))[0]?.status, { timeout: 10_000 }).toBe('linked');
    await tickets.items().patch(id, { title: 'changed' });
    await expect.poll(async () => (await vendor.read('SEC-27'))?.title, { timeout: 10_000 }).toBe('changed');
  });

  it('with refused credentials names the required permissions', async () => {
    const { origin } = await tickets.fake(jiraFake);
    const connection = await tickets.connect(jiraFake, origin, { credentials: jiraFake.refused?.(origin).credentials });
    const { id } = await tickets.items().item([]);
    await tickets.push(id, connection);
    await tickets.work();
    expect((await tickets.tickets(id))[0]).toMatchObject({
      status: 'failed',
      error: { kind: 'credentials', message: expect.stringContaining('create, edit') },
    });
  });

  it('is refused for unknown ids, other connection kinds, paused connections and closed work items', async () => {
    const vendor = await tickets.vendor();
    const { id } = await tickets.items().item([]);
    const push = (item: string, connection_id: unknown) => tickets.ask<{ detail: string }>('POST', `/work-items/${item}/tickets`, { body: { connection_id } });
    const scanner = (await tickets.ask<{ id: string }>('POST', '/integrations', { body: { provider: 'cisa_kev', name: 'kev' } })).body.id;
    expect(await push(id, scanner)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('ticketing') } });
    expect((await push(id, newId())).status).toBe(404);
    expect((await push(newId(), vendor.connection)).status).toBe(404);
    await tickets.ask('PATCH', `/integrations/${vendor.connection}`, { body: { enabled: false } });
    expect(await push(id, vendor.connection)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('paused') } });
    await tickets.ask('PATCH', `/integrations/${vendor.connection}`, { body: { enabled: true } });
    await tickets.items().patch(id, { status: 'cancelled', reason: 'not ours' });
    expect(await push(id, vendor.connection)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('cancelled') } });
  });
});

describe('unlinking', () => {
  it('does not change the ticket, and pushing again links the same ticket', async () => {
    const vendor = await tickets.vendor();
    const { id } = await tickets.items().item([], { title: 'before' });
    const ticket = await tickets.linked(id, vendor.connection);
    expect((await tickets.ask('DELETE', `/work-items/${id}/tickets/${ticket.id}`)).status).toBe(204);
    expect((await tickets.ask('DELETE', `/work-items/${id}/tickets/${ticket.id}`)).status).toBe(404);
    expect(await tickets.tickets(id)).toEqual([]);
    await tickets.items().patch(id, { title: 'after' });
    await tickets.work();
    expect(await vendor.read(ticket.external_id)).toMatchObject({ title: 'before' });
    const again = await tickets.linked(id, vendor.connection);
    expect([again.key, again.id === ticket.id]).toEqual([ticket.key, false]);
    expect(await vendor.read(ticket.external_id)).toMatchObject({ title: 'after' });
    expect(createdAt(vendor.requests)).toHaveLength(1);
  });
});

describe('another organization', () => {
  it('cannot see or change the tickets', async () => {
    const vendor = await tickets.vendor();
    const { id } = await tickets.items().item([]);
    const ticket = await tickets.linked(id, vendor.connection);
    const { owner } = tickets.api().theirs;
    const { id: own } = await tickets.items(owner).item([]);
    const as = { as: owner };
    const asked = [
      await tickets.ask('GET', `/work-items/${id}/tickets`, as),
      await tickets.ask('POST', `/work-items/${id}/tickets`, { ...as, body: { connection_id: vendor.connection } }),
      await tickets.ask('POST', `/work-items/${own}/tickets`, { ...as, body: { connection_id: vendor.connection } }),
      await tickets.ask('DELETE', `/work-items/${id}/tickets/${ticket.id}`, as),
      await tickets.ask('DELETE', `/work-items/${own}/tickets/${ticket.id}`, as),
      await tickets.ask('POST', `/work-items/${own}/tickets/${ticket.id}/repair`, { ...as, body: { direction: 'push' } }),
    ];
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 404));
    expect((await tickets.ask<{ data: unknown[] }>('GET', '/tickets/drift', as)).body.data).toEqual([]);
    // A job of the other organization that names our ticket must not change it either.
    const before = await vendor.read(ticket.external_id);
    await tickets.perform('sync_ticket', { org_id: tickets.api().theirs.id, ticket_id: ticket.id });
    await tickets.perform('poll_tickets', { org_id: tickets.api().theirs.id, connection_id: vendor.connection });
    expect(await vendor.read(ticket.external_id)).toEqual(before);
    expect((await tickets.tickets(id))[0]).toMatchObject({ id: ticket.id, status: 'linked' });
  });
});

describe.each(ticketingFakes.map((fake) => [fake.id, fake] as const))('%s', (_, fake) => {
  it('receives a work item, its changes and its closing, and returns its own states', async () => {
    const vendor = await tickets.vendor(fake);
    const items = tickets.items();
    const [finding = ''] = await items.findings(1);
    const { id } = await items.item([finding], { title: 'one of many', priority: 'low' });
    const ticket = await tickets.linked(id, vendor.connection);
    expect(ticket).toMatchObject({ status: 'linked', state: 'open', problems: [] });
    await items.patch(id, { title: 'one of a kind', priority: 'critical' });
    await tickets.work();
    expect(await vendor.read(ticket.external_id)).toMatchObject({ title: 'one of a kind' });
    await vendor.change(ticket.external_id, { state: 'in_progress' });
    await tickets.poll();
    expect(await items.read(id)).toMatchObject({ status: 'in_progress' });
    await vendor.change(ticket.external_id, { state: 'done' });
    await tickets.poll();
    expect(await items.read(id)).toMatchObject({ status: 'awaiting_verification' });
    await items.patch(id, { status: 'cancelled', reason: 'the product is gone' });
    await tickets.work();
    expect(await vendor.read(ticket.external_id)).toMatchObject({ state: 'rejected' });
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', state: 'rejected', problems: [], error: null });
  });
});
