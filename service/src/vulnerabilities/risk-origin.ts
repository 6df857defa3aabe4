import type { TenantTx } from '../db/database.ts';
import type { RiskOrigin } from './risk.ts';

interface Rated {
  weakness: string;
  cvss_vector: string | null;
}

/** Reads which version of the KEV catalog is known and whether the CVSS rating of a finding comes from enrichment. */
export async function readRiskOrigin(tx: TenantTx, { weakness, cvss_vector }: Rated): Promise<Pick<RiskOrigin, 'kev_version' | 'cvss_source'>> {
  const known = await tx.selectFrom('vulnerabilities').select(['kev_version', 'cvss_vector']).where('id', '=', weakness).executeTakeFirst();
  const isKnown = cvss_vector !== null && cvss_vector === known?.cvss_vector;
  return { kev_version: known?.kev_version ?? null, cvss_source: isKnown ? 'enrichment' : 'report' };
}
