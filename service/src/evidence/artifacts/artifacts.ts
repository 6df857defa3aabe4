import { type Selectable, sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import { eraseBytes, lockBytes } from '../../blobs/erase.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import type { DB } from '../../db/types.ts';
import { emit } from '../../events/emit.ts';
import { enqueue } from '../../jobs/jobs.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { readItem } from '../../work-items/items/read.ts';
import { type ActorRef, actorRef } from '../actor-ref.ts';
import { captureLink } from '../jobs.ts';
import type { ArtifactLink, ArtifactListQuery } from '../schemas.ts';
import type { ArtifactMediaType } from './media-type.ts';
import type { UrlRedaction } from './redact-url.ts';

export interface ArtifactFile {
  sha256: string;
  size: number;
  media_type: ArtifactMediaType;
  filename: string | null;
}

export interface NewArtifact {
  type: Static<typeof ArtifactLink>['type'];
  title: string;
  description: string | null;
  occurred_at: string | null;
  supersedes: string | null;
  /** A stored file, or a link whose content is not stored. */
  content: ArtifactFile | { url: string; redactions: UrlRedaction[] };
}

type ArtifactFilter = Pick<Static<typeof ArtifactListQuery>, 'type' | 'superseded' | 'removed'>;

export interface Removal {
  removed_at: string;
  removed_by: ActorRef;
  reason: string;
}

/** Where the content of an artifact was captured from. */
interface CaptureSource {
  url: string;
  provider: string;
  connection_id: string;
  captured_at: string;
}

export type ArtifactRow = Selectable<DB['artifacts']> & { superseded_by: string | null; removal: Removal | null; capture: CaptureSource | null };

/** Closed work items accept artifacts too, because evidence often arrives late. The next package includes it. */
export async function addArtifact(tx: TenantTx, actor: Actor, workItemId: string, input: NewArtifact): Promise<ArtifactRow> {
  await readItem(tx, actor.orgId, workItemId);
  if (input.supersedes !== null) await assertReplaceable(tx, actor.orgId, workItemId, input.supersedes);
  const { content, ...fields } = input;
  const captured = 'sha256' in content;
  if (captured) await lockBytes(tx, content.sha256);
  const id = newId();
  const columns = captured ? { ...content, size: String(content.size) } : { url: content.url, redactions: JSON.stringify(content.redactions) };
  const added = await tx
    .insertInto('artifacts')
    .values({ org_id: actor.orgId, id, work_item_id: workItemId, ...fields, ...columns, added_by: JSON.stringify(actorRef(actor)) })
    .onConflict((conflict) => conflict.columns(['org_id', 'supersedes']).doNothing())
    .executeTakeFirst();
  if (added.numInsertedOrUpdatedRows === 0n) throw alreadySuperseded(input.supersedes ?? '');
  if (!captured) await enqueue(tx, captureLink, { org_id: actor.orgId, artifact_id: id });
  const occurred_at = fields.occurred_at === null ? null : new Date(fields.occurred_at).toISOString();
  const after = { work_item_id: workItemId, ...fields, occurred_at, ...content };
  await recordAudit(tx, actor, { action: 'artifact.added', objectType: 'artifact', objectId: id, after });
  await emit(tx, actor.orgId, { type: 'artifact.added', subject: id, data: after });
  if (input.supersedes !== null) {
    const change = { work_item_id: workItemId, superseded_by: id };
    await recordAudit(tx, actor, { action: 'artifact.superseded', objectType: 'artifact', objectId: input.supersedes, after: change });
    await emit(tx, actor.orgId, { type: 'artifact.superseded', subject: input.supersedes, data: change });
  }
  return readArtifact(tx, actor.orgId, id);
}

async function assertReplaceable(tx: TenantTx, orgId: string, workItemId: string, id: string): Promise<void> {
  const old = await readArtifact(tx, orgId, id);
  if (old.work_item_id !== workItemId)
    throw new AppError('conflict', `The artifact "${id}" belongs to another work item. An artifact can supersede only artifacts of its own work item.`);
  if (old.superseded_by !== null) throw alreadySuperseded(id);
  if (old.removal) throw new AppError('conflict', `The artifact "${id}" was removed. Add the new artifact without "supersedes".`);
}

function alreadySuperseded(id: string): AppError {
  return new AppError('conflict', `The artifact "${id}" is already superseded. Its "superseded_by" names the artifact to supersede instead.`);
}

const artifacts = (tx: TenantTx, orgId: string) =>
  tx
    .selectFrom('artifacts')
    .selectAll('artifacts')
    .select([
      sql<string | null>`(select next.id from artifacts next where next.org_id = artifacts.org_id and next.supersedes = artifacts.id)`.as('superseded_by'),
      sql<Removal | null>`(
        select jsonb_build_object('removed_at', to_char(removal.removed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'removed_by', removal.removed_by, 'reason', removal.reason)
        from artifact_removals removal where removal.org_id = artifacts.org_id and removal.artifact_id = artifacts.id)`.as('removal'),
      sql<CaptureSource | null>`(
        select jsonb_build_object('url', capture.url, 'provider', capture.provider, 'connection_id', capture.connection_id,
          'captured_at', to_char(capture.captured_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        from artifact_captures capture where capture.org_id = artifacts.org_id and capture.artifact_id = artifacts.id)`.as('capture'),
    ])
    .where('artifacts.org_id', '=', orgId);

export async function readArtifact(tx: TenantTx, orgId: string, id: string): Promise<ArtifactRow> {
  const row = await artifacts(tx, orgId).where('artifacts.id', '=', id).executeTakeFirst();
  if (!row) throw notFound('artifact', id);
  return row;
}

/** Every artifact of a work item, oldest first, for a package. */
export function allArtifacts(tx: TenantTx, orgId: string, workItemId: string): Promise<ArtifactRow[]> {
  return artifacts(tx, orgId).where('artifacts.work_item_id', '=', workItemId).orderBy('artifacts.added_at').orderBy('artifacts.id').execute();
}

export async function listArtifacts(tx: TenantTx, orgId: string, workItemId: string, { filter, page }: { filter: ArtifactFilter; page: PageRequest }) {
  await readItem(tx, orgId, workItemId);
  let query = artifacts(tx, orgId).where('artifacts.work_item_id', '=', workItemId);
  if (filter.type !== undefined) query = query.where('artifacts.type', 'in', filter.type);
  const exists = (wanted: boolean, rows: ReturnType<typeof sql>) => sql<boolean>`${sql.raw(wanted ? '' : 'not')} exists (${rows})`;
  if (filter.superseded !== undefined) {
    query = query.where(exists(filter.superseded, sql`select from artifacts next where next.org_id = artifacts.org_id and next.supersedes = artifacts.id`));
  }
  if (filter.removed !== undefined) {
    const rows = sql`select from artifact_removals removal where removal.org_id = artifacts.org_id and removal.artifact_id = artifacts.id`;
    query = query.where(exists(filter.removed, rows));
  }
  return fetchPage(tx, query, { added_at: { column: 'added_at', type: 'timestamptz' } }, page);
}

/** Keeps the row and adds a removal. A job erases the bytes, unless a package was sealed with them or something else refers to them. */
export async function removeArtifact(tx: TenantTx, actor: Actor, id: string, reason: string): Promise<ArtifactRow> {
  const artifact = await readArtifact(tx, actor.orgId, id);
  const removed = await tx
    .insertInto('artifact_removals')
    .values({ org_id: actor.orgId, artifact_id: id, reason, removed_by: JSON.stringify(actorRef(actor)) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (removed.numInsertedOrUpdatedRows === 0n) return readArtifact(tx, actor.orgId, id);
  if (artifact.sha256 !== null) await enqueue(tx, eraseBytes, { sha256: artifact.sha256 });
  const change = { work_item_id: artifact.work_item_id, reason, sha256: artifact.sha256 };
  await recordAudit(tx, actor, { action: 'artifact.removed', objectType: 'artifact', objectId: id, after: change });
  await emit(tx, actor.orgId, { type: 'artifact.removed', subject: id, data: change });
  return readArtifact(tx, actor.orgId, id);
}

export async function recordDownload(tx: TenantTx, actor: Actor, artifact: ArtifactRow, range: { start: number; end: number } | null): Promise<void> {
  const after = { work_item_id: artifact.work_item_id, sha256: artifact.sha256, ...(range ? { range } : {}) };
  await recordAudit(tx, actor, { action: 'artifact.downloaded', objectType: 'artifact', objectId: artifact.id, after });
  await emit(tx, actor.orgId, { type: 'artifact.downloaded', subject: artifact.id, data: after });
}

/** Called in the transaction that reads the snapshot, so that the bytes are kept before the package is sealed with them. */
export async function recordSealedArtifacts(tx: TenantTx, orgId: string, packageId: string, artifactIds: readonly string[]): Promise<void> {
  if (artifactIds.length === 0) return;
  await tx
    .insertInto('package_artifacts')
    .values(artifactIds.map((artifact_id) => ({ org_id: orgId, package_id: packageId, artifact_id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
