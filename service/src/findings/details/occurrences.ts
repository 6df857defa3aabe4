import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { readFinding } from '../list/list.ts';
import { type OccurrenceRow, occurrencesSql } from '../list/occurrences.ts';

/** How many occurrences the finding itself shows. */
const SHOWN = 100;

const only = (id: string) => sql`select ${id}::uuid`;

export async function readOccurrences(tx: TenantTx, orgId: string, id: string): Promise<{ count: number; first: OccurrenceRow[] }> {
  const { rows } = await sql<OccurrenceRow & { count: number }>`
    select *, (count(*) over ())::int as count from ${occurrencesSql(orgId, only(id))} occurrence order by label, id limit ${SHOWN}`.execute(tx);
  return { count: rows[0]?.count ?? 0, first: rows };
}

export async function listOccurrences(tx: TenantTx, orgId: string, id: string, page: PageRequest) {
  await readFinding(tx, orgId, id);
  const query = tx.selectFrom(occurrencesSql(orgId, only(id)).as('occurrences')).selectAll();
  return fetchPage(tx, query, { place: { column: 'label', type: 'text' }, first_seen: { column: 'first_seen', type: 'timestamptz' } }, page);
}
