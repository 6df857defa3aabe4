import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { readRiskOrigin } from '../../vulnerabilities/risk-origin.ts';
import type { FindingRow } from '../fields/field.ts';
import { allWorkItems, namesFor } from '../fields/names.ts';
import { readOccurrences } from './occurrences.ts';
import { readSightings } from './sightings.ts';

export type Details = Awaited<ReturnType<typeof readDetails>>;

/** Reads what belongs to a single finding: its names, sightings, texts, occurrences, decisions and work items. */
export async function readDetails(tx: TenantTx, orgId: string, finding: FindingRow) {
  const [names, sightings, texts, occurrences, decisions, linked, riskOrigin] = await Promise.all([
    namesFor(tx, orgId, [finding]),
    readSightings(tx, orgId, finding.id),
    readTexts(tx, finding),
    readOccurrences(tx, orgId, finding.id),
    tx
      .selectFrom('decisions')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('finding_id', '=', finding.id)
      .orderBy(sql`state in ('requested', 'active')`, 'desc')
      .orderBy('id', 'desc')
      .limit(20)
      .execute(),
    allWorkItems(tx, orgId, finding.id),
    readRiskOrigin(tx, finding),
  ]);
  return { ...names, decisions: new Map([[finding.id, decisions]]), sightings, ...texts, occurrences, linked, riskOrigin };
}

interface Texts {
  description: string | null;
  solution: string | null;
  references: string[];
}

/** Description and solution come from one source, and the references from all sources whose statements make up the finding. */
async function readTexts(tx: TenantTx, { org_id, id, text_id }: FindingRow): Promise<{ texts: Texts }> {
  const { rows } = await sql<{ is_own: boolean; description: string | null; solution: string | null; reference_urls: string[] }>`
    with said as (
      select (s.said->>'text_id')::bytea as id from (
        select said, state, bool_or(state = 'present') over () as some_present from sightings where org_id = ${org_id} and finding_id = ${id}
      ) s where s.said ? 'text_id' and (s.state = 'present' or not s.some_present)
    )
    select t.id is not distinct from ${text_id}::bytea as is_own, t.description, t.solution, t.reference_urls from finding_texts t
    where t.org_id = ${org_id} and (t.id = ${text_id}::bytea or t.id in (select said.id from said))
    order by is_own desc, t.id`.execute(tx);
  const own = rows.find(({ is_own }) => is_own);
  const references = [...new Set(rows.flatMap(({ reference_urls }) => reference_urls))];
  return { texts: { description: own?.description ?? null, solution: own?.solution ?? null, references } };
}
