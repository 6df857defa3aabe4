import { sql } from 'kysely';

/** What other features may read of the audit trail. PostgreSQL inlines the sub-query. */
export const auditTrail = sql`(select org_id, id, occurred_at, actor_type, actor_id, actor_name, person, person_name, action, object_type, object_id, before, after, request_id from audit_events)`;

/** Who made a recorded change. */
export interface RecordedActor {
  type: string;
  id: string | null;
  name: string;
  /** The person behind the credential, with the name at that time. */
  person: string | null;
  person_name: string | null;
}

/** The actor of a row of the audit trail or of the history of findings, as JSON. */
export const recordedActor = (table: string) => {
  const column = (name: string) => sql.ref(`${table}.${name}`);
  return sql<RecordedActor>`jsonb_build_object('type', ${column('actor_type')}, 'id', ${column('actor_id')}, 'name', ${column('actor_name')},
    'person', ${column('person')}, 'person_name', ${column('person_name')})`;
};
