import { type RawBuilder, sql } from 'kysely';

/**
 * Whether the sighting `s` proves that the finding is gone from its track. What another source saw there later refutes it: retiring that source, or ending
 * what it saw, does not bring the proof back.
 */
export function provenGoneSql(orgId: string): RawBuilder<boolean> {
  return sql`(s.absence is not distinct from 'gone' and not exists (
    select from sightings other where other.org_id = ${orgId} and other.finding_id = s.finding_id and other.track = s.track and other.last_seen > s.absent_at))`;
}
