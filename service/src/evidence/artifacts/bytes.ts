import { sql } from 'kysely';
import type { SystemTx, Tx } from '../../db/database.ts';

/** Serializes adding an artifact with these bytes and erasing them, until the end of the transaction. */
export async function lockBytes(tx: Tx, sha256: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`bytes ${sha256}`}, 0))`.execute(tx);
}

/** Whether an artifact or a sealed package of any organization refers to these bytes. */
export async function bytesAreReferenced(tx: SystemTx, sha256: string): Promise<boolean> {
  const { rows } = await sql<{ referenced: boolean }>`
    select exists (
      select from artifacts artifact
      where artifact.sha256 = ${sha256} and (
        not exists (select from artifact_removals removal where removal.org_id = artifact.org_id and removal.artifact_id = artifact.id)
        or exists (select from package_artifacts sealed where sealed.org_id = artifact.org_id and sealed.artifact_id = artifact.id)
      )
    ) or exists (select from package_blobs kept where kept.sha256 = ${sha256}) as referenced`.execute(tx);
  return rows[0]?.referenced ?? true;
}
