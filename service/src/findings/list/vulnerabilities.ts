import type { TenantTx } from '../../db/database.ts';

/** The public vulnerability ids of an organization's findings, in pages. */
export async function vulnerabilitiesOfFindings(tx: TenantTx, orgId: string, { after, limit }: { after: string | null; limit: number }): Promise<string[]> {
  const rows = await tx
    .selectFrom('findings')
    .select('weakness')
    .distinct()
    .where('org_id', '=', orgId)
    .where('weakness', '>', after ?? '')
    .where((where) => where.or([where('weakness', 'like', 'CVE-%'), where('weakness', 'like', 'GHSA-%')]))
    .orderBy('weakness')
    .limit(limit)
    .execute();
  return rows.map(({ weakness }) => weakness);
}
