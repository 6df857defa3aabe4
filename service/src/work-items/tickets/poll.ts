import { ConnectorError } from '@rrs/connectors';
import { sql } from 'kysely';
import type { Database, SystemTx, TenantTx } from '../../db/database.ts';
import { findStoredConnection } from '../../integrations/connections/connections.ts';
import { openTicketing, type TicketVendors } from '../../integrations/connections/ticketing.ts';
import { connectionFacts } from '../../integrations/relations.ts';
import { type Poll, recordPoll } from '../../integrations/sync/polls.ts';
import { createRequestLog } from '../../integrations/sync/request-log.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { storable } from '../../shared/storable.ts';
import { type ListedTickets, recordDuplicates } from './duplicates.ts';
import { isEcho, type Theirs, theirsOf } from './fields.ts';
import { enqueueTickets, requestReads } from './jobs.ts';

/** Clocks differ and vendors list changes late, so each poll starts a little before the previous one. */
const OVERLAP_MS = 600_000;
const MAX_PAGES = 1_000;
const TIMEOUT_MS = 600_000;
/** Vendors do not list deleted tickets as changed, so every ticket is read once a day. */
const REREAD_AFTER = '24 hours';
const MAX_REREADS = 100;

/** Connections of all organizations that have tickets and are not backing off. */
export async function pollableConnections(tx: SystemTx): Promise<{ org_id: string; connection_id: string }[]> {
  const { rows } = await sql<{ org_id: string; connection_id: string }>`
    select c.org_id, c.id as connection_id from ${connectionFacts} c
    where c.kind = 'ticketing' and c.enabled and c.deleted_at is null and (c.next_run_at is null or c.next_run_at <= now())
      and exists (select from tickets t where t.org_id = c.org_id and t.connection_id = c.id and t.unlinked_at is null)
    order by c.org_id, c.id`.execute(tx);
  return rows;
}

export async function pollConnection(vendors: TicketVendors, { db, signal }: JobContext, orgId: string, connectionId: string): Promise<void> {
  const startedAt = new Date();
  const opened = await db.withTenant({ orgId }, async (tx) => {
    const connection = await findStoredConnection(tx, orgId, connectionId);
    if (!connection?.enabled || connection.deleted_at !== null) return null;
    await queueOverdue(tx, orgId, connectionId);
    return { connection, since: await changesSince(tx, orgId, connectionId) };
  });
  if (!opened?.since) return;
  const { connection } = opened;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const requestLog = createRequestLog();
  let [pages, records] = [0, 0];
  const store = (fault: Poll['fault']): Promise<void> =>
    storePoll(db, { connection, tookMs: Date.now() - startedAt.getTime(), pages, records, requests: requestLog.drainCounts(), fault }, startedAt);
  try {
    const { connector, context } = await openTicketing(vendors, connection, AbortSignal.any([signal, timeout]), requestLog.add);
    for await (const tickets of connector.changedSince(context, new Date(opened.since.getTime() - OVERLAP_MS))) {
      if (++pages > MAX_PAGES) throw new ConnectorError('incomplete', `${connector.name} returned more than ${MAX_PAGES} pages of changed tickets.`);
      await db.withTenant({ orgId }, (tx) => queueChanged(tx, { orgId, connectionId, tickets }));
      records += tickets.length;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const timeoutFault = timeout.aborted
      ? ({ kind: 'unavailable', message: `${connection.name} did not finish within ${TIMEOUT_MS / 60_000} minutes.` } as const)
      : null;
    const fault = error instanceof ConnectorError ? { kind: error.kind, message: storable(error.message) } : timeoutFault;
    if (fault) return store(fault);
    // If the database is unavailable, the fault cannot be stored either.
    await store(internalError).catch(() => {});
    throw error;
  }
  await store(null);
}

const internalError = {
  kind: 'service',
  message: 'Internal error while polling for changed tickets. See the service log.',
} as const;

/** Queues syncs that were left undone, for example while the connection was paused, and tickets that were not read for a long time. */
async function queueOverdue(tx: TenantTx, orgId: string, connectionId: string): Promise<void> {
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
      select id from tickets where org_id = ${orgId} and connection_id = ${connectionId} and unlinked_at is null and read_at < now() - ${REREAD_AFTER}::interval
      order by read_at limit ${MAX_REREADS}
    ) oldest order by id`.execute(tx);
  await requestReads(
    tx,
    orgId,
    unread.rows.map(({ id }) => id),
  );
}

/** Null if the connection has no ticket that could have changed. */
async function changesSince(tx: TenantTx, orgId: string, connectionId: string): Promise<Date | null> {
  const { rows } = await sql<{ since: Date | null }>`
    select coalesce(
      (select polled_at from ticket_polls where org_id = ${orgId} and connection_id = ${connectionId}),
      (select min(created_at) from tickets where org_id = ${orgId} and connection_id = ${connectionId} and unlinked_at is null)) as since
    where exists (select from tickets where org_id = ${orgId} and connection_id = ${connectionId} and unlinked_at is null and external_id is not null)`.execute(
    tx,
  );
  return rows[0]?.since ?? null;
}

/** Queues a read of each listed ticket that differs from what is stored. */
async function queueChanged(tx: TenantTx, { orgId, connectionId, tickets }: ListedTickets): Promise<void> {
  const listed = new Map(tickets.map((ticket) => [ticket.id, theirsOf(ticket)]));
  const known = await tx
    .selectFrom('tickets')
    .select(['id', 'external_id', 'theirs'])
    .where('org_id', '=', orgId)
    .where('connection_id', '=', connectionId)
    .where(sql<boolean>`external_id = any(${[...listed.keys()]}::text[])`)
    .where('unlinked_at', 'is', null)
    .orderBy('id')
    .execute();
  const changed = known.filter(({ external_id, theirs }) => {
    const current = listed.get(external_id ?? '');
    return current !== undefined && !isEcho(theirs as Theirs | null, current);
  });
  await requestReads(
    tx,
    orgId,
    changed.map(({ id }) => id),
  );
  await recordDuplicates(tx, { orgId, connectionId, tickets });
}

/** A failed poll does not move the start time, so the next poll covers the same period. */
async function storePoll(db: Database, poll: Poll, startedAt: Date): Promise<void> {
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
