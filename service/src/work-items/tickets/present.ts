import type { Static } from 'typebox';
import type { DriftedTicket, Ticket } from '../schemas-tickets.ts';
import type { Duplicate } from './duplicates.ts';
import type { Drift, Theirs } from './fields.ts';
import type { Repair } from './repair.ts';
import type { TicketView } from './tickets.ts';

export function toTicket(row: TicketView): Static<typeof Ticket> {
  const theirs = row.theirs as Theirs | null;
  const drift = row.drift as Drift[];
  const error = row.error ?? row.poll_error;
  const duplicates = row.duplicates as Duplicate[];
  const problems = {
    differs: drift.length > 0,
    gone: row.gone_at !== null,
    paused: row.status === 'paused',
    failed: row.status === 'failed',
    unread: row.poll_error !== null,
    duplicated: duplicates.length > 0,
  };
  return {
    id: row.id,
    work_item_id: row.work_item_id,
    connection: { id: row.connection_id, name: row.connection_name, provider: row.provider },
    status: row.status,
    key: row.external_key,
    url: row.url,
    state: theirs?.state ?? null,
    state_name: theirs?.state_name ?? null,
    assignee: theirs?.assignee ?? null,
    problems: (Object.keys(problems) as (keyof typeof problems)[]).filter((name) => problems[name]),
    drift,
    duplicates,
    paused_reason: row.paused_reason,
    error: error === null ? null : { kind: (row.error === null ? row.poll_error_kind : row.error_kind) ?? 'service', message: error },
    retry_at: row.retry_at?.toISOString() ?? null,
    repairing: (row.repair as Repair | null)?.direction ?? null,
    read_at: row.read_at?.toISOString() ?? null,
    written_at: row.written_at?.toISOString() ?? null,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function toDrifted(row: TicketView): Static<typeof DriftedTicket> {
  return { ...toTicket(row), work_item: { id: row.work_item_id, title: row.item_title, status: row.item_status } };
}
