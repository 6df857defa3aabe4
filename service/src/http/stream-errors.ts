import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { loggable } from './errors.ts';

/**
 * Logs responses whose stream fails after the headers were sent. The client sees only a truncated body with status 200, so this line
 * is the only record of the failure. If the client disconnected, the response is already destroyed, and that is not an error.
 */
export class StreamErrorLog extends LogController {
  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if (reply.raw.destroyed) return;
    request.log.error({ request_id: request.id, route: request.routeOptions.url ?? null, err: loggable(error) }, 'response stream failed');
  }
}
