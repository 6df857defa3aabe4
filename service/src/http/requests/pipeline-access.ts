import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';

/** Both change only what a report on the asset could change as well. The routes check which asset it is. */
const CHANGES = ['POST /api/v1/imports', 'POST /api/v1/ended-tracks'];
const LISTS = ['GET /api/v1/findings', 'GET /api/v1/findings/stats', 'GET /api/v1/findings/export'];
/** What a pipeline may call that is about one asset. Its own imports are checked where they are read. */
const OF_ONE_ASSET = [...CHANGES, 'GET /api/v1/imports/:id', 'GET /api/v1/imports/:id/changes', ...LISTS];

/**
 * Threat: a stolen token, or a changed workflow. A pipeline imports and reads; it never decides about findings, approves or manages access, whatever its
 * role. If the trust names an asset, nothing else is visible to it.
 */
export function assertWithinTrust(request: FastifyRequest, { pipeline }: Actor): void {
  if (pipeline === undefined) return;
  const route = `${request.method === 'HEAD' ? 'GET' : request.method} ${request.routeOptions.url}`;
  if (!route.startsWith('GET ') && !CHANGES.includes(route))
    throw new AppError('forbidden', 'A trusted pipeline can import reports, end pull requests and read. Use another credential for other changes.');
  const asset = pipeline.trust.asset_id;
  if (asset === null) return;
  if (!OF_ONE_ASSET.includes(route))
    throw new AppError('forbidden', 'This pipeline is trusted for one asset. It can import reports on it and read their findings.');
  const named = (request.query as { asset_id?: unknown } | undefined)?.asset_id;
  if (LISTS.includes(route) && named !== asset) throw new AppError('forbidden', `This pipeline is trusted for one asset. Add \`asset_id=${asset}\`.`);
}
