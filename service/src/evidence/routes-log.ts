import { toHex } from '@rrs/evidence-format';
import type { TenantTx } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { problems } from '../http/schemas.ts';
import { AppError, type FieldError } from '../shared/errors.ts';
import type { EvidenceDeps } from './deps.ts';
import { latestCheckpoint, proveConsistency, proveInclusion, readLeaf, readLog } from './log/transparency-log.ts';
import { CheckpointText, ConsistencyProof, ConsistencyQuery, InclusionProof, InclusionQuery, LogCheckpoint, LogEntry, LogEntryParams } from './schemas.ts';

export function logRoutes(app: App, { db }: EvidenceDeps): void {
  app.get(
    '/riskops-evidence/log/checkpoint',
    {
      config: { access: 'evidence:read', produces: ['text/plain'] },
      schema: {
        operationId: 'getLogCheckpoint',
        summary: 'Get the last checkpoint of the log',
        description:
          'Size and root of the transparency log of your organization, signed. Keep it: a package made later proves that it extends what you have seen. `Accept: text/plain` gives the note alone, as a file for the verifier.',
        tags: ['Evidence'],
        response: {
          200: { description: 'Done', content: { 'application/json': { schema: LogCheckpoint }, 'text/plain': { schema: CheckpointText } } } as never,
          ...problems('not_found'),
        },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { log, checkpoint } = await db.withTenant(request.actor, async (tx) => ({
        log: await readLog(tx, orgId),
        checkpoint: await latestCheckpoint(tx, orgId),
      }));
      if (!log || !checkpoint) throw new AppError('not_found', 'The log of your organization has no checkpoint yet: the first package makes it.');
      if (/^\s*text\/plain/i.test(request.headers.accept ?? '')) return reply.type('text/plain; charset=utf-8').send(checkpoint.note as never);
      const { size, root, note, rekor_note, created_at } = checkpoint;
      return reply
        .type('application/json; charset=utf-8')
        .send({ origin: log.origin, tree_size: size, root_hash: toHex(root), note, rekor_note, created_at: created_at.toISOString() } as never);
    },
  );

  app.get(
    '/riskops-evidence/log/entries/:index',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'getLogEntry',
        summary: 'Get an entry of the log',
        description: 'The leaf at this place, the package it belongs to, and whether that package was published.',
        tags: ['Evidence'],
        params: LogEntryParams,
        response: { 200: LogEntry, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { index } = request.params;
      const place = /^(?:0|[1-9]\d{0,14})$/.test(index) ? Number(index) : null;
      const leaf = place === null ? null : await db.withTenant(request.actor, (tx) => readLeaf(tx, request.actor.orgId, place));
      if (!leaf) throw new AppError('not_found', `The log of your organization has no entry "${index.slice(0, 100)}".`);
      return reply.send({
        index: leaf.index,
        leaf_hash: toHex(leaf.leaf_hash),
        entry: leaf.entry,
        package_id: leaf.package_id,
        published: leaf.published_at !== null,
        published_at: leaf.published_at?.toISOString() ?? null,
        appended_at: leaf.appended_at.toISOString(),
      });
    },
  );

  app.get(
    '/riskops-evidence/log/proof/inclusion',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'proveLogInclusion',
        summary: 'Prove that an entry is in the log',
        description: 'The inclusion proof of RFC 9162 section 2.1.3 for an entry in the tree of a size.',
        tags: ['Evidence'],
        querystring: InclusionQuery,
        response: { 200: InclusionProof, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { index } = request.query;
      const proof = await db.withTenant(request.actor, async (tx) => {
        const size = await sizeAskedFor(tx, orgId, request.query.tree_size, index + 1);
        if (index >= size) throw contradiction('/index', `must be smaller than tree_size, ${size}`);
        return { size, ...(await proveInclusion(tx, orgId, index, size)) };
      });
      const { size, leafHash, root, hashes } = proof;
      return reply.send({ index, tree_size: size, leaf_hash: toHex(leafHash), root_hash: toHex(root), hashes: hashes.map(toHex) });
    },
  );

  app.get(
    '/riskops-evidence/log/proof/consistency',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'proveLogConsistency',
        summary: 'Prove that the log only grew',
        description: 'The consistency proof of RFC 9162 section 2.1.4 between two sizes of the log.',
        tags: ['Evidence'],
        querystring: ConsistencyQuery,
        response: { 200: ConsistencyProof, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { from } = request.query;
      const proof = await db.withTenant(request.actor, async (tx) => {
        const to = await sizeAskedFor(tx, orgId, request.query.to, from);
        if (from > to) throw contradiction('/from', `must not be larger than to, ${to}`);
        return { to, ...(await proveConsistency(tx, orgId, from, to)) };
      });
      const { to, oldRoot, root, hashes } = proof;
      return reply.send({ from, to, from_root_hash: toHex(oldRoot), to_root_hash: toHex(root), hashes: hashes.map(toHex) });
    },
  );
}

/** That of the last checkpoint unless a size is named; the log must have reached it and what else is asked for. */
async function sizeAskedFor(tx: TenantTx, orgId: string, named: number | undefined, atLeast: number): Promise<number> {
  const log = await readLog(tx, orgId);
  const present = log?.size ?? 0;
  if (Math.max(named ?? 0, atLeast) > present) throw new AppError('not_found', `The log of your organization has only ${present} entries.`);
  return named ?? (await latestCheckpoint(tx, orgId))?.size ?? present;
}

function contradiction(path: string, detail: string): AppError {
  const mistake: FieldError = { in: 'query', path, code: 'out_of_range', detail };
  return new AppError('validation_failed', `The request has 1 mistake: ${path}: ${detail}.`, { errors: [mistake] });
}
