import { sql } from 'kysely';
import type { SystemTx, Tx } from '../../db/database.ts';

/** Who adds an artifact with these bytes and who erases them take turns. */
export async function lockBytes(tx: Tx, sha256: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`bytes ${sha256}`}, 0))`.execute(tx);
}

/** Whether an artifact of any organization has them, or a package was sealed with one that had. */
export async function bytesAreNeeded(tx: SystemTx, sha256: string): Promise<boolean> {
  const { rows } = await sql<{ needed: boolean }>`
    select exists (
      select from artifacts artifact
      where artifact.sha256 = ${sha256} and (
        not exists (select from artifact_removals removal where removal.org_id = artifact.org_id and removal.artifact_id = artifact.id)
        or exists (select from package_artifacts sealed where sealed.org_id = artifact.org_id and sealed.artifact_id = artifact.id)
      )
    ) or exists (select from package_blobs kept where kept.sha256 = ${sha256}) as needed`.execute(tx);
  return rows[0]?.needed ?? true;
}
