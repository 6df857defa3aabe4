import { sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import { vulnerabilityFacts } from '../../vulnerabilities/relations.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import { reopenRiskIncreased } from '../decisions/risk-increased.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { dueSql } from '../sla.ts';
import { activeStatuses } from '../status.ts';

/**
 * Copies current knowledge about vulnerabilities to findings and recomputes their score and deadline. Writes only findings that change. Accepted
 * findings are reopened if their vulnerability is now known to be exploited.
 */
export async function rescoreKnown(tx: TenantTx, orgId: string, follower: FindingFollower): Promise<void> {
  await takeImportLock(tx, orgId);
  const { sla } = await readPolicy(tx, orgId);
  await sql`
    with known as (
      select f.id, f.severity, f.status, f.due_at, f.clock_from, f.risk_score as old_score,
        f.malicious, coalesce(v.epss, f.epss) as epss, case when v.epss is null then f.epss_percentile else v.epss_percentile end as epss_percentile,
        case when v.epss is null then f.epss_date else v.epss_date end as epss_date, v.kev or f.reported_kev as kev, v.kev_due_date, coalesce(f.cvss_score, v.cvss_score) as cvss_score,
        coalesce(f.cvss_vector, v.cvss_vector) as cvss_vector, coalesce(f.cvss_version, v.cvss_version) as cvss_version, a.criticality, a.exposure
      from findings f join ${vulnerabilityFacts} v on v.id = f.weakness join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id
      where f.org_id = ${orgId}
        and (f.epss, f.epss_percentile, f.kev, f.kev_due_date, f.cvss_score) is distinct from (coalesce(v.epss, f.epss), case when v.epss is null then f.epss_percentile else v.epss_percentile end, v.kev or f.reported_kev, v.kev_due_date, coalesce(f.cvss_score, v.cvss_score))
    )
    update findings f set epss = known.epss, epss_percentile = known.epss_percentile, epss_date = known.epss_date, kev = known.kev, kev_due_date = known.kev_due_date,
        kev_since = case when known.kev then coalesce(f.kev_since, now()) end,
        cvss_score = known.cvss_score, cvss_vector = known.cvss_vector, cvss_version = known.cvss_version, risk_score = ${riskSql('known', 'known')},
        due_at = case when f.kev <> known.kev and f.status = any(${activeStatuses as readonly string[]})
          then ${dueSql(sla, sql`known.clock_from`, sql`known.severity`, sql`known.kev`)} else f.due_at end,
        version = f.version + 1, updated_at = now()
    from known where f.org_id = ${orgId} and f.id = known.id`.execute(tx);
  // A newer file with the same score confirms it. Only the date changes, so neither the version nor the time of the last change does.
  await sql`
    update findings f set epss_date = v.epss_date from ${vulnerabilityFacts} v
    where f.org_id = ${orgId} and v.id = f.weakness and f.epss = v.epss and f.epss_percentile = v.epss_percentile and f.epss_date < v.epss_date`.execute(tx);
  const actor = systemActor(orgId, 'worker');
  const reopened = await reopenRiskIncreased(tx, actor, { ids: sql`select id from findings where org_id = ${orgId} and status = 'risk_accepted'`, sla });
  if (reopened.length > 0) await follower.follow(tx, actor, idsSql(reopened));
}
