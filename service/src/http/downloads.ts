import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { BlobStore, ByteRange } from '../blobs/blobs.ts';
import { AppError } from '../shared/errors.ts';

export interface Download {
  sha256: string;
  size: number;
  mediaType: string;
  /** As supplied by the uploader. The response contains a sanitized form. */
  filename: string;
}

/** How a download request is answered. */
export type DownloadPlan = { status: 200 } | { status: 206; range: ByteRange } | { status: 304 };

/** RFC 9110, sections 13 and 14. Stored bytes never change, so their hash is a strong validator. */
export function planDownload(request: FastifyRequest, { sha256, size }: Download): DownloadPlan {
  const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers;
  const etag = etagOf(sha256);
  if (ifNoneMatch !== undefined && (ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))) {
    return { status: 304 };
  }
  // A date in If-Range never matches, because there is no Last-Modified to compare it with.
  if (range === undefined || request.method !== 'GET' || (ifRange !== undefined && String(ifRange).trim() !== etag)) return { status: 200 };
  const wanted = parseRange(range, size);
  if (wanted === 'unsatisfiable') {
    throw new AppError('range_not_satisfiable', `The range "${range.slice(0, 100)}" starts past the end of the content (${size} bytes).`, {
      headers: { 'content-range': `bytes */${size}` },
    });
  }
  return wanted ? { status: 206, range: wanted } : { status: 200 };
}

/** Returns `null` for a header to ignore. RFC 9110 permits that for unknown units, invalid ranges and multiple ranges. */
export function parseRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Threat: uploaded content must never run as a page of this origin. It is sent as an attachment and sandboxed in case a browser displays it. */
export async function sendDownload(reply: FastifyReply, blobs: BlobStore, download: Download, plan: DownloadPlan): Promise<FastifyReply> {
  const { sha256, size, mediaType, filename } = download;
  reply.code(plan.status).headers({ etag: etagOf(sha256), 'accept-ranges': 'bytes' });
  if (plan.status === 304) return reply.send();
  const content = await open(reply, blobs, sha256, plan);
  if (!content) throw new AppError('internal_error', `The stored content ${sha256} is missing. Report this to the operator of the service.`);
  if (plan.status === 206) reply.header('content-range', `bytes ${plan.range.start}-${plan.range.end}/${size}`);
  reply.headers({
    'content-type': /^text\/[^;]*$/.test(mediaType) ? `${mediaType}; charset=utf-8` : mediaType,
    'content-length': String(plan.status === 206 ? plan.range.end - plan.range.start + 1 : size),
    'content-disposition': attachment(filename),
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    // RFC 9530: the digest of the whole content, even if only a range is sent.
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
  });
  return reply.send(content);
}

async function open(reply: FastifyReply, blobs: BlobStore, sha256: string, plan: DownloadPlan): Promise<Readable | null> {
  if (reply.request.method === 'HEAD') return (await blobs.stat(sha256)) && Readable.from([]);
  return plan.status === 206 ? blobs.getRange(sha256, plan.range) : blobs.get(sha256);
}

function etagOf(sha256: string): string {
  return `"${sha256}"`;
}

/** RFC 6266 with RFC 8187: an ASCII name for old clients and the exact name for all others. Neither can contain a path or break out of the header. */
export function attachment(filename: string): string {
  const name = filename.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:]/gu, '_');
  const plain = name.replaceAll(/[^\x20-\x7e]|["%;]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

export const DownloadHeaders = Type.Object({
  range: Type.Optional(Type.String({ description: 'One range of bytes (RFC 9110). Default: everything', examples: ['bytes=0-1023'] })),
  'if-range': Type.Optional(Type.String({ description: '`Range` applies only if this is the current `ETag`. Otherwise the whole content is sent' })),
  'if-none-match': Type.Optional(Type.String({ description: 'ETags that the caller has. If one is current, the response is 304' })),
});

const text = (description: string) => ({ type: 'string', description });
const validators = { ETag: text('SHA-256 of the content, in quotes'), 'Accept-Ranges': text('Always `bytes`') };
const whole = {
  ...validators,
  'Content-Disposition': text('Always `attachment`, with the file name'),
  'Repr-Digest': text('SHA-256 of the whole content (RFC 9530)'),
};

/** Declares the responses of a download. */
export function downloadResponses(mediaTypes: readonly string[]): Record<number, unknown> {
  const media: { schema: TSchema; example: unknown } = { schema: Type.Any({ description: 'The stored bytes' }), example: 'bytes' };
  const content = Object.fromEntries(mediaTypes.map((type) => [type, media]));
  return {
    200: { description: 'The content', headers: whole, content },
    206: {
      description: 'The requested range of the content',
      headers: { ...whole, 'Content-Range': text('The range that is sent, and the size of the whole content') },
      content,
    },
    304: { description: 'The content has not changed', type: 'null', headers: validators },
  };
}
