import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';

/** One import of an organization at a time, so that parallel imports give the same result as consecutive ones. Held until the transaction ends. */
export async function takeImportLock(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`import ${orgId}`}, 0))`.execute(tx);
}

const last = new Map<string, Promise<void>>();

/** Imports of one process queue here, and only the first of them waits in the database, where waiting occupies a connection. */
export async function queueImport<T>(orgId: string, work: () => Promise<T>): Promise<T> {
  const before = last.get(orgId);
  const { promise, resolve } = Promise.withResolvers<void>();
  last.set(orgId, promise);
  await before;
  try {
    return await work();
  } finally {
    resolve();
    if (last.get(orgId) === promise) last.delete(orgId);
  }
}
