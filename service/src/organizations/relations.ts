import { sql } from 'kysely';

/** What other features may read of organizations. PostgreSQL inlines the sub-query. */
export const organizationNames = sql<{ id: string; name: string }>`(select id, name from organizations)`;
