import { randomBytes } from 'node:crypto';
import type { Database } from './database.ts';

/** A secret that all replicas on one database share, made by whichever comes first. */
export async function instanceSecret(db: Database, name: string): Promise<Buffer> {
  return db.withSystem(async (tx) => {
    await tx
      .insertInto('instance_secrets')
      .values({ name, value: randomBytes(32) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const { value } = await tx.selectFrom('instance_secrets').select('value').where('name', '=', name).executeTakeFirstOrThrow();
    return value;
  });
}
