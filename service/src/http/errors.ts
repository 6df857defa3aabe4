import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../db/unavailable.ts';
import { AppError, type ErrorCode, errorCodeOf } from '../shared/errors.ts';
import { PROBLEM_MEDIA_TYPE, problemOf } from './problems.ts';

const RETRY_AFTER_SECONDS = '5';

const frameworkErrors: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_ASYNC_CONSTRAINT: 'malformed_request',
};

export function installErrors(app: FastifyInstance, baseUrl: () => string): void {
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply, baseUrl()));
  // Before the body is looked at: what is wrong is the address, whatever was sent to it.
  app.addHook('onRequest', (request, _reply, done) => done(request.is404 ? missing(app, request) : undefined));
  app.setNotFoundHandler((request, reply) => sendProblem(missing(app, request), request, reply, baseUrl()));
}

export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply, baseUrl: string): FastifyReply {
  return sendProblem(toAppError(error, request.routeOptions.bodyLimit), request, reply, baseUrl);
}

function toAppError(error: FastifyError, bodyLimit: number): AppError {
  if (error instanceof AppError) return error;
  // With a status it is Fastify's: a caller who hangs up gives the same ECONNRESET as a database that does.
  if (error.statusCode === undefined && isUnavailable(error)) {
    return new AppError('unavailable', 'The database does not answer right now. Nothing was changed; try again shortly.', {
      cause: error,
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    });
  }
  const known = frameworkErrors[error.code];
  if (known === 'payload_too_large') return new AppError(known, `The body is larger than the limit of ${bodyLimit} bytes.`);
  if (known === 'unsupported_media_type') return new AppError(known, 'Send the body as application/json (or application/merge-patch+json for PATCH).');
  if (known !== undefined || error.statusCode === 400) return new AppError(known ?? 'malformed_request', `The request could not be read: ${error.message}.`);
  return new AppError('internal_error', 'The service made a mistake. It is logged under the request_id; report it with that id.', { cause: error });
}

function missing(app: FastifyInstance, request: FastifyRequest): AppError {
  const path = request.url.split('?')[0] ?? '';
  const methods = app.methodsAt(path);
  if (methods.length === 0) return new AppError('not_found', `There is nothing at ${path}. /docs lists what there is.`);
  return new AppError('method_not_allowed', `${path} does not take ${request.method}; it takes ${methods.join(', ')}.`, {
    headers: { allow: methods.join(', ') },
  });
}

function sendProblem(error: AppError, request: FastifyRequest, reply: FastifyReply, baseUrl: string): FastifyReply {
  const problem = problemOf(error, { baseUrl, instance: request.url.split('?')[0] ?? '', requestId: request.id });
  if (problem.status >= 500) request.log.error({ err: loggable(error.cause ?? error) }, error.message);
  return reply.code(problem.status).headers(error.headers).type(PROBLEM_MEDIA_TYPE).serializer(JSON.stringify).send(problem);
}

/** Not everything that hangs on it: the `detail` of a database error quotes the row, with all that is secret in it. */
function loggable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return { type: error.name, message: error.message, code: errorCodeOf(error), stack: error.stack };
}
