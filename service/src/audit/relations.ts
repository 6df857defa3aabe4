import { sql } from 'kysely';

/** What other features may read of the audit trail. PostgreSQL inlines the sub-query. */
export const auditTrail = sql`(select org_id, id, occurred_at, actor_type, actor_id, actor_name, person, person_name, action, object_type, object_id, before, after from audit_events)`;
