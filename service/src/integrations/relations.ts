import { sql } from 'kysely';

/** What other features may read of connections. PostgreSQL inlines the sub-queries. */
export const connectionFacts = sql`(select org_id, id, provider, kind, name, enabled, next_run_at, deleted_at from connections)`;
export const runFacts = sql`(select org_id, id, connection_id from sync_runs)`;
