import { Readable } from 'node:stream';
import { type Capture, ConnectorError } from '@rrs/connectors';
import { recordAudit } from '../../audit/record.ts';
import type { BlobStore } from '../../blobs/blobs.ts';
import { eraseBytes } from '../../blobs/erase.ts';
import type { TenantTx } from '../../db/database.ts';
import { type ConnectionRow, enabledConnections } from '../../integrations/connections/connections.ts';
import { openTicketing, type TicketVendors } from '../../integrations/connections/ticketing.ts';
import { enqueue, type JobContext } from '../../jobs/jobs.ts';
import { systemActor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { type ArtifactFile, type ArtifactRow, addArtifact, readArtifact } from './artifacts.ts';
import { receiveFile } from './receive.ts';

export interface Capturing extends TicketVendors {
  blobs: BlobStore;
}

interface CapturedLink {
  connection: ConnectionRow;
  capture: Capture;
  at: Date;
}

type Link = ArtifactRow & { url: string };

/** A link proves little because its target can change. The first ticketing connection that can read the link supplies a copy. */
export async function captureOriginal(capturing: Capturing, context: JobContext, orgId: string, artifactId: string): Promise<void> {
  const { db, signal, lastAttempt } = context;
  const { link, connections } = await db.withTenant({ orgId }, async (tx) => ({
    link: await readArtifact(tx, orgId, artifactId),
    connections: await enabledConnections(tx, orgId, 'ticketing'),
  }));
  if (!isCurrentLink(link)) return;
  const { captured, fault } = await captureWith(capturing, signal, connections, link.url);
  if (captured) return store(capturing.blobs, context, link, captured);
  if (!fault) return;
  if (!lastAttempt && (fault.kind === 'unavailable' || fault.kind === 'rate_limited')) throw fault;
  await db.withTenant({ orgId }, (tx) => {
    const after = { work_item_id: link.work_item_id, url: link.url, error: fault.message };
    return recordAudit(tx, systemActor(orgId, 'capture'), { action: 'artifact.not_captured', objectType: 'artifact', objectId: link.id, after });
  });
}

function isCurrentLink(link: ArtifactRow): link is Link {
  return link.url !== null && link.removal === null && link.superseded_by === null;
}

/** Most connectors recognize a foreign URL without a request. */
async function captureWith(vendors: TicketVendors, signal: AbortSignal, connections: readonly ConnectionRow[], url: string) {
  let fault: ConnectorError | null = null;
  for (const connection of connections) {
    try {
      const { connector, context } = await openTicketing(vendors, connection, signal);
      const capture = (await connector.capture?.(context, url)) ?? null;
      if (capture) return { captured: { connection, capture, at: new Date() }, fault: null };
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error;
      fault ??= error;
    }
  }
  return { captured: null, fault };
}

async function store(blobs: BlobStore, { db }: JobContext, link: Link, { connection, capture, at }: CapturedLink): Promise<void> {
  const { org_id: orgId } = link;
  const name = capture.mediaType === 'application/json' ? 'original.json' : 'original';
  const file = await receiveFile(blobs, Readable.from([capture.bytes]), name, capture.bytes.length);
  try {
    await db.withTenant({ orgId }, (tx) => addOriginal(tx, link, { connection, capture, at, file }));
  } catch (error) {
    await db.withTenant({ orgId }, (tx) => enqueue(tx, eraseBytes, { sha256: file.sha256 }));
    // Someone superseded or removed the link in the meantime.
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
  }
}

async function addOriginal(tx: TenantTx, link: Link, { connection, capture, at, file }: CapturedLink & { file: ArtifactFile }): Promise<void> {
  const { org_id: orgId, type, title, occurred_at } = link;
  const description = [link.description, capture.description].filter((text) => text !== null).join('\n\n');
  const { id } = await addArtifact(tx, systemActor(orgId, connection.name), link.work_item_id, {
    type,
    title,
    description,
    occurred_at: occurred_at?.toISOString() ?? null,
    supersedes: link.id,
    content: file,
  });
  await tx
    .insertInto('artifact_captures')
    .values({
      org_id: orgId,
      artifact_id: id,
      link_id: link.id,
      connection_id: connection.id,
      provider: connection.provider,
      url: link.url,
      sha256: file.sha256,
      captured_at: at,
    })
    .execute();
}
