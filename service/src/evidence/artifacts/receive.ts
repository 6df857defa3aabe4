import type { Readable } from 'node:stream';
import type { BlobStore } from '../../blobs/blobs.ts';
import type { ArtifactFile } from './artifacts.ts';
import { HEAD_BYTES, mediaTypeOf } from './media-type.ts';

/** Streams the file to the blob store and detects its media type on the way. */
export async function receiveFile(blobs: BlobStore, content: Readable, filename: string, maxBytes: number): Promise<ArtifactFile> {
  const head: Uint8Array[] = [];
  let seen = 0;
  async function* withHead(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      if (seen < HEAD_BYTES) head.push(chunk.slice(0, HEAD_BYTES - seen));
      seen += chunk.length;
      yield chunk;
    }
  }
  const { sha256, size } = await blobs.put(withHead(), { maxBytes });
  return { sha256, size, media_type: mediaTypeOf(Buffer.concat(head)), filename: cleanName(filename) };
}

/** Removes what PostgreSQL cannot store or a person cannot read. */
function cleanName(filename: string): string | null {
  const name = filename
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, 255)
    .toWellFormed();
  return name === '' ? null : name;
}
