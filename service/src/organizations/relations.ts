import { sql } from 'kysely';

/** What other features may read of organizations and API keys. PostgreSQL inlines the sub-queries. */
export const organizationNames = sql<{ id: string; name: string }>`(select id, name from organizations)`;
export const apiKeyOwners = sql`(select org_id, id, owner_member_id from api_keys)`;
