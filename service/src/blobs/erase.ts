import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { declareJob } from '../jobs/jobs.ts';

interface Erasure {
  sha256: string;
  /** Keeps bytes that were stored again since this time, as an upload that has no row yet does. */
  stored_before?: string;
}

/** Erases stored bytes, unless something still refers to them when the job runs. */
export const eraseBytes = declareJob<Erasure>('erase_bytes', { maxAttempts: 10 });

/** Serializes adding a row that refers to these bytes and erasing them, until the end of the transaction. */
export async function lockBytes(tx: Tx, sha256: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`bytes ${sha256}`}, 0))`.execute(tx);
}
