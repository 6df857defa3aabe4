import { constants } from 'node:zlib';
import type { FastifyCompressOptions } from '@fastify/compress';

/** Text that is worth compressing. Not packages and images, which are compressed already, and not event streams, whose events must not wait for a block. */
const COMPRESSED = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml|x-ndjson|javascript)\b)/;

/**
 * Responses over 1 KiB are compressed if the caller accepts it. Fast levels: a page shrinks to a tenth even so, and callers wait for the compression.
 * Requests are never decompressed: a small body could fill the memory.
 */
export const compression: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  threshold: 1024,
  customTypes: COMPRESSED,
  brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  zlibOptions: { level: 1 },
  // Up to this size, compressing takes about a millisecond, less than setting up a stream in another thread.
  syncThreshold: 2 ** 17,
  globalDecompression: false,
};
