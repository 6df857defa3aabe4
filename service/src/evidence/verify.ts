import { emptyTrust, type Report, type Source, type Trust, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import type { BlobRef, BlobStore } from '../blobs/blobs.ts';
import type { PublishedKey } from './keys.ts';

/** A stored archive, checked with the same program that auditors use. */
export function verifySealed(blobs: BlobStore, { sha256, size }: BlobRef, trust: Trust): Promise<Report> {
  const source: Source = {
    size,
    async read(offset, length) {
      if (length === 0) return new Uint8Array();
      const content = await blobs.getRange(sha256, { start: offset, end: offset + length - 1 });
      if (!content) throw new Error('the archive is not in the store any more');
      const chunks: Buffer[] = await content.toArray();
      return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    },
  };
  return verifyPackage(source, trust, nodePlatform());
}

/** Whatever this installation ever signed with. */
export function trustIn(keys: readonly PublishedKey[], certificates: string | null): Trust {
  const pems = (use: string, algorithm: string): string[] =>
    keys.filter((key) => key.use === use && key.algorithm === algorithm).map(({ publicKeyPem }) => publicKeyPem);
  return {
    ...emptyTrust(),
    packageKeys: pems('package', 'ES256'),
    logKeys: pems('log', 'ES256'),
    noteKeys: pems('log', 'Ed25519'),
    timestampRoots: certificates === null ? [] : [certificates],
  };
}
