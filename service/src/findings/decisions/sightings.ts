import { type RawBuilder, sql } from 'kysely';
import { provenGoneSql } from '../merge/proven-gone.ts';

/**
 * Whether the finding may still be there. False only if no source sees it any more and a scan has shown that it is gone: a source that states that it is
 * fixed, or that no longer has the asset, has not shown that.
 */
export function stillReported(orgId: string, finding: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = ${finding} and s.state <> 'absent')
    or not exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = ${finding} and ${provenGoneSql(orgId)}))`;
}
