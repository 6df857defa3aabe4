import { sql } from 'kysely';

/** What other features may read of organizations. PostgreSQL inlines the sub-queries. */
export const organizationNames = sql<{ id: string; name: string }>`(select id, name from organizations)`;
export const memberNames = sql<{ org_id: string; id: string; name: string }>`(select org_id, id, name from members)`;
export const apiKeyNames = sql<{ org_id: string; id: string; name: string }>`(select org_id, id, name from api_keys)`;
