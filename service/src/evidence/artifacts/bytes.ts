import { sql } from 'kysely';
import type { SystemTx } from '../../db/database.ts';
import { storedReports } from '../../findings/import/report-files.ts';

/** Those of the given bytes that an artifact, a sealed package or an import of any organization refers to. */
export async function referencedBytes(tx: SystemTx, sha256s: readonly string[]): Promise<ReadonlySet<string>> {
  const [{ rows }, reports] = await Promise.all([
    sql<{ sha256: string }>`
      select wanted.sha256 from unnest(${sha256s as string[]}::text[]) as wanted (sha256)
      where exists (
        select from artifacts artifact
        where artifact.sha256 = wanted.sha256 and (
          not exists (select from artifact_removals removal where removal.org_id = artifact.org_id and removal.artifact_id = artifact.id)
          or exists (select from package_artifacts sealed where sealed.org_id = artifact.org_id and sealed.artifact_id = artifact.id)
        )
      ) or exists (select from package_blobs kept where kept.sha256 = wanted.sha256)`.execute(tx),
    storedReports(tx, sha256s),
  ]);
  return new Set([...rows, ...reports].map(({ sha256 }) => sha256));
}
