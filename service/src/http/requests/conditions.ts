import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError } from '../../shared/errors.ts';
import { Text } from '../schemas.ts';

/** Optimistic locking: a resource's version is its ETag, and a PATCH may insist on it. */
export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(
    Text(1, 200, { description: 'The `ETag` the change is based on; another current version is answered with 412', examples: ['"1"'] }),
  ),
});

export type ExpectedVersions = readonly number[] | null;

/** `null`: any version will do. A tag that is not one of ours matches nothing. */
export function expectedVersions(request: FastifyRequest): ExpectedVersions {
  const header = request.headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  return header.split(',').map((tag) => Number(/^\s*"([1-9]\d{0,8})"\s*$/.exec(tag)?.[1] ?? Number.NaN));
}

export function assertVersion(current: { version: number }, expected: ExpectedVersions): void {
  if (expected === null || expected.includes(current.version)) return;
  throw new AppError(
    'stale_version',
    `The current version is "${current.version}", If-Match asked for another. Read it again and repeat the change on what it is now.`,
  );
}

export function setETag(reply: FastifyReply, { version }: { version: number }): void {
  reply.header('etag', `"${version}"`);
}
