import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newId } from '../../shared/ids.ts';
import { jiraFake, ticketingFakes, useTickets } from '../../testing/integrations/tickets.ts';

const tickets = useTickets();

async function linkedItem() {
  const vendor = await tickets.vendor();
  const items = tickets.items();
  const { id } = await items.item(await items.findings(1));
  const ticket = await tickets.linked(id, vendor.connection);
  return { vendor, items, id, ticket, at: ticket.external_id };
}

describe('a webhook request', () => {
  it.each(ticketingFakes.filter(({ inbound }) => inbound).map((fake) => [fake.id, fake] as const))('of %s queues a read of the ticket', async (_, fake) => {
    const vendor = await tickets.vendor(fake);
    const items = tickets.items();
    const { id } = await items.item(await items.findings(1));
    const { external_id } = await tickets.linked(id, vendor.connection);
    await vendor.change(external_id, { state: 'in_progress' });
    const { status, body } = await tickets.hear(vendor.connection, vendor.message(external_id));
    expect([status, body]).toEqual([202, { accepted: true }]);
    expect((await items.read(id)).status).toBe('open');
    await tickets.work();
    expect((await items.read(id)).status).toBe('in_progress');
  });

  it('is not trusted: the state comes from reading the ticket', async () => {
    const { vendor, items, id, at } = await linkedItem();
    const claim = { issue: { id: at, fields: { summary: 'not so', status: { name: 'Done', statusCategory: { key: 'done' } } } } };
    const body = Buffer.from(JSON.stringify(claim));
    const { webhook_secret } = vendor.settings.credentials as { webhook_secret: string };
    const signature = `sha256=${createHmac('sha256', webhook_secret).update(body).digest('hex')}`;
    expect((await tickets.hear(vendor.connection, { headers: { 'x-hub-signature': signature }, body })).status).toBe(202);
    await tickets.work();
    expect((await items.read(id)).status).toBe('open');
    expect((await tickets.tickets(id))[0]?.state).toBe('open');
  });

  it('about an unknown ticket is accepted', async () => {
    const { vendor } = await linkedItem();
    expect((await tickets.hear(vendor.connection, vendor.message('999999'))).status).toBe(202);
  });

  it.each(ticketingFakes.map((fake) => [fake.id, fake] as const))('of %s without a ticket is accepted and reads nothing', async (_, fake) => {
    const vendor = await tickets.vendor(fake);
    const items = tickets.items();
    const { id } = await items.item(await items.findings(1));
    await tickets.linked(id, vendor.connection);
    const before = vendor.requests.length;
    for (let n = 0; n < 40; n++) expect(await tickets.hear(vendor.connection, vendor.message(null))).toMatchObject({ status: 202, body: { accepted: true } });
    await tickets.work();
    expect(vendor.requests).toHaveLength(before);
  });

  it('with an invalid signature is refused and changes nothing', async () => {
    const { vendor, items, id, at } = await linkedItem();
    await vendor.change(at, { state: 'done' });
    const message = vendor.message(at);
    if (!message) throw new Error('no message');
    const forged = [
      { ...message, body: Buffer.from(`${message.body.toString()} `) },
      { ...message, headers: { 'content-type': 'application/json' } },
      { ...message, headers: { ...message.headers, 'x-hub-signature': `sha256=${'0'.repeat(64)}` } },
      { headers: message.headers, body: Buffer.from('{') },
    ];
    for (const each of forged) {
      const { status, body } = await tickets.hear(vendor.connection, each);
      expect([status, body]).toMatchObject([
        401,
        { code: 'unauthenticated', detail: 'The signature is invalid. Check that the webhook secret is the same on both sides.' },
      ]);
    }
    await tickets.work();
    expect((await items.read(id)).status).toBe('open');
  });

  it('for a connection of another organization does not affect ours', async () => {
    const { vendor, items, id, at } = await linkedItem();
    const { config, credentials } = jiraFake.settings(vendor.origin);
    const { body } = await tickets.ask<{ id: string }>('POST', '/integrations', {
      as: tickets.api().theirs.owner,
      body: { provider: 'jira', name: 'theirs', config, credentials: { ...(credentials as object), webhook_secret: 'another-secret-0123' } },
    });
    await vendor.change(at, { state: 'done' });
    expect((await tickets.hear(body.id, vendor.message(at))).status).toBe(401);
    const theirs = { ...vendor.settings, credentials: { ...(credentials as object), webhook_secret: 'another-secret-0123' } } as typeof vendor.settings;
    expect((await tickets.hear(body.id, jiraFake.inbound?.(theirs, at))).status).toBe(202);
    expect((await tickets.hear(vendor.connection, jiraFake.inbound?.(theirs, at))).status).toBe(401);
    await tickets.work();
    expect((await items.read(id)).status).toBe('open');
  });

  it('is limited in size, and rate limited after invalid requests', async () => {
    const { vendor, at } = await linkedItem();
    const message = vendor.message(at);
    if (!message) throw new Error('no message');
    expect((await tickets.hear(vendor.connection, { ...message, body: Buffer.alloc(2 ** 20 + 1, ' ') })).status).toBe(413);
    const statuses = new Set<number>();
    for (let n = 0; n < 40; n++) statuses.add((await tickets.hear(vendor.connection, { ...message, body: Buffer.from('{}') })).status);
    expect([...statuses]).toEqual([401, 429]);
    expect((await tickets.hear(vendor.connection, message)).status).toBe(429);
    const other = await linkedItem();
    expect((await tickets.hear(other.vendor.connection, other.vendor.message(other.at))).status).toBe(202);
  });

  it('for an unknown, deleted or scanner connection returns 404', async () => {
    const { vendor, at } = await linkedItem();
    const scanner = (await tickets.ask<{ id: string }>('POST', '/integrations', { body: { provider: 'cisa_kev', name: 'kev' } })).body.id;
    await tickets.ask('DELETE', `/integrations/${vendor.connection}`);
    for (const id of [newId(), scanner, vendor.connection])
      expect(await tickets.hear(id, vendor.message(at))).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('a poll', () => {
  it('finds a change without a webhook and reads only that ticket', async () => {
    const { vendor, items, id, at } = await linkedItem();
    const other = await items.item([]);
    await tickets.linked(other.id, vendor.connection);
    await tickets.poll();
    await vendor.change(at, { state: 'in_progress' });
    const before = vendor.requests.length;
    await tickets.poll();
    expect((await items.read(id)).status).toBe('in_progress');
    const read = vendor.requests.slice(before).filter(({ method }) => method === 'GET');
    expect(read.map(({ url }) => url.pathname.split('/').at(-1))).toEqual([at]);
  });

  it('that fails is shown on the tickets, and the next poll catches up', async () => {
    const { vendor, items, id, at } = await linkedItem();
    await tickets.poll();
    const broken = await tickets.fake(jiraFake, {}, { kind: 'status', at: 1, status: 500 });
    const moveTo = (origin: string) => tickets.move(vendor.connection, jiraFake, origin);
    await moveTo(broken.origin);
    await tickets.poll();
    expect((await tickets.drift()).find(({ work_item }) => work_item.id === id)).toMatchObject({
      status: 'linked',
      problems: ['unread'],
      error: { kind: 'unavailable', message: expect.stringContaining('500') },
    });
    await vendor.change(at, { state: 'in_progress' });
    await moveTo(vendor.origin);
    await tickets.poll();
    expect((await items.read(id)).status).toBe('in_progress');
    expect((await tickets.tickets(id))[0]).toMatchObject({ problems: [], error: null });
  });

  it('stops at a page limit', async () => {
    const { vendor, id } = await linkedItem();
    const endless = await tickets.fake(jiraFake, { endless: true });
    await tickets.move(vendor.connection, jiraFake, endless.origin);
    await tickets.poll();
    expect((await tickets.tickets(id))[0]).toMatchObject({ problems: ['unread'], error: { kind: 'incomplete' } });
  });

  it('skips connections without tickets', async () => {
    const vendor = await tickets.vendor();
    await tickets.poll();
    expect(vendor.requests).toHaveLength(0);
  });
});
