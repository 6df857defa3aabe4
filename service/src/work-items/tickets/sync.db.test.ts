import { describe, expect, it } from 'vitest';
import { useTickets } from '../../testing/integrations/tickets.ts';

const tickets = useTickets();
const writesTo = (requests: { method: string; url: URL }[]) =>
  requests.filter(({ method, url }) => method === 'PUT' || (method === 'POST' && /\/(transitions|comment)$/.test(url.pathname)));

async function linkedItem(findings = 1, given: object = {}) {
  const vendor = await tickets.vendor();
  const items = tickets.items();
  const ids = await items.findings(findings);
  const { id } = await items.item(ids, { title: 'in sync', ...given });
  const ticket = await tickets.linked(id, vendor.connection);
  const states = async () => Promise.all(ids.map(async (finding) => (await items.readFinding(finding)).status));
  return { vendor, items, ids, id, ticket, states, at: ticket.external_id, hear: () => tickets.hear(vendor.connection, vendor.message(ticket.external_id)) };
}

describe('an owned field', () => {
  it('is written when it changes, and no other field is', async () => {
    const { vendor, items, id, at } = await linkedItem();
    await vendor.change(at, { title: 'as people there call it' });
    await items.patch(id, { priority: 'critical', due_at: '2026-12-24T00:00:00Z' });
    await tickets.work();
    expect(await vendor.read(at)).toMatchObject({ title: 'as people there call it', priority: 'critical', dueDate: '2026-12-24' });
    expect(await tickets.timeline(id)).toEqual(expect.arrayContaining(['ticket_written']));
    expect(await tickets.events('ticket.updated')).toContainEqual(
      expect.objectContaining({ work_item_id: id, by: 'work_item', fields: ['body', 'priority', 'due_date'] }),
    );
    const before = writesTo(vendor.requests).length;
    await items.patch(id, { assignee: 'somebody', external_ref: 'OPS-1' });
    await tickets.work();
    expect(writesTo(vendor.requests)).toHaveLength(before);
  });

  it('that only changes the text is written at most every ten minutes', async () => {
    const { vendor, items, id, at } = await linkedItem();
    const before = vendor.requests.length;
    for (const finding of await items.findings(3)) await items.call('POST', `/work-items/${id}/findings`, { finding_ids: [finding] });
    await tickets.work();
    expect(writesTo(vendor.requests.slice(before))).toHaveLength(0);
    await tickets.query(`update rrs.tickets set written_at = now() - interval '11 minutes' where work_item_id = $1`, [id]);
    await tickets.workLater();
    expect(writesTo(vendor.requests.slice(before))).toHaveLength(1);
    expect(JSON.stringify((await vendor.read(at))?.raw)).toContain('4 findings');
  });

  it('that the vendor returns unchanged is not a change', async () => {
    const { vendor, items, id, hear } = await linkedItem();
    await items.patch(id, { title: 'another title' });
    await tickets.work();
    const before = { timeline: await tickets.timeline(id), item: await items.read(id), events: (await tickets.events('ticket.updated')).length };
    const written = writesTo(vendor.requests).length;
    for (let n = 0; n < 3; n++) expect((await hear()).status).toBe(202);
    await tickets.work();
    // A vendor that returned the old title right after it accepted the new one.
    await tickets.query(`update rrs.tickets set theirs = theirs || '{"title": "in sync"}' where work_item_id = $1`, [id]);
    await hear();
    await tickets.work();
    await tickets.poll();
    expect(writesTo(vendor.requests)).toHaveLength(written);
    const after = { timeline: await tickets.timeline(id), item: await items.read(id), events: (await tickets.events('ticket.updated')).length };
    const { tickets: [was] = [], ...itemBefore } = before.item as typeof before.item & { tickets?: { updated_at: string }[] };
    const { tickets: [is] = [], ...itemAfter } = after.item as typeof after.item & { tickets?: { updated_at: string }[] };
    expect([after.timeline, after.events, itemAfter, is?.updated_at]).toEqual([before.timeline, before.events, itemBefore, was?.updated_at]);
  });
});

