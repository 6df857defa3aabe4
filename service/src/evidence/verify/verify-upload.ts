import { randomUUID } from 'node:crypto';
import { type FileHandle, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Report, Source, Trust } from '@rrs/verifier';
import { recordAudit } from '../../audit/record.ts';
import type { BlobRef } from '../../blobs/blobs.ts';
import { withFile } from '../../blobs/files.ts';
import { spool } from '../../blobs/streams.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { isUuid } from '../../shared/ids.ts';
import type { PackageRow } from '../packages/packages.ts';
import { recordReceipt } from '../sharing/receipts.ts';
import { verifyInChild } from './verify-in-child.ts';

export interface VerifiedUpload {
  file: BlobRef;
  report: Report;
}

/** The temporary file is unlinked before anything is written to it, so that nothing is left behind even after a crash. */
export async function verifyUpload(content: Readable, maxBytes: number, trust: () => Promise<Trust>): Promise<VerifiedUpload> {
  const path = join(tmpdir(), `rrs-verify-${randomUUID()}`);
  return withFile(
    path,
    'wx+',
    async (handle) => {
      await unlink(path);
      const file = await spool(content, handle, { maxBytes });
      return { file, report: await verifyInChild(sourceOf(handle, file.size), await trust()) };
    },
    0o600,
  );
}

function sourceOf(handle: FileHandle, size: number): Source {
  return {
    size,
    async read(offset, length) {
      const bytes = Buffer.allocUnsafeSlow(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
  };
}

/**
 * Returns the package of the caller's organization that has exactly these bytes, and records a receipt for it. For any other file, only the
 * verification is audited. Packages of other organizations are never looked up.
 */
export async function recordVerifiedUpload(tx: TenantTx, actor: Actor, { file, report }: VerifiedUpload): Promise<PackageRow | null> {
  const id = report.package?.id;
  const own = id !== undefined && isUuid(id) ? await findOwn(tx, actor.orgId, id, file.sha256) : null;
  if (own) await recordReceipt(tx, actor, { packageId: own.id, kind: 'verification', outcome: report.verdict });
  else {
    const after = { verdict: report.verdict, size: file.size, package_id: id ?? null };
    await recordAudit(tx, actor, { action: 'upload.verified', objectType: 'upload', objectId: file.sha256, after });
  }
  return own;
}

async function findOwn(tx: TenantTx, orgId: string, id: string, sha256: string): Promise<PackageRow | null> {
  const row = await tx
    .selectFrom('evidence_packages')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('archive_sha256', '=', sha256)
    .executeTakeFirst();
  return row ?? null;
}
