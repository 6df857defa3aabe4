import { ConnectorError, type Ticket } from '@rrs/connectors';
import { sql } from 'kysely';
import type { Database, SystemTx, TenantTx } from '../../db/database.ts';
import { openTicketing, type TicketVendors } from '../../integrations/connections/ticketing.ts';
import { type Poll, recordPoll } from '../../integrations/sync/polls.ts';
import { createRequestLog } from '../../integrations/sync/request-log.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { isEcho, storable, type Theirs, theirsOf } from './fields.ts';
import { enqueueTickets, readAgain } from './jobs.ts';

/** Clocks differ, and vendors are late with what they list: each poll looks back a little further than the last one came. */
const OVERLAP_MS = 600_000;
const PAGES = 1_000;
const LONGEST_MS = 600_000;
/** A ticket that was deleted is in no list of changes: every one is read once a day. */
const UNREAD_FOR = '24 hours';
const UNREAD_AT_ONCE = 100;

/** Connections that have tickets, of all organizations, but for those that failed so often that they are left alone for a while. */
export async function pollable(tx: SystemTx): Promise<{ org_id: string; connection_id: string }[]> {
  const { rows } = await sql<{ org_id: string; connection_id: string }>`
    select c.org_id, c.id as connection_id from connections c
    where c.kind = 'ticketing' and c.enabled and c.deleted_at is null and (c.next_run_at is null or c.next_run_at <= now())
      and exists (select from tickets t where t.org_id = c.org_id and t.connection_id = c.id and t.unlinked_at is null)
    order by c.org_id, c.id`.execute(tx);
  return rows;
}

export async function pollConnection(vendors: TicketVendors, { db, signal }: JobContext, orgId: string, connectionId: string): Promise<void> {
  const startedAt = new Date();
  const opened = await db.withTenant({ orgId }, async (tx) => {
    const connection = await tx
      .selectFrom('connections')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('id', '=', connectionId)
      .where('enabled', '=', true)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (!connection) return null;
    await takeUp(tx, orgId, connectionId);
    return { connection, since: await sinceWhen(tx, orgId, connectionId) };
  });
  if (!opened?.since) return;
  const { connection } = opened;
  const timeout = AbortSignal.timeout(LONGEST_MS);
  const requestLog = createRequestLog();
  let [pages, records] = [0, 0];
  const note = (fault: Poll['fault']): Promise<void> =>
    notePoll(db, { connection, tookMs: Date.now() - startedAt.getTime(), pages, records, requests: requestLog.drainCounts(), fault }, startedAt);
  try {
    const { connector, context } = await openTicketing(vendors, connection, AbortSignal.any([signal, timeout]), requestLog.add);
    for await (const tickets of connector.changedSince(context, new Date(opened.since.getTime() - OVERLAP_MS))) {
      if (++pages > PAGES) throw new ConnectorError('incomplete', `${connector.name} still had more after ${PAGES} pages of changed tickets.`);
      await db.withTenant({ orgId }, (tx) => hear(tx, { orgId, connectionId, tickets }));
      records += tickets.length;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const tooSlow = timeout.aborted ? ({ kind: 'unavailable', message: `${connection.name} took longer than ${LONGEST_MS / 60_000} minutes.` } as const) : null;
    const fault = error instanceof ConnectorError ? { kind: error.kind, message: storable(error.message) } : tooSlow;
    if (fault) return note(fault);
    // Where it is the database that is gone, there is nowhere to note it.
    await note(ownFault).catch(() => {});
    throw error;
  }
  await note(null);
}

const ownFault = {
  kind: 'service',
  message: 'Asking for changed tickets failed because of a fault in this service; its log has the details.',
} as const;

/** What was left undone while the connection was paused, and what was not looked at for long. */
async function takeUp(tx: TenantTx, orgId: string, connectionId: string): Promise<void> {
  const undone = await sql<{ id: string }>`
    select t.id from tickets t join work_items w on w.org_id = ${orgId} and w.id = t.work_item_id
    where t.org_id = ${orgId} and t.connection_id = ${connectionId} and t.unlinked_at is null and case t.status
      when 'pushing' then t.updated_at < now() - interval '10 minutes'
      when 'failed' then t.retry_at is null or t.retry_at < now() - interval '10 minutes'
      else t.item_version <> w.version or t.changes_announced > t.changes_read or t.repair is not null end
    order by t.id`.execute(tx);
  await enqueueTickets(
    tx,
    orgId,
    undone.rows.map(({ id }) => id),
  );
  const unread = await sql<{ id: string }>`
    select id from (
      select id from tickets where org_id = ${orgId} and connection_id = ${connectionId} and unlinked_at is null and read_at < now() - ${UNREAD_FOR}::interval
      order by read_at limit ${UNREAD_AT_ONCE}
    ) oldest order by id`.execute(tx);
  await readAgain(
    tx,
    orgId,
    unread.rows.map(({ id }) => id),
  );
}

/** Null: there is nothing yet that could have changed. */
async function sinceWhen(tx: TenantTx, orgId: string, connectionId: string): Promise<Date | null> {
  const { rows } = await sql<{ since: Date | null }>`
    select coalesce(
      (select polled_at from ticket_polls where org_id = ${orgId} and connection_id = ${connectionId}),
      (select min(created_at) from tickets where org_id = ${orgId} and connection_id = ${connectionId} and unlinked_at is null)) as since
    where exists (select from tickets where org_id = ${orgId} and connection_id = ${connectionId} and unlinked_at is null and external_id is not null)`.execute(
    tx,
  );
  return rows[0]?.since ?? null;
}

interface Heard {
  orgId: string;
  connectionId: string;
  tickets: readonly Ticket[];
}

/** Those that say something new; each is read again before it counts. */
async function hear(tx: TenantTx, { orgId, connectionId, tickets }: Heard): Promise<void> {
  const told = new Map(tickets.map((ticket) => [ticket.id, theirsOf(ticket)]));
  const known = await tx
    .selectFrom('tickets')
    .select(['id', 'external_id', 'theirs'])
    .where('org_id', '=', orgId)
    .where('connection_id', '=', connectionId)
    .where(sql<boolean>`external_id = any(${[...told.keys()]}::text[])`)
    .where('unlinked_at', 'is', null)
    .orderBy('id')
    .execute();
  const news = known.filter(({ external_id, theirs }) => {
    const now = told.get(external_id ?? '');
    return now !== undefined && !isEcho(theirs as Theirs | null, now);
  });
  await readAgain(
    tx,
    orgId,
    news.map(({ id }) => id),
  );
}

/** One that did not come to its end leaves the place where it was: the next one asks for the same. */
async function notePoll(db: Database, poll: Poll, startedAt: Date): Promise<void> {
  const { connection, fault } = poll;
  await db.withTenant({ orgId: connection.org_id }, async (tx) => {
    await sql`
      insert into ticket_polls (org_id, connection_id, polled_at, error_kind, error)
      values (${connection.org_id}, ${connection.id}, ${fault ? null : startedAt}, ${fault?.kind ?? null}, ${fault?.message ?? null})
      on conflict (org_id, connection_id) do update set
        polled_at = coalesce(excluded.polled_at, ticket_polls.polled_at), error_kind = excluded.error_kind, error = excluded.error`.execute(tx);
    await recordPoll(tx, poll);
  });
}
