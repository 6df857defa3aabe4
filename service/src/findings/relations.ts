import { sql } from 'kysely';

/** What other features may read of findings. PostgreSQL inlines the sub-queries. */
export const findingFacts = sql`(select org_id, id, asset_id, title, status, status_reason, reason_code, assurance, severity, risk_score, vulnerability_ids, kev, epss, location, text_id, due_at, closed_at, first_seen, merged_into from findings)`;
export const findingHistory = sql`(select org_id, finding_id, id, occurred_at, actor_type, actor_id, actor_name, person, person_name, import_id, request_id, action, before, after, reason from finding_history)`;
export const findingSolutions = sql`(select org_id, id, solution from finding_texts)`;
export const importNames = sql`(select org_id, id, filename from imports)`;
export const importStatuses = sql`(select org_id, id, status, closed from imports)`;
