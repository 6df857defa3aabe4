import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { systemActor } from '../shared/actor.ts';
import { createApiKey } from './api-keys/api-keys.ts';
import { describeToken } from './api-keys/tokens.ts';
import { createOrganization } from './organization.ts';

const DEFAULT_ORGANIZATION = 'default';

/** Returns the new owner key, or `null` if there already is an organization. The lock makes sure that only one of several starting processes creates it. */
export async function createFirstOrganization(db: Database, chosenKey: string | null, beforeCommit: (token: string) => void): Promise<string | null> {
  return db.withSystem(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('rrs first organization'))`.execute(tx);
    const any = await tx.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
    if (any) return null;
    const organization = await createOrganization(tx, 'first start', { slug: DEFAULT_ORGANIZATION, name: 'Default' });
    const actor = systemActor(organization.id, 'first start');
    const { token } = await createApiKey(tx, actor, { name: 'first owner key', role: 'owner' }, chosenKey === null ? undefined : describeToken(chosenKey));
    beforeCommit(token);
    return token;
  });
}
