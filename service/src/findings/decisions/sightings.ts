import { type RawBuilder, sql } from 'kysely';
import type { ReasonCode } from '../reason-codes.ts';

/**
 * Whether the finding may still be there. False only if no source sees it any more and a scan has shown that it is gone: a source that states that it is
 * fixed, or that no longer has the asset, has not shown that.
 */
export function stillReported(orgId: string, finding: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = ${finding} and s.state <> 'absent')
    or not exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = ${finding} and ${provenGoneSql(orgId)}))`;
}

/**
 * Whether the sighting `s` proves that the finding is gone from its track. What another source saw there later refutes it: retiring that source, or ending
 * what it saw, does not bring the proof back. What a retired source saw on another track needs a proof of its own.
 */
export function provenGoneSql(orgId: string): RawBuilder<boolean> {
  const proof = sql`
    select from sightings proof where proof.org_id = ${orgId} and proof.finding_id = other.finding_id and proof.track = other.track
      and proof.absence = 'gone' and proof.absent_at >= other.last_seen`;
  return sql`(s.absence is not distinct from 'gone' and not exists (
    select from sightings other where other.org_id = ${orgId} and other.finding_id = s.finding_id
      and ((other.track = s.track and other.last_seen > s.absent_at) or (${endedBySourceSql('other')} and not exists (${proof})))))`;
}

/** Whether the source of a sighting was retired while it saw the finding. */
export function endedBySourceSql(x: 's' | 'other'): RawBuilder<boolean> {
  return sql`(${sql.ref(`${x}.state`)} = 'unknown' and ${sql.ref(`${x}.gaps`)} @> ${sql.lit(`{${RETIRED}}`)}::text[])`;
}

const RETIRED: ReasonCode = 'source_retired';
