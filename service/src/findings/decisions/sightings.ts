import { type RawBuilder, sql } from 'kysely';

/** Whether a source still reports the finding, or cannot say any more. False only if every source that reported it has since shown its absence. */
export function stillReported(orgId: string, finding: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = ${finding} and s.state <> 'absent')
    or not exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = ${finding}))`;
}
