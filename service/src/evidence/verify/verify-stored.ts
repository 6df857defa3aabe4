import { emptyTrust, type Report, type Trust } from '@rrs/verifier';
import type { BlobRef, BlobStore } from '../../blobs/blobs.ts';
import type { PublishedKey } from '../keys/keys.ts';
import { archiveSource } from '../packages/archive-source.ts';
import { verifyInThread } from './verify-in-thread.ts';

/** Verifies a stored archive with the same program that auditors use. */
export async function verifyStored(blobs: BlobStore, archive: BlobRef, trust: Trust): Promise<Report> {
  const source = archiveSource(blobs, archive);
  try {
    return await verifyInThread(source, trust);
  } finally {
    await source.close();
  }
}

/** Trusts every key that this installation ever signed with. */
export function trustedKeys(keys: readonly PublishedKey[], certificates: string | null): Trust {
  const pems = (use: string, algorithm: string): string[] =>
    keys.filter((key) => key.use === use && key.algorithm === algorithm).map(({ publicKeyPem }) => publicKeyPem);
  return {
    ...emptyTrust(),
    packageKeys: pems('package', 'ES256'),
    logKeys: pems('log', 'ES256'),
    noteKeys: pems('log', 'Ed25519'),
    timestampRoots: certificates === null ? [] : [certificates],
    periods: keys
      .filter(({ use }) => use === 'package')
      .map(({ publicKeyPem, validFrom, validTo }) => ({ key: publicKeyPem, from: validFrom.toISOString(), to: validTo?.toISOString() ?? null })),
  };
}
