import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError } from '../../shared/errors.ts';
import { Text } from '../schemas.ts';

/** Optimistic locking: the version of a resource is its ETag, and a PATCH can require it with If-Match. */
export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Text(1, 200, { description: '`ETag` that the change is based on. If it is not current, the response is 412. Default: no check', examples: ['"1"'] }),
  ),
});

export type ExpectedVersions = readonly number[] | null;

/** Returns `null` if any version is accepted. A tag in a foreign format becomes NaN, which matches nothing. */
export function expectedVersions(request: FastifyRequest): ExpectedVersions {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  return header.split(',').map((tag) => Number(/^\s*"([1-9]\d{0,8})"\s*$/.exec(tag)?.[1] ?? Number.NaN));
}

export function assertVersion(current: { version: number }, expected: ExpectedVersions): void {
  if (expected === null || expected.includes(current.version)) return;
  throw new AppError(
    'stale_version',
    `The current version is "${current.version}". If-Match names another version. Read the resource again and repeat your change.`,
  );
}

export function setETag(reply: FastifyReply, { version }: { version: number }): void {
  reply.header('etag', `"${version}"`);
}
