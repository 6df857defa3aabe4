import { type RawBuilder, sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import { isOfSeveral, vulnerabilityFacts, worstKnown } from '../../vulnerabilities/relations.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import { reopenRiskIncreased } from '../decisions/risk-increased.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { dueSql } from '../sla.ts';
import { activeStatuses } from '../status.ts';

/** Findings that are compared in one transaction. Imports of the organization wait for one portion, not for all. */
const PORTION = 10_000;

/**
 * Copies current knowledge about vulnerabilities to findings and recomputes their score and deadline. Writes only findings that change. Accepted
 * findings are reopened if their vulnerability is now known to be exploited.
 */
export async function rescoreKnown(db: Database, orgId: string, follower: FindingFollower, portion = PORTION): Promise<void> {
  let after: string | null = null;
  do {
    const from: string | null = after;
    after = await db.withTenant({ orgId }, (tx) => rescorePortion(tx, { orgId, after: from, portion }));
  } while (after !== null);
  await db.withTenant({ orgId }, async (tx) => {
    await takeImportLock(tx, orgId);
    const { sla } = await readPolicy(tx, orgId);
    const actor = systemActor(orgId, 'worker');
    const reopened = await reopenRiskIncreased(tx, actor, { ids: sql`select id from findings where org_id = ${orgId} and status = 'risk_accepted'`, sla });
    if (reopened.length > 0) await follower.follow(tx, actor, idsSql(reopened));
  });
}

interface Portion {
  orgId: string;
  /** The last finding of the portion before. */
  after: string | null;
  /** How many findings belong to it. */
  portion: number;
}

/** Rescores the next findings, in the order of their ids, which never change. Returns the last of them, or null if there are no more. */
async function rescorePortion(tx: TenantTx, { orgId, after, portion }: Portion): Promise<string | null> {
  await takeImportLock(tx, orgId);
  const { sla } = await readPolicy(tx, orgId);
  const following = after === null ? sql<boolean>`true` : sql<boolean>`f.id > ${after}`;
  const { rows } = await sql<{ id: string }>`
    select id from findings f where org_id = ${orgId} and ${following} order by id offset ${portion - 1} limit 1`.execute(tx);
  const last = rows[0]?.id ?? null;
  // Scores change daily. If nothing else changes, `version` and `updated_at` stay, so that edits do not conflict and exports of changes stay short.
  const changed = (facts: RawBuilder<unknown>) => sql`
      select f.id, f.severity, f.status, f.due_at, f.clock_from, f.malicious, coalesce(v.epss, f.epss) as epss,
        case when v.epss is null then f.epss_percentile else v.epss_percentile end as epss_percentile, case when v.epss is null then f.epss_date else v.epss_date end as epss_date,
        v.kev or f.reported_kev as kev, v.kev_due_date, coalesce(f.cvss_score, v.cvss_score) as cvss_score,
        coalesce(f.cvss_vector, v.cvss_vector) as cvss_vector, coalesce(f.cvss_version, v.cvss_version) as cvss_version, a.criticality, a.exposure,
        (f.kev, f.kev_due_date, f.cvss_score) is distinct from (v.kev or f.reported_kev, v.kev_due_date, coalesce(f.cvss_score, v.cvss_score)) as is_notable
      from findings f ${facts} join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id
      where f.org_id = ${orgId} and ${following} and ${last === null ? sql`true` : sql`f.id <= ${last}`}
        and (f.epss, f.kev, f.kev_due_date, f.cvss_score) is distinct from (coalesce(v.epss, f.epss), v.kev or f.reported_kev, v.kev_due_date, coalesce(f.cvss_score, v.cvss_score))`;
  const [weakness, ids] = [sql`f.weakness`, sql`f.vulnerability_ids`];
  // Apart from each other: there are few checks for several vulnerabilities, and the others need only a join.
  await sql`
    with known as (
      ${changed(sql`join ${vulnerabilityFacts} v on v.id = f.weakness`)}
      union all
      ${changed(sql`join lateral ${worstKnown(weakness, ids)} v on ${isOfSeveral(weakness, ids)} and v.id is not null`)}
    )
    update findings f set epss = known.epss, epss_percentile = known.epss_percentile, epss_date = known.epss_date, kev = known.kev, kev_due_date = known.kev_due_date,
        kev_since = case when known.kev then coalesce(f.kev_since, now()) end,
        cvss_score = known.cvss_score, cvss_vector = known.cvss_vector, cvss_version = known.cvss_version, risk_score = ${riskSql('known', 'known')},
        due_at = case when f.kev <> known.kev and f.status = any(${activeStatuses as readonly string[]})
          then ${dueSql(sla, sql`known.clock_from`, sql`known.severity`, sql`known.kev`)} else f.due_at end,
        version = f.version + is_notable::int, updated_at = case when is_notable then now() else f.updated_at end
    from known where f.org_id = ${orgId} and f.id = known.id`.execute(tx);
  return last;
}
