import { type Selectable, sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import type { DB } from '../../db/types.ts';
import { emit } from '../../events/emit.ts';
import { enqueue } from '../../jobs/jobs.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { readItem } from '../../work-items/items/read.ts';
import { captureLink, eraseBytes } from '../jobs.ts';
import { lockBytes } from './bytes.ts';
import type { ArtifactMediaType } from './media-type.ts';
import type { UrlRedaction } from './redact-url.ts';

export const artifactTypes = [
  'pull_request',
  'commit',
  'change_ticket',
  'scan_report',
  'approval',
  'screenshot',
  'configuration',
  'test_result',
  'other',
] as const;
type ArtifactType = (typeof artifactTypes)[number];

export interface ArtifactFile {
  sha256: string;
  size: number;
  media_type: ArtifactMediaType;
  filename: string | null;
}

export interface NewArtifact {
  type: ArtifactType;
  title: string;
  description: string | null;
  occurred_at: string | null;
  supersedes: string | null;
  /** Captured bytes, or a link to what was not captured. */
  content: ArtifactFile | { url: string; redactions: UrlRedaction[] };
}

export interface ArtifactFilter {
  type?: ArtifactType[];
  superseded?: boolean;
  removed?: boolean;
}

export interface Removal {
  removed_at: string;
  removed_by: Person;
  reason: string;
}

interface Person {
  type: Actor['type'];
  id: string | null;
  name: string;
}

/** Where the bytes of an artifact were taken from. */
export interface Captured {
  url: string;
  provider: string;
  connection_id: string;
  captured_at: string;
}

export type ArtifactRow = Selectable<DB['artifacts']> & { superseded_by: string | null; removal: Removal | null; capture: Captured | null };

/** Closed work items take artifacts too: evidence often comes late, and the next package has it. */
export async function addArtifact(tx: TenantTx, actor: Actor, workItemId: string, input: NewArtifact): Promise<ArtifactRow> {
  await readItem(tx, actor.orgId, workItemId);
  if (input.supersedes !== null) await assertReplaceable(tx, actor.orgId, workItemId, input.supersedes);
  const { content, ...said } = input;
  const captured = 'sha256' in content;
  if (captured) await lockBytes(tx, content.sha256);
  const id = newId();
  const kept = captured ? { ...content, size: String(content.size) } : { url: content.url, redactions: JSON.stringify(content.redactions) };
  const added = await tx
    .insertInto('artifacts')
    .values({ org_id: actor.orgId, id, work_item_id: workItemId, ...said, ...kept, added_by: JSON.stringify(personOf(actor)) })
    .onConflict((conflict) => conflict.columns(['org_id', 'supersedes']).doNothing())
    .executeTakeFirst();
  if (added.numInsertedOrUpdatedRows === 0n) throw supersededAlready(input.supersedes ?? '');
  if (!captured) await enqueue(tx, captureLink, { org_id: actor.orgId, artifact_id: id });
  const after = { work_item_id: workItemId, ...said, ...content };
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
    throw new AppError('conflict', `The artifact "${id}" belongs to another work item; only one of the same can be superseded.`);
  if (old.superseded_by !== null) throw supersededAlready(id);
  if (old.removal) throw new AppError('conflict', `The artifact "${id}" was removed; add the new one without "supersedes".`);
}

function supersededAlready(id: string): AppError {
  return new AppError('conflict', `The artifact "${id}" is superseded already. Read it to see by which, and supersede that one.`);
}

function personOf({ type, id, name }: Actor): Person {
  return { type, id, name };
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
      sql<Captured | null>`(
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

/** For a package: all there are, the oldest first. */
export function allArtifacts(tx: TenantTx, orgId: string, workItemId: string): Promise<ArtifactRow[]> {
  return artifacts(tx, orgId).where('artifacts.work_item_id', '=', workItemId).orderBy('artifacts.added_at').orderBy('artifacts.id').execute();
}

export async function listArtifacts(tx: TenantTx, orgId: string, workItemId: string, { filter, page }: { filter: ArtifactFilter; page: PageRequest }) {
  await readItem(tx, orgId, workItemId);
  let query = artifacts(tx, orgId).where('artifacts.work_item_id', '=', workItemId);
  if (filter.type !== undefined) query = query.where('artifacts.type', 'in', filter.type);
  const having = (wanted: boolean, rows: ReturnType<typeof sql>) => sql<boolean>`${sql.raw(wanted ? '' : 'not')} exists (${rows})`;
  if (filter.superseded !== undefined) {
    query = query.where(having(filter.superseded, sql`select from artifacts next where next.org_id = artifacts.org_id and next.supersedes = artifacts.id`));
  }
  if (filter.removed !== undefined) {
    const rows = sql`select from artifact_removals removal where removal.org_id = artifacts.org_id and removal.artifact_id = artifacts.id`;
    query = query.where(having(filter.removed, rows));
  }
  return fetchPage(tx, query, { added_at: { column: 'added_at', type: 'timestamptz' } }, page);
}

/** The row stays as a tombstone. The bytes go later, unless a package was sealed with them or somebody else has the same. */
export async function removeArtifact(tx: TenantTx, actor: Actor, id: string, reason: string): Promise<ArtifactRow> {
  const artifact = await readArtifact(tx, actor.orgId, id);
  const removed = await tx
    .insertInto('artifact_removals')
    .values({ org_id: actor.orgId, artifact_id: id, reason, removed_by: JSON.stringify(personOf(actor)) })
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
  const what = { work_item_id: artifact.work_item_id, sha256: artifact.sha256, ...(range ? { range } : {}) };
  await recordAudit(tx, actor, { action: 'artifact.downloaded', objectType: 'artifact', objectId: artifact.id, after: what });
  await emit(tx, actor.orgId, { type: 'artifact.downloaded', subject: artifact.id, data: what });
}

/** Before the package is sealed with them, in the transaction that reads what it will say. */
export async function recordSealedArtifacts(tx: TenantTx, orgId: string, packageId: string, artifactIds: readonly string[]): Promise<void> {
  if (artifactIds.length === 0) return;
  await tx
    .insertInto('package_artifacts')
    .values(artifactIds.map((artifact_id) => ({ org_id: orgId, package_id: packageId, artifact_id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