describe('the state of a ticket', () => {
  it('moves the work item, and done claims its findings as remediated, never as verified', async () => {
    const { vendor, items, id, ticket, states, at, hear } = await linkedItem(2);
    await vendor.change(at, { state: 'in_progress' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['in_progress', ['in_progress', 'in_progress']]);
    await vendor.change(at, { state: 'open' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['open', ['open', 'open']]);
    await vendor.change(at, { state: 'done' });
    await hear();
    await tickets.work();
    expect(await items.read(id)).toMatchObject({ status: 'awaiting_verification' });
    expect(await states()).toEqual(['remediated', 'remediated']);
    const [finding = ''] = (await items.list<{ finding_id: string }>(`/work-items/${id}/findings`)).data.map(({ finding_id }) => finding_id);
    expect(await items.readFinding(finding)).toMatchObject({ status_reason: `ticket ${ticket.key} was closed`, assurance: 'declared' });
    expect((await tickets.timeline(id)).filter((action) => action === 'ticket_changed')).toHaveLength(3);
    for (let n = 0; n < 3; n++) {
      await hear();
      await tickets.work();
      await tickets.poll();
    }
    expect([(await items.read(id)).status, await states()]).toEqual(['awaiting_verification', ['remediated', 'remediated']]);
    expect((await tickets.tickets(id))[0]).toMatchObject({ state: 'done', problems: [] });
  });

  it('that is rejected is listed as drift and moves nothing', async () => {
    const { vendor, items, id, states, at, hear } = await linkedItem();
    await vendor.change(at, { state: 'rejected' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['open', ['open']]);
    const [ticket] = await tickets.tickets(id);
    expect(ticket).toMatchObject({ status: 'linked', state: 'rejected', problems: ['differs'], drift: [{ field: 'state', ours: 'open', theirs: 'rejected' }] });
    expect(await tickets.drift()).toContainEqual(expect.objectContaining({ id: ticket?.id }));
    expect(await tickets.events('ticket.drifted')).toContainEqual(expect.objectContaining({ work_item_id: id }));
  });

  it.each(['in_progress', 'open'] as const)('that goes from done back to %s takes back what it claimed, and only that', async (state) => {
    const { vendor, items, ids, id, at, states, hear } = await linkedItem(2);
    await items.patchFinding(ids[0] ?? '', { status: 'remediated', reason: 'patched by hand' });
    await vendor.change(at, { state: 'done' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['awaiting_verification', ['remediated', 'remediated']]);
    await vendor.change(at, { state });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['in_progress', ['remediated', 'in_progress']]);
    expect((await tickets.tickets(id))[0]).toMatchObject({ problems: [] });
    // The next scan or the next closing of the ticket starts over.
    await vendor.change(at, { state: 'done' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['awaiting_verification', ['remediated', 'remediated']]);
  });

  it('that contradicts claims of people is listed with the reason', async () => {
    const { vendor, items, ids, id, at, states, hear } = await linkedItem();
    await items.patchFinding(ids[0] ?? '', { status: 'remediated', reason: 'patched by hand' });
    await vendor.change(at, { state: 'in_progress' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['awaiting_verification', ['remediated']]);
    const [ticket] = await tickets.tickets(id);
    expect(ticket?.drift).toEqual([
      { field: 'state', ours: 'awaiting_verification', theirs: 'in_progress', reason: expect.stringContaining('1 claimed as remediated') },
    ]);
  });

  it('does not end a block, except when it is done', async () => {
    const { vendor, items, id, states, at, hear } = await linkedItem();
    await items.patch(id, { status: 'blocked', reason: 'waits for a window' });
    await vendor.change(at, { state: 'in_progress' });
    await hear();
    await tickets.work();
    expect((await items.read(id)).status).toBe('blocked');
    await vendor.change(at, { state: 'done' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, await states()]).toEqual(['awaiting_verification', ['remediated']]);
  });
});

describe('closing a work item', () => {
  const commentsOf = async ({ read }: { read(id: string): Promise<{ raw: unknown } | null> }, at: string) => {
    const ticket = await read(at);
    return JSON.stringify((ticket?.raw as { fields?: { comment: unknown } } | undefined)?.fields?.comment);
  };

  it('closes the ticket once, with a comment', async () => {
    const { vendor, items, ids, id, at, hear } = await linkedItem();
    const key = await tickets.api().ours.key('analyst');
    await items.patchFinding(ids[0] ?? '', { status: 'remediated', reason: 'patched' });
    expect((await tickets.items(key).patchFinding(ids[0] ?? '', { status: 'verified' })).status).toBe('verified');
    expect((await items.read(id)).status).toBe('verified');
    await tickets.work();
    expect(await vendor.read(at)).toMatchObject({ state: 'done' });
    expect(await commentsOf(vendor, at)).toContain('verified as remediated');
    // A ticket that is reopened at the vendor is listed as drift and not closed again.
    await vendor.change(at, { state: 'open' });
    const before = writesTo(vendor.requests).length;
    await hear();
    await tickets.work();
    expect(writesTo(vendor.requests)).toHaveLength(before);
    expect((await tickets.tickets(id))[0]).toMatchObject({ problems: ['differs'], drift: [{ field: 'state', ours: 'verified', theirs: 'open' }] });
  });

  it.each([
    ['cancelled', 'rejected', 'given up'],
    ['closed_with_exceptions', 'done', 'exceptions'],
  ])('as %s sets the ticket to %s', async (status, state, comment) => {
    const { vendor, items, ids, id, at } = await linkedItem();
    if (status === 'cancelled') await items.patch(id, { status, reason: 'given up' });
    else await items.falsePositive(ids[0] ?? '');
    expect((await items.read(id)).status).toBe(status);
    await tickets.work();
    expect(await vendor.read(at)).toMatchObject({ state });
    expect(await commentsOf(vendor, at)).toContain(comment);
    expect((await tickets.tickets(id))[0]).toMatchObject({ state, problems: [] });
  });
});

describe('the write limit', () => {
  it('does not pause a ticket that only our own users edit', async () => {
    const { vendor, items, id, at } = await linkedItem();
    for (let n = 1; n <= 14; n++) {
      await items.patch(id, { title: `title ${n}` });
      await tickets.work();
    }
    expect(await vendor.read(at)).toMatchObject({ title: 'title 14' });
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', problems: [] });
  });

  it('pauses a ticket after ten writes within an hour that follow changes at the vendor, until it is repaired', async () => {
    const { vendor, items, id, ticket, at, hear } = await linkedItem();
    const answer = async (n: number): Promise<void> => {
      await vendor.change(at, { title: `changed there ${n}` });
      await hear();
      await tickets.work();
      await items.patch(id, { title: `title ${n}` });
      await tickets.work();
    };
    for (let n = 1; n <= 9; n++) await answer(n);
    // Older writes do not count.
    const old = new Date(Date.now() - 3_600_001).toISOString();
    await tickets.query(`update rrs.tickets set writes = jsonb_build_array($2::text) || (writes - 0) where work_item_id = $1`, [id, old]);
    for (let n = 10; n <= 12; n++) await answer(n);
    expect(await vendor.read(at)).toMatchObject({ title: 'changed there 12' });
    const [paused] = await tickets.tickets(id);
    expect(paused).toMatchObject({ status: 'paused', problems: ['differs', 'paused'], paused_reason: expect.stringContaining('10 times within an hour') });
    expect(await tickets.drift()).toContainEqual(expect.objectContaining({ id: ticket.id, status: 'paused' }));
    expect((await tickets.events('ticket.paused')).filter(({ work_item_id }) => work_item_id === id)).toHaveLength(1);
    // A paused ticket is still read.
    await vendor.change(at, { state: 'in_progress' });
    await hear();
    await tickets.work();
    expect([(await items.read(id)).status, (await tickets.tickets(id))[0]?.status]).toEqual(['in_progress', 'paused']);

    expect(await tickets.repair(id, ticket.id, 'push')).toMatchObject({ status: 202, body: { status: 'linked', repairing: 'push' } });
    await tickets.work();
    expect(await vendor.read(at)).toMatchObject({ title: 'title 12' });
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', problems: [], repairing: null });
  });
});

describe('the text of a ticket', () => {
  it('says what to do, how urgent it is and by when', async () => {
    const vendor = await tickets.vendor();
    const items = tickets.items();
    const [finding = ''] = await items.findings(1);
    await tickets.query(
      `update rrs.findings set kev = true, kev_since = now(), epss = 0.417, due_at = '2026-12-01T00:00:00Z', location = '{"component": "log4j-core", "version": "2.14.1", "fixed_version": "2.17.1"}',
         text_id = '\\x01' where id = $1`,
      [finding],
    );
    await tickets.query(
      `insert into rrs.finding_texts (org_id, id, solution) select org_id, '\\x01', E'Upgrade\n the library.' from rrs.findings where id = $1`,
      [finding],
    );
    const { id } = await items.item([finding], { title: 'Upgrade log4j' });
    const ticket = await tickets.linked(id, vendor.connection);
    const text = JSON.stringify((await vendor.read(ticket.external_id))?.raw);
    for (const part of [
      'Found in: log4j-core 2.14.1',
      'Fixed in: 2.17.1',
      'Urgency: known to be exploited (CISA KEV), EPSS at least 40 %, due by 2026-12-01',
      'Solution: Upgrade the library.',
      `https://rrs.example/work/${id}`,
    ])
      expect(text).toContain(part);
  });
});
