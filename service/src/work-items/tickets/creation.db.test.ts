import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { jiraFake, useTickets } from '../../testing/integrations/tickets.ts';
import { releaseTicketLeases } from './lease.ts';

const tickets = useTickets();
const createdAt = (requests: { method: string; url: URL }[]) => requests.filter(({ method, url }) => method === 'POST' && url.pathname.endsWith('/issue'));

describe('a ticket whose creation the vendor did not confirm', () => {
  it('is not created again while the search of the vendor may not show it yet, also when it is pushed by hand', async () => {
    let isSearchBehind = true;
    const vendor = await tickets.vendor(jiraFake, { fault: { kind: 'dropped', at: 2, for: 1 }, options: { isSearchBehind: () => isSearchBehind } });
    const { id } = await tickets.items().item([], { title: 'made once' });
    await tickets.push(id, vendor.connection);
    await tickets.work();
    for (let n = 0; n < 3; n++) {
      await tickets.push(id, vendor.connection);
      await tickets.work();
      expect((await tickets.tickets(id))[0]).toMatchObject({
        status: 'failed',
        error: { kind: 'unavailable', message: expect.stringContaining('did not confirm that it created the ticket') },
      });
    }
    // Unlinking and pushing again does not forget it.
    const [first] = await tickets.tickets(id);
    await tickets.ask('DELETE', `/work-items/${id}/tickets/${first?.id}`);
    await tickets.push(id, vendor.connection);
    await tickets.work();
    expect(createdAt(vendor.requests)).toHaveLength(1);
    isSearchBehind = false;
    await tickets.workLater();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', key: 'SEC-27', problems: [] });
    expect(createdAt(vendor.requests)).toHaveLength(1);
  });

  it('is created again when the search does not show it after two minutes', async () => {
    const vendor = await tickets.vendor(jiraFake, { fault: { kind: 'refused', status: 503, for: 1 } });
    const { id } = await tickets.items().item([], { title: 'refused once' });
    await tickets.push(id, vendor.connection);
    await tickets.work();
    await tickets.query(`update rrs.tickets set creating_at = now() - interval '121 seconds' where work_item_id = $1`, [id]);
    await tickets.workLater();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', key: 'SEC-27' });
  });

  it('is not created again after a kill -9 in the middle', async () => {
    let isSearchBehind = true;
    const vendor = await tickets.vendor(jiraFake, { fault: { kind: 'hang', at: 2, for: 1 }, options: { isSearchBehind: () => isSearchBehind } });
    const { id } = await tickets.items().item([], { title: 'made once' });
    const { id: ticketId } = await tickets.push(id, vendor.connection);
    const { databaseUrl, blobFolder, ours, db } = tickets.api();
    const program = fileURLToPath(new URL('../../testing/programs/sync-ticket.ts', import.meta.url));
    const child = spawn(process.execPath, [program, databaseUrl, `${blobFolder}-keys`, ours.id, ticketId], { stdio: ['ignore', 'ignore', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect.poll(() => createdAt(vendor.requests).length, { timeout: 20_000 }).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await releaseTicketLeases(db);
    await tickets.work();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'failed', key: null });
    isSearchBehind = false;
    await tickets.workLater();
    expect((await tickets.tickets(id))[0]).toMatchObject({ status: 'linked', key: 'SEC-27' });
    expect(createdAt(vendor.requests)).toHaveLength(1);
  }, 60_000);
});

it('a ticket that carries the marker of another one is reported until a repair', async () => {
  const vendor = await tickets.vendor();
  const { id } = await tickets.items().item([], { title: 'copied' });
  const ticket = await tickets.linked(id, vendor.connection);
  const { rows } = await tickets.query('select marker from rrs.tickets where id = $1', [ticket.id]);
  const copy = await vendor.create({ key: rows[0]?.marker, title: 'copy', body: ['x'], priority: 'low', dueDate: null, url: 'https://rrs.example' });
  for (let n = 0; n < 2; n++) await tickets.poll();
  const [known] = await tickets.tickets(id);
  expect(known).toMatchObject({ key: ticket.key, problems: ['duplicated'], duplicates: [{ key: copy.key, url: copy.url }] });
  expect(await tickets.drift()).toContainEqual(expect.objectContaining({ id: ticket.id }));
  expect((await tickets.events('ticket.drifted')).filter(({ work_item_id }) => work_item_id === id)).toHaveLength(1);
  await tickets.repair(id, ticket.id, 'push');
  await tickets.work();
  expect((await tickets.tickets(id))[0]).toMatchObject({ problems: [], duplicates: [] });
});
