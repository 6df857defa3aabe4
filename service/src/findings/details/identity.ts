import { sql } from 'kysely';
import { readAsset } from '../../assets/assets.ts';
import { readIdentifiers } from '../../assets/identifiers.ts';
import type { TenantTx } from '../../db/database.ts';
import { claimedAliases } from '../../vulnerabilities/relations.ts';
import { readFinding } from '../list/list.ts';
import { readSightings } from './sightings.ts';

export type Identity = Awaited<ReturnType<typeof readIdentity>>;

/** Most aliases and rules that are shown. */
const SHOWN = 200;

/** What makes records of reports belong to a finding. */
export async function readIdentity(tx: TenantTx, orgId: string, id: string) {
  const finding = await readFinding(tx, orgId, id);
  const asset = await readAsset(tx, orgId, finding.asset_id);
  const [identifiers, sightings, aliases, rules] = await Promise.all([
    readIdentifiers(tx, asset),
    readSightings(tx, orgId, id),
    sql<{ alias: string }>`
      select distinct a.alias from ${claimedAliases} a where a.org_id = ${orgId} and a.weakness = ${finding.weakness} order by a.alias limit ${SHOWN}`.execute(
      tx,
    ),
    tx
      .selectFrom('identity_rules')
      .select(['id', 'kind', 'a', 'b', 'person', 'person_name', 'reason', 'created_at', 'revoked_at', 'revoked_by'])
      .where('org_id', '=', orgId)
      // Valid and revoked rules have an index each.
      .where(({ eb, or }) => or([eb('b', '=', id), eb('a', '=', id).and('revoked_at', 'is', null), eb('a', '=', id).and('revoked_at', 'is not', null)]))
      .orderBy('id')
      .limit(SHOWN)
      .execute(),
  ]);
  return { finding, asset, identifiers, sightings, aliases: aliases.rows.map(({ alias }) => alias), rules };
}
