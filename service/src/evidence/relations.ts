import { sql } from 'kysely';

/** What other features may read of evidence. PostgreSQL inlines the sub-queries. */
export const packageFacts = sql`(select org_id, id, work_item_id, work_item_title, sequence, status, requested_at from evidence_packages)`;
export const artifactTitles = sql`(select org_id, id, title from artifacts)`;
