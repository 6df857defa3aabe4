import { Readable } from 'node:stream';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database } from '../../db/database.ts';
import { createShareLink } from '../../evidence/sharing/share-links.ts';
import { mintToken } from '../../organizations/api-keys/tokens.ts';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';

interface Stored {
  db: Database;
  blobs: BlobStore;
}

export interface StoredPackage {
  orgId: string;
  workItemId: string;
  sequence?: number;
  generatedAt?: Date;
  generationMs?: number;
  grade?: string;
  content?: string;
}

/** Stores a package as sealing does, but with arbitrary bytes as its archive, for tests that do not read it. */
export async function storePackage({ db, blobs }: Stored, { orgId, workItemId, sequence = 1, ...more }: StoredPackage): Promise<string> {
  const { generatedAt = new Date(), generationMs = 100, grade = 'B', content = `archive ${newId()}` } = more;
  const { sha256, size } = await blobs.put(Readable.from([Buffer.from(content)]));
  const id = newId();
  const hash = Buffer.alloc(32);
  await db.withTenant({ orgId }, async (tx) => {
    await tx
      .insertInto('evidence_packages')
      .values({
        org_id: orgId,
        id,
        work_item_id: workItemId,
        work_item_title: 'Stored by a test',
        sequence,
        status: 'ready',
        formats: [],
        requested_by: JSON.stringify({ type: 'system', id: null, name: 'test' }),
        as_of: generatedAt,
        generated_at: generatedAt,
        generation_ms: generationMs,
        conclusion: 'remediated',
        grade,
        counts: JSON.stringify({ findings: 1, artifacts: 0, scans: 1 }),
        archive_sha256: sha256,
        archive_size: String(size),
        manifest_sha256: sha256,
        tagmanifest_sha256: sha256,
        key_id: 'SHA256:test',
        log_epoch: 1,
        log_index: '0',
        log_size: '1',
        log_root: hash,
        leaf_hash: hash,
      })
      .execute();
    await tx.insertInto('package_blobs').values({ org_id: orgId, package_id: id, sha256 }).execute();
  });
  return id;
}

/** Creates a share link and returns its id and token. */
export async function sharePackage({ db }: Pick<Stored, 'db'>, orgId: string, packageId: string): Promise<{ id: string; token: string }> {
  const actor = systemActor(orgId, 'test');
  const { link, token } = await db.withTenant(actor, (tx) => createShareLink(tx, actor, packageId, { recipient: 'An auditor' }));
  return { id: link.id, token };
}

/** A well-formed token of a share link that does not exist. */
export function unknownToken(orgId: string): string {
  return mintToken('shr', orgId).token;
}
