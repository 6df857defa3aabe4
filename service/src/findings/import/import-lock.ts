import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/** What is imported into one organization goes in one after the other: two imports at once give the same as one after the other. */
export async function takeTurn(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`import ${orgId}`}, 0))`.execute(tx);
}

const last = new Map<string, Promise<void>>();

/** The imports of one process queue here, and only the first of them at the database: who waits there keeps a connection from everybody else. */
export async function inTurn<T>(orgId: string, work: () => Promise<T>): Promise<T> {
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
