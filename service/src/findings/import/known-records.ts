import { sql } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import { reopenedByScan } from '../status.ts';
import type { Resolution } from './resolution.ts';

/**
 * Most records of a scan repeat the last scan. They are recognized by their content and take a fast path. This error means that a record
 * believed to be unchanged was changed meanwhile.
 */
export class FastPathMissed extends Error {}

const untouched = sql`f.status <> all(${reopenedByScan as readonly string[]})`;

/** Finds findings by the content, in hex, of a present sighting. One index probe per content, regardless of the size of the table. */
export function knownContents(db: Database, orgId: string): (contents: string[]) => Promise<Map<string, string>> {
  return (contents) =>
    db.withTenant({ orgId }, async (tx) => {
      const { rows } = await sql<{ content: string; finding_id: string }>`
        select asked.content, known.finding_id
        from unnest(${contents}::text[]) as asked (content)
        cross join lateral (
          select s.finding_id from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id and ${untouched}
          where s.content = decode(asked.content, 'hex') and s.org_id = ${orgId} and s.state = 'present'
          order by s.finding_id limit 1
        ) known`.execute(tx);
      return new Map(rows.map(({ content, finding_id }) => [content, finding_id]));
    });
}

/**
 * Under the import lock, records that were recognized while staging must still match, and no other record of the report may be about the same
 * finding. Otherwise the report is staged again in full. Then the findings are marked as seen, at most once a day: writing on each scan would cost
 * more than everything else.
 */
export async function markSeen(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<{ lost: boolean; stale: boolean }>`
    select coalesce(bool_or(f.id is null), false) as lost,
      coalesce(bool_or(least(s.last_seen, f.last_seen) < date_trunc('day', ${seenAtSql(resolution)}, 'UTC')), false) as stale
    from tenant_import_seen i
    left join sightings s on s.org_id = ${orgId} and s.finding_id = i.finding_id and s.source_id = ${sourceId} and s.content = i.content and s.state = 'present'
    left join findings f on f.org_id = ${orgId} and f.id = s.finding_id and ${untouched}
    where i.org_id = ${orgId} and i.import_id = ${importId}`.execute(tx);
  const { rows: twice } = await sql`
    select from tenant_import_groups g join tenant_import_seen i on i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = g.finding_id
    where g.org_id = ${orgId} and g.import_id = ${importId} limit 1`.execute(tx);
  if (rows[0]?.lost || twice.length > 0) throw new FastPathMissed();
  if (rows[0]?.stale) await refreshSeen(tx, resolution);
}

function seenAtSql({ seenAt }: Resolution) {
  return sql`least(coalesce(i.last_seen, ${seenAt}::timestamptz), now())`;
}

async function refreshSeen(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const seen = sql`
    from (select i.finding_id, max(${seenAtSql(resolution)}) as seen_at from tenant_import_seen i where i.org_id = ${orgId} and i.import_id = ${importId} group by 1) seen`;
  await sql`update sightings s set last_seen = seen.seen_at, last_import_id = ${importId}, seen_import_id = ${importId} ${seen}
    where s.org_id = ${orgId} and s.finding_id = seen.finding_id and s.source_id = ${sourceId} and s.last_seen < date_trunc('day', seen.seen_at, 'UTC')`.execute(
    tx,
  );
  await sql`update findings f set last_seen = seen.seen_at ${seen}
    where f.org_id = ${orgId} and f.id = seen.finding_id and f.last_seen < date_trunc('day', seen.seen_at, 'UTC')`.execute(tx);
}
