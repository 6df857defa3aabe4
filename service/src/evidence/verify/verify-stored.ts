import type { ListedKeyUse } from '@rrs/evidence-format';
import { emptyTrust, type Report, type Trust } from '@rrs/verifier';
import type { BlobRef, BlobStore } from '../../blobs/blobs.ts';
import { listedUse, type PublishedKey } from '../keys/keys.ts';
import { archiveSource } from '../packages/archive-source.ts';
import { verifyInChild } from './verify-in-child.ts';

/** Verifies a stored archive with the same program that auditors use. */
export async function verifyStored(blobs: BlobStore, archive: BlobRef, trust: Trust): Promise<Report> {
  const source = archiveSource(blobs, archive);
  try {
    return await verifyInChild(source, trust);
  } finally {
    await source.close();
  }
}

/** Trusts every key that this installation ever signed with, for the time in which it was in use. */
export function trustedKeys(keys: readonly PublishedKey[], certificates: string | null): Trust {
  const pems = (use: ListedKeyUse): string[] => keys.filter((key) => listedUse(key) === use).map(({ publicKeyPem }) => publicKeyPem);
  return {
    ...emptyTrust(),
    packageKeys: pems('package'),
    logKeys: pems('log'),
    noteKeys: pems('note'),
    timestampRoots: certificates === null ? [] : [certificates],
    periods: keys.map(({ publicKeyPem, validFrom, validTo }) => ({
      key: publicKeyPem,
      from: validFrom.toISOString(),
      to: validTo?.toISOString() ?? null,
      revoked: null,
    })),
  };
}
