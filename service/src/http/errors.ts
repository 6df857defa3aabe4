import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../db/unavailable.ts';
import { AppError, type ErrorCode, errorCodeOf } from '../shared/errors.ts';
import { PROBLEM_MEDIA_TYPE, problemOf } from './problems.ts';

const RETRY_AFTER_SECONDS = '5';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';

const frameworkErrors: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_ASYNC_CONSTRAINT: 'malformed_request',
};

export function installErrors(app: FastifyInstance, baseUrl: () => string): void {
  app.setErrorHandler((error: FastifyError, request, reply) => replyWithError(error, request, reply, baseUrl()));
  // Before the body is parsed: a wrong address is reported as such, whatever the body is.
  app.addHook('onRequest', (request, _reply, done) => done(request.is404 ? noRoute(app, request) : undefined));
  app.setNotFoundHandler((request, reply) => sendProblem(noRoute(app, request), request, reply, baseUrl()));
}

export function replyWithError(error: FastifyError, request: FastifyRequest, reply: FastifyReply, baseUrl: string): FastifyReply {
  return sendProblem(isInterrupted(request) ? interrupted(error) : toAppError(error, request.routeOptions.bodyLimit), request, reply, baseUrl);
}

/** Whether the client disconnected before its request was complete. What the request's own stream then reports looks like a lost database connection. */
const isInterrupted = ({ raw }: FastifyRequest): boolean => raw.destroyed && !raw.complete;

function interrupted(cause: unknown): AppError {
  return cause instanceof AppError ? cause : new AppError('malformed_request', 'The connection was closed before the request was complete.', { cause });
}

function toAppError(error: FastifyError, bodyLimit: number): AppError {
  if (error instanceof AppError) return error;
  // Fastify's own errors have a status code. A client that disconnects causes the same ECONNRESET as a database that does.
  if (error.statusCode === undefined && isUnavailable(error)) {
    // If the connection was lost during COMMIT, the outcome is unknown.
    const detail = 'The database is not available. The change may not have been applied; retry with the same Idempotency-Key.';
    return new AppError('unavailable', detail, { cause: error, headers: { 'retry-after': RETRY_AFTER_SECONDS } });
  }
  if (error.statusCode === undefined && error.code === LOCK_NOT_AVAILABLE)
    return busy('Another change of your organization, such as an import, is being applied. Nothing was changed. Retry in a few seconds.', error);
  if (error.statusCode === undefined && error.code === QUERY_CANCELED)
    return busy(
      'The request took too long and was stopped. Nothing was changed. Ask for less at once: narrow the filter, or set `total=none` for a list.',
      error,
    );
  const known = frameworkErrors[error.code];
  if (known === 'payload_too_large') return new AppError(known, `The body exceeds the limit of ${bodyLimit} bytes.`);
  if (known === 'unsupported_media_type') return new AppError(known, 'Send the body as application/json (or application/merge-patch+json for PATCH).');
  if (known !== undefined || error.statusCode === 400) return new AppError(known ?? 'malformed_request', `The request cannot be read: ${error.message}.`);
  return new AppError('internal_error', 'Internal error. The change may not have been applied; retry with the same Idempotency-Key.', { cause: error });
}

function busy(detail: string, cause: unknown): AppError {
  return new AppError('busy', detail, { cause, headers: { 'retry-after': RETRY_AFTER_SECONDS } });
}

function noRoute(app: FastifyInstance, request: FastifyRequest): AppError {
  const path = request.url.split('?')[0] ?? '';
  const methods = app.methodsAt(path);
  if (methods.length === 0) return new AppError('not_found', `The path ${path} does not exist. See /docs for all operations.`);
  return new AppError('method_not_allowed', `${path} does not support ${request.method}. Supported methods: ${methods.join(', ')}.`, {
    headers: { allow: methods.join(', ') },
  });
}

function sendProblem(error: AppError, request: FastifyRequest, reply: FastifyReply, baseUrl: string): FastifyReply {
  const problem = problemOf(error, { baseUrl, instance: request.url.split('?')[0] ?? '', requestId: request.id });
  if (error.code === 'busy') request.log.warn({ err: loggable(error.cause) }, error.message);
  else if (problem.status >= 500) request.log.error({ err: loggable(error.cause ?? error) }, error.message);
  return reply.code(problem.status).headers(error.headers).type(PROBLEM_MEDIA_TYPE).serializer(JSON.stringify).send(problem);
}

/** Threat: the `detail` of a database error quotes the row with any secrets in it, so only these fields are logged. */
export function loggable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return { type: error.name, message: error.message, code: errorCodeOf(error), stack: error.stack };
}
