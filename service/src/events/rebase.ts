import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/**
 * The order of events is that of the server's transactions. Our own backup takes care of it; a database that was moved by a dump of PostgreSQL's
 * comes with the numbers of another server, which may lie ahead: what happens from now on would sort before what was told already.
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
