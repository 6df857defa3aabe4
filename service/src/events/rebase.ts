import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/**
 * Events are ordered by the transaction ids of the server. A database that was moved with pg_dump carries the ids of another server,
 * which may be ahead: new events would then sort before events that are already delivered. (The service's own backup handles this itself.)
 */
export async function rebaseEvents(db: Database): Promise<boolean> {
  return db.withSystem(async (tx) => {
    const { rows } = await sql<{ newest: string; ahead: boolean }>`
      select max(e.xact) as newest, max(e.xact) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint as ahead
      from organizations o cross join lateral (select xact from events where org_id = o.id order by xact desc limit 1) e`.execute(tx);
    const [found] = rows;
    if (!found?.ahead) return false;
    await sql`select rebase_events(${found.newest}::bigint)`.execute(tx);
    return true;
  });
}
