import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { type Call, UsageError } from '../command.ts';

/** Writes a download to a file, or to standard output for "-". A file appears when it is complete, so that half of one is never taken for it. */
export async function save({ terminal }: Pick<Call, 'terminal'>, body: Response['body'], path: string): Promise<void> {
  const source = body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream<Uint8Array>);
  if (path === '-') {
    for await (const chunk of source) terminal.out(chunk as Uint8Array);
    return;
  }
  const partial = `${path}.part`;
  try {
    await pipeline(source, createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if (error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'EROFS'].includes(String(error.code)))
      throw new UsageError(`${path} cannot be written (${error.code}). Choose another file with --output.`);
    throw error;
  }
}
