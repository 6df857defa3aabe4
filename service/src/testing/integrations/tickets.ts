import { type Context, createHttp, defaultLimits, type Settings, type TicketChange, type Ticketing } from '@rrs/connectors';
import { type FakeOptions, type FakeVendor, type Fault, fakes } from '@rrs/connectors/fakes';
import pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import { builtIn } from '../../integrations/connections/providers.ts';
import { ticketLimits } from '../../integrations/connections/ticketing.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { pollHandler, ticketHandler, ticketPolls } from '../../work-items/handlers.ts';
import { workItemsOf } from '../findings/work-items.ts';
import { useSyncs } from './syncs.ts';

export interface TicketView {
  id: string;
  status: string;
  key: string | null;
  url: string | null;
  state: string | null;
  assignee: string | null;
  problems: string[];
  drift: { field: string; ours: string | null; theirs: string | null; reason: string | null }[];
  duplicates: { key: string; url: string | null }[];
  paused_reason: string | null;
  error: { kind: string; message: string } | null;
  retry_at: string | null;
  repairing: string | null;
}

export const ticketingFakes: readonly FakeVendor[] = fakes.filter(({ id }) => builtIn.some((one) => one.id === id && one.kind === 'ticketing'));
export const jiraFake = ticketingFakes.find(({ id }) => id === 'jira') as FakeVendor;

/** The API with fake ticketing vendors. Jobs are executed by the test itself. */
export function useTickets() {
  const syncs = useSyncs();
  let queue: pg.Client;
  beforeAll(async () => {
    queue = new pg.Client({ connectionString: syncs.api().databaseUrl });
    await queue.connect();
  });
  afterAll(() => queue?.end());

  const { ask } = syncs;
  const handlers = () => {
    const syncing = { ...syncs.syncing({ ...ticketLimits, requestMs: 2_000 }), publicUrl: () => 'https://rrs.example' };
    return [ticketHandler(syncing), pollHandler(syncing), ticketPolls];
  };
  const perform = async (name: string, payload: object, more: Partial<JobContext> = {}): Promise<void> => {
    const context = { db: syncs.api().db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true, ...more };
    await handlers()
      .find((handler) => handler.name === name)
      ?.run(payload, context);
  };
  const queued = async (isLater: boolean) => {
    const { rows } = await queue.query<{ name: string; payload: object }>(
      `delete from graphile_worker._private_jobs job using graphile_worker._private_tasks task
       where task.id = job.task_id and task.identifier in ('sync_ticket', 'poll_tickets') and (job.run_at <= now()) <> $1
       returning task.identifier as name, job.payload`,
      [isLater],
    );
    return rows;
  };
  const drain = async (): Promise<void> => {
    for (let jobs = await queued(false); jobs.length > 0; jobs = await queued(false)) {
      for (const { name, payload } of jobs) await perform(name, payload);
    }
  };

  return {
    ...syncs,
    handlers,
    perform,
    items: (as?: string) => workItemsOf(syncs.api(), as),
    /** Runs every due job, and the jobs that these queue. */
    work: drain,
    /** Runs the jobs that are scheduled for later, too. */
    async workLater(): Promise<void> {
      for (const { name, payload } of await queued(true)) await perform(name, payload);
      await drain();
    },
    async poll(): Promise<void> {
      await perform('start_ticket_polls', {});
      await drain();
    },
    tickets: async (item: string) => (await ask<{ data: TicketView[] }>('GET', `/work-items/${item}/tickets`)).body.data,
    drift: async () => (await ask<{ data: (TicketView & { work_item: { id: string } })[] }>('GET', '/tickets/drift')).body.data,
    async timeline(item: string): Promise<string[]> {
      const { body } = await ask<{ data: { action: string }[] }>('GET', `/work-items/${item}/timeline?object_type=work_item&sort=occurred_at&limit=200`);
      return body.data.map(({ action }) => action.replace('work_item.', ''));
    },
    async events(type: string): Promise<Record<string, unknown>[]> {
      const { rows } = await queue.query<{ data: Record<string, unknown> }>('select data from rrs.events where type = $1 order by id', [type]);
      return rows.map(({ data }) => data);
    },
    query: (text: string, values: unknown[] = []) => queue.query(text, values),
    /** Starts a fake vendor with a connection to it and a user of the vendor's system. */
    async vendor(
      fake: FakeVendor = jiraFake,
      { fault, options = {}, ...more }: { fault?: Fault; options?: Partial<FakeOptions> } & Record<string, unknown> = {},
    ) {
      const running = await syncs.fake(fake, options, fault);
      const settings = fake.settings(running.origin);
      const connection = await syncs.connect(fake, running.origin, more);
      const somebody = await personAt(fake, settings, syncs.api().outbound);
      return { ...running, ...somebody, settings, connection, message: (externalId: string | null) => fake.inbound?.(settings, externalId) };
    },
    async push(item: string, connection: string): Promise<TicketView> {
      const { status, body } = await ask<TicketView>('POST', `/work-items/${item}/tickets`, { body: { connection_id: connection } });
      expect(status, JSON.stringify(body)).toBe(202);
      return body;
    },
    /** Pushes a ticket and runs the jobs until it is linked. */
    async linked(item: string, connection: string): Promise<TicketView & { external_id: string }> {
      await this.push(item, connection);
      await drain();
      const { rows } = await queue.query<{ external_id: string }>(
        'select external_id from rrs.tickets where work_item_id = $1 and connection_id = $2 and unlinked_at is null',
        [item, connection],
      );
      const [ticket] = (await this.tickets(item)).filter(({ status }) => status === 'linked');
      if (!ticket || !rows[0]) throw new Error(`not linked: ${JSON.stringify(await this.tickets(item))}`);
      return { ...ticket, ...rows[0] };
    },
    async hear(connection: string, message: { headers: Readonly<Record<string, string | undefined>>; body: Buffer } | undefined) {
      if (!message) throw new Error('the vendor has no webhooks');
      const headers = Object.fromEntries(Object.entries(message.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
      return syncs.api().call('POST', `/api/v1/integrations/${connection}/inbound`, { headers, body: message.body });
    },
    repair: (item: string, ticket: string, direction: 'push' | 'pull') =>
      ask<TicketView>('POST', `/work-items/${item}/tickets/${ticket}/repair`, { body: { direction } }),
  };
}

/** A user who works with tickets through the vendor's API. */
async function personAt(fake: FakeVendor, settings: Settings, sender: Parameters<typeof createHttp>[2]['sender']) {
  const connector = builtIn.find(({ id }) => id === fake.id) as Ticketing;
  const { signal } = new AbortController();
  const http = createHttp(connector, settings, { sender, signal, limits: defaultLimits, now: Date.now, wait: async () => {}, onRequest: () => {} });
  const context: Context = { ...settings, http, signal, startedAt: new Date() };
  return {
    read: (id: string) => connector.read(context, id),
    change: (id: string, change: TicketChange) => connector.update(context, id, change),
    create: (draft: Parameters<Ticketing['create']>[1]) => connector.create(context, draft),
  };
}
