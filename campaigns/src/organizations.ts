import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../service/src/db/database.ts';
import { createApiKey } from '../../service/src/organizations/api-keys/api-keys.ts';
import { createOrganization } from '../../service/src/organizations/organization.ts';
import { systemActor } from '../../service/src/shared/actor.ts';
import { type Role, roles } from '../../service/src/shared/permissions.ts';

export interface Organization {
  id: string;
  slug: string;
  /** One API key for each role. */
  keys: Record<Role, string>;
}

/** Creates organizations in the database of a running service, as its command line does. */
export async function createOrganizations(dataDir: string, slugs: readonly string[]): Promise<Organization[]> {
  const db = openDatabase({ url: readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim(), poolSize: 2 });
  try {
    const created: Organization[] = [];
    for (const slug of slugs) {
      const { id } = await db.withSystem((tx) => createOrganization(tx, 'campaign', { slug, name: slug }));
      const actor = systemActor(id, 'campaign');
      const keyOf = async (role: Role): Promise<[Role, string]> => [
        role,
        (await db.withTenant(actor, (tx) => createApiKey(tx, actor, { name: role, role }))).token,
      ];
      const keys = [];
      for (const role of roles) keys.push(await keyOf(role));
      created.push({ id, slug, keys: Object.fromEntries(keys) as Organization['keys'] });
    }
    return created;
  } finally {
    await db.close();
  }
}
