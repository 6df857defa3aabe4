import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { systemActor } from '../shared/actor.ts';
import { createApiKey } from './api-keys/api-keys.ts';
import { describeToken } from './api-keys/tokens.ts';
import { createOrganization } from './organization.ts';
import { createSetupKey } from './sign-in/setup.ts';

const DEFAULT_ORGANIZATION = 'default';

export interface FirstKeys {
  /** The first owner key, for programs. */
  owner: string;
  /** With it the first person becomes an owner. */
  setup: string;
}

/** Returns the new keys, or `null` if there already is an organization. The lock makes sure that only one of several starting processes creates it. */
export async function createFirstOrganization(db: Database, chosenKey: string | null, beforeCommit: (keys: FirstKeys) => void): Promise<FirstKeys | null> {
  return db.withSystem(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('rrs first organization'))`.execute(tx);
    const any = await tx.selectFrom('organizations').select('id').limit(1).executeTakeFirst();
    if (any) return null;
    const organization = await createOrganization(tx, 'first start', { slug: DEFAULT_ORGANIZATION, name: 'Default' });
    const actor = systemActor(organization.id, 'first start');
    const { token } = await createApiKey(tx, actor, { name: 'first owner key', role: 'owner' }, chosenKey === null ? undefined : describeToken(chosenKey));
    const keys = { owner: token, setup: await createSetupKey(tx, organization.id) };
    beforeCommit(keys);
    return keys;
  });
}
