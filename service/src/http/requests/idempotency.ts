import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Database, SystemTx, TenantTx } from '../../db/database.ts';
import { countAndSize } from '../../db/rows.ts';
import { AppError } from '../../shared/errors.ts';
import { seal, unseal } from '../../shared/sealed.ts';
import { Text } from '../schemas.ts';

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Text(1, 255, {
      description:
        'A unique value that makes the request safe to retry. For 24 hours, a request with the same key and body returns the stored response with `Idempotency-Replayed: true`',
    }),
  ),
});

interface WriteResponse<Body> {
  status: 200 | 201 | 202;
  headers?: Record<string, string>;
  body: Body;
}

/**
 * Runs a write and stores its response in the same transaction, so that either both are committed or neither is. A retry that
 * arrives while the first request is running waits on the unique key and then returns the stored response. `content` stands for a body that was read
 * as a stream.
 */
export async function answerOnce<Body>(
  { db, secret, content }: { db: Database; secret: Buffer; content?: unknown },
  request: FastifyRequest,
  reply: { code(status: number): unknown; headers(values: Record<string, string>): unknown },
  write: (tx: TenantTx) => Promise<WriteResponse<Body>>,
): Promise<Body> {
  const { actor } = request;
  const key = request.headers['idempotency-key'];
  const send = ({ status, headers, body }: WriteResponse<Body>): Body => {
    reply.code(status);
    reply.headers(headers ?? {});
    return body;
  };
  if (typeof key !== 'string') return send(await db.withTenant(actor, write));

  const scope = `${actor.orgId} ${actor.type} ${actor.id} ${request.method} ${request.routeOptions.url}`;
  const keyHash = createHash('sha256').update(`${scope} ${key}`).digest();
  // Threat: request and response bodies can contain secrets. Both are protected with the idempotency key, which is not stored, so that access to the database does not reveal them.
  const cipherKey = Buffer.from(hkdfSync('sha256', key, secret, scope, 32));
  const requestHash = createHmac('sha256', cipherKey)
    .update(JSON.stringify([request.url, content ?? request.body]))
    .digest();

  const { response, replayed } = await db.withTenant(actor, async (tx) => {
    const reserved = await tx
      .insertInto('idempotency_keys')
      .values({ org_id: actor.orgId, key_hash: keyHash, request_hash: requestHash })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (reserved.numInsertedOrUpdatedRows === 0n) {
      const stored = await storedResponse(tx, actor.orgId, keyHash, requestHash);
      return { response: JSON.parse(unseal(cipherKey, stored)) as WriteResponse<Body>, replayed: true };
    }
    const response = await write(tx);
    await tx
      .updateTable('idempotency_keys')
      .set({ response: seal(cipherKey, JSON.stringify(response)) })
      .where('org_id', '=', actor.orgId)
      .where('key_hash', '=', keyHash)
      .execute();
    return { response, replayed: false };
  });
  if (replayed) reply.headers({ 'idempotency-replayed': 'true' });
  return send(response);
}

async function storedResponse(tx: TenantTx, orgId: string, keyHash: Buffer, requestHash: Buffer): Promise<Buffer> {
  const row = await tx
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response'])
    .where('org_id', '=', orgId)
    .where('key_hash', '=', keyHash)
    .executeTakeFirstOrThrow();
  if (!timingSafeEqual(row.request_hash, requestHash)) {
    throw new AppError('idempotency_key_reused', 'This Idempotency-Key was already used with another URL or body. Use a new key for a new request.');
  }
  if (row.response === null) throw new Error('an idempotency key is stored without a response');
  return row.response;
}

export function usedByResponses(tx: TenantTx, orgId: string) {
  return countAndSize(tx, sql`select * from idempotency_keys where org_id = ${orgId}`);
}

export async function deleteExpiredResponses(tx: SystemTx): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('created_at', '<', sql<Date>`now() - interval '24 hours'`).execute();
}
