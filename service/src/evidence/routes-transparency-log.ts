import { toHex } from '@rrs/evidence-format';
import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { getRoute } from '../http/resource.ts';
import { media, problems } from '../http/schemas.ts';
import { AppError, type FieldError } from '../shared/errors.ts';
import type { EvidenceDeps } from './deps.ts';
import { type LogState, latestCheckpoint, proveConsistency, proveInclusion, readLeaf, readTransparencyLog } from './log/transparency-log.ts';
import {
  CheckpointText,
  ConsistencyProof,
  ConsistencyQuery,
  EpochQuery,
  InclusionProof,
  InclusionQuery,
  LogCheckpoint,
  LogEntry,
  LogEntryParams,
} from './schemas.ts';

export function transparencyLogRoutes(app: App, { db }: EvidenceDeps): void {
  app.get(
    '/riskops-evidence/log/checkpoint',
    {
      config: { access: 'evidence:read', produces: ['text/plain'] },
      schema: {
        operationId: 'getLogCheckpoint',
        summary: 'Get the latest checkpoint',
        description:
          "Returns the signed size and root hash of your organization's transparency log. Keep the checkpoint: with it, the verifier can prove that the log of a later package extends the log you saw. With `Accept: text/plain`, the response is the signed note alone, as a file for the verifier.",
        tags: ['Evidence'],
        querystring: EpochQuery,
        response: {
          200: media<Static<typeof LogCheckpoint> | string>('OK', { 'application/json': { schema: LogCheckpoint }, 'text/plain': { schema: CheckpointText } }),
          ...problems('not_found'),
        },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { log, checkpoint } = await db.withTenant(request.actor, async (tx) => {
        const log = await readTransparencyLog(tx, orgId, request.query.epoch);
        return { log, checkpoint: log && (await latestCheckpoint(tx, log)) };
      });
      if (!log || !checkpoint)
        throw new AppError('not_found', "Your organization's transparency log has no checkpoint yet. The first evidence package creates it.");
      if (/^\s*text\/plain/i.test(request.headers.accept ?? '')) return reply.type('text/plain; charset=utf-8').send(checkpoint.note);
      const { size, root, note, rekor_note, created_at } = checkpoint;
      const body = { origin: log.origin, epoch: log.epoch, tree_size: size, root_hash: toHex(root), note, rekor_note, created_at: created_at.toISOString() };
      return reply.type('application/json; charset=utf-8').send(body);
    },
  );

  getRoute(app, { db }, '/riskops-evidence/log/entries/:index', {
    access: 'evidence:read',
    operationId: 'getLogEntry',
    summary: 'Get a log entry',
    description: "Returns one entry of your organization's transparency log, the package that it belongs to, and whether that package was published.",
    tag: 'Evidence',
    params: LogEntryParams,
    query: EpochQuery,
    body: LogEntry,
    read: async (tx, { actor, params, query }) => {
      const index = /^(?:0|[1-9]\d{0,14})$/.test(params.index) ? Number(params.index) : null;
      const log = await readTransparencyLog(tx, actor.orgId, query.epoch);
      const leaf = index === null || log === null ? null : await readLeaf(tx, log, index);
      if (!leaf) throw new AppError('not_found', `Your organization's transparency log has no entry "${params.index.slice(0, 100)}".`);
      return {
        index: leaf.index,
        leaf_hash: toHex(leaf.leaf_hash),
        entry: leaf.entry,
        package_id: leaf.package_id,
        statement: leaf.envelope,
        published: leaf.published_at !== null,
        published_at: leaf.published_at?.toISOString() ?? null,
        appended_at: leaf.appended_at.toISOString(),
      };
    },
  });

  app.get(
    '/riskops-evidence/log/proof/inclusion',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'proveLogInclusion',
        summary: 'Prove that an entry is in the log',
        description: 'Returns the inclusion proof (RFC 9162, section 2.1.3) of an entry in the tree of a given size.',
        tags: ['Evidence'],
        querystring: InclusionQuery,
        response: { 200: InclusionProof, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { index, tree_size, epoch } = request.query;
      const proof = await db.withTenant(request.actor, async (tx) => {
        const { log, size } = await treeSize(tx, { orgId, epoch }, { requested: tree_size, atLeast: index + 1 });
        if (index >= size) throw outOfRange('/index', `must be smaller than tree_size (${size})`);
        return { size, ...(await proveInclusion(tx, log, index, size)) };
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
        description: 'Returns the consistency proof (RFC 9162, section 2.1.4) between two sizes of the log.',
        tags: ['Evidence'],
        querystring: ConsistencyQuery,
        response: { 200: ConsistencyProof, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { from, epoch } = request.query;
      const proof = await db.withTenant(request.actor, async (tx) => {
        const { log, size: to } = await treeSize(tx, { orgId, epoch }, { requested: request.query.to, atLeast: from });
        if (from > to) throw outOfRange('/from', `must not be larger than to (${to})`);
        return { origin: log.origin, to, ...(await proveConsistency(tx, log, from, to)) };
      });
      const { origin, to, oldRoot, root, hashes } = proof;
      return reply.send({ origin, from, to, from_root_hash: toHex(oldRoot), to_root_hash: toHex(root), hashes: hashes.map(toHex) });
    },
  );
}

interface WantedLog {
  orgId: string;
  epoch: number | undefined;
}

/** The requested size, or the size of the latest checkpoint. The log must have at least that many entries, and at least `atLeast`. */
async function treeSize(
  tx: TenantTx,
  { orgId, epoch }: WantedLog,
  { requested, atLeast }: { requested: number | undefined; atLeast: number },
): Promise<{ log: LogState; size: number }> {
  const log = await readTransparencyLog(tx, orgId, epoch);
  if (!log) throw new AppError('not_found', `Your organization has no transparency log${epoch === undefined ? ' yet' : ` with the epoch ${epoch}`}.`);
  if (Math.max(requested ?? 0, atLeast) > log.size) throw new AppError('not_found', `Your organization's transparency log has only ${log.size} entries.`);
  return { log, size: requested ?? (await latestCheckpoint(tx, log))?.size ?? log.size };
}

function outOfRange(path: string, detail: string): AppError {
  const error: FieldError = { in: 'query', path, code: 'out_of_range', detail };
  return new AppError('validation_failed', `The request is invalid: ${path} ${detail}.`, { errors: [error] });
}
