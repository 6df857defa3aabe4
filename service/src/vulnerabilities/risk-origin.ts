import type { Ssvc } from '@rrs/connectors';
import type { TenantTx } from '../db/database.ts';
import type { RiskOrigin } from './risk.ts';

interface Rated {
  weakness: string;
  cvss_vector: string | null;
}

/** Reads who knows that the vulnerability is exploited, and whether the CVSS rating of a finding comes from enrichment. */
export async function readRiskOrigin(
  tx: TenantTx,
  { weakness, cvss_vector }: Rated,
): Promise<Pick<RiskOrigin, 'exploited_source' | 'exploited_date' | 'cvss_source'>> {
  const known = await tx.selectFrom('vulnerabilities').select(['kev', 'kev_version', 'ssvc', 'cvss_vector']).where('id', '=', weakness).executeTakeFirst();
  const isKnown = cvss_vector !== null && cvss_vector === known?.cvss_vector;
  const cvss_source = isKnown ? 'enrichment' : 'report';
  const ssvc = known?.ssvc as Ssvc | null | undefined;
  if (known?.kev) return { exploited_source: 'CISA KEV', exploited_date: known.kev_version, cvss_source };
  if (ssvc?.exploitation === 'active') return { exploited_source: 'CISA SSVC', exploited_date: ssvc.date, cvss_source };
  return { exploited_source: 'report', exploited_date: null, cvss_source };
}
