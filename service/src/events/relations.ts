import { sql } from 'kysely';

/** What other features may read of webhooks. PostgreSQL inlines the sub-query. */
export const webhookUrls = sql`(select org_id, id, url from webhooks)`;
