import type { Database, TenantTx } from '../../db/database.ts';
import { appendLeaf, type LogRef } from '../../evidence/log/transparency-log.ts';
import { newId } from '../../shared/ids.ts';

export type FormPart = string | { name: string; content: string | Uint8Array; type?: string };

/** Uploads an artifact to a work item as a multipart form, as a browser does. */
export async function sendArtifact(
  url: string,
  workItem: string,
  parts: Readonly<Record<string, FormPart>>,
  headers: Record<string, string>,
): Promise<{ status: number; headers: Headers; body: unknown }> {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') form.append(name, part);
    else form.append(name, new Blob([part.content as string], part.type === undefined ? {} : { type: part.type }), part.name);
  }
  const response = await fetch(`${url}/api/v1/riskops-evidence/work-items/${workItem}/artifacts`, { method: 'POST', body: form, headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Creates a log without the statement that it normally starts with. */
export async function startLog(tx: TenantTx, orgId: string, origin = 'test/orgs'): Promise<LogRef> {
  await tx
    .insertInto('log_epochs')
    .values({ org_id: orgId, epoch: 1, origin })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return { orgId, epoch: 1 };
}

/** Appends an entry to the transparency log and returns its index. */
export async function addLogEntry(db: Database, orgId: string): Promise<number> {
  return db.withTenant({ orgId }, async (tx) => (await appendLeaf(tx, await startLog(tx, orgId), { packageId: newId(), entry: 'entry' })).index);
}
