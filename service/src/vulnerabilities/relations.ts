import { type Selectable, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** What other features may read of vulnerabilities, as derived tables. PostgreSQL inlines them, so plans are the same as over the tables. */
export const vulnerabilityFacts = sql<
  Pick<
    Selectable<DB['vulnerabilities']>,
    'id' | 'cvss_version' | 'cvss_vector' | 'cvss_score' | 'epss' | 'epss_percentile' | 'epss_date' | 'kev' | 'kev_due_date'
  >
>`(select id, cvss_version, cvss_vector, cvss_score, epss, epss_percentile, epss_date, kev, kev_due_date from vulnerabilities)`;

/** Other ids of a vulnerability and the id under which its findings are kept. */
export const vulnerabilityAliases = sql<Selectable<DB['vulnerability_aliases']>>`(select org_id, alias, weakness from vulnerability_aliases)`;
