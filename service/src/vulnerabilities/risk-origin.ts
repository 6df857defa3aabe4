import type { Ssvc } from '@rrs/connectors';
import type { TenantTx } from '../db/database.ts';
import type { RiskOrigin } from './risk.ts';

interface Rated {
  weakness: string;
  cvss_vector: string | null;
  epss: number | null;
  epss_date: string | null;
}

/** Reads who knows that the vulnerability is exploited, whether the CVSS rating of a finding comes from enrichment, and which EPSS file has its score. */
export async function readRiskOrigin(
  tx: TenantTx,
  { weakness, cvss_vector, epss, epss_date: reportedDate }: Rated,
): Promise<Pick<RiskOrigin, 'epss_date' | 'exploited_source' | 'exploited_date' | 'cvss_source'>> {
  const known = await tx
    .selectFrom('vulnerabilities')
    .select(['kev', 'kev_version', 'ssvc', 'cvss_vector', 'epss', 'epss_date'])
    .where('id', '=', weakness)
    .executeTakeFirst();
  const epss_date = known?.epss === epss ? known.epss_date : reportedDate;
  const isKnown = cvss_vector !== null && cvss_vector === known?.cvss_vector;
  const cvss_source = isKnown ? 'enrichment' : 'report';
  const ssvc = known?.ssvc as Ssvc | null | undefined;
  if (known?.kev) return { exploited_source: 'CISA KEV', exploited_date: known.kev_version, cvss_source, epss_date };
  if (ssvc?.exploitation === 'active') return { exploited_source: 'CISA SSVC', exploited_date: ssvc.date, cvss_source, epss_date };
  return { exploited_source: 'report', exploited_date: null, cvss_source, epss_date };
}
