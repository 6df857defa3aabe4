import type { AppError, ErrorCode } from '../shared/errors.ts';

export interface ProblemKind {
  status: number;
  title: string;
  /** Shown on the page that the `type` of the problem points to. */
  help: string;
}

/** Every error code with its status and explanation; a new code does not compile without a line here. */
export const problemKinds: Readonly<Record<ErrorCode, ProblemKind>> = {
  malformed_request: {
    status: 400,
    title: 'The request could not be read',
    help: 'The body is not valid JSON, or the request line or a header is broken. `detail` says what the server met and where.',
  },
  validation_failed: {
    status: 400,
    title: 'The request has mistakes',
    help: 'Every mistake found is listed in `errors` with its place (`in`, `path`), a stable `code`, and what is allowed. Correct all of them and send the request again. Unknown fields and parameters are mistakes too.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor does not fit this list',
    help: 'A cursor is valid only for the list, filters and sort order it was given for, and must be sent unchanged. Start again without `cursor`.',
  },
  unauthenticated: {
    status: 401,
    title: 'Sign in first',
    help: 'Send `Authorization: Bearer <token>` with an API key or an OIDC access token. The token that was sent, if any, is unknown, expired or revoked.',
  },
  invalid_credentials: {
    status: 401,
    title: 'E-mail or password is wrong',
    help: 'No member signs in with this e-mail and password. After several failures an account waits longer and longer before the next attempt counts.',
  },
  cross_site_request: {
    status: 403,
    title: 'The request came from another site',
    help: 'A browser session may change things only from pages of this service. Programs should use an API key instead of the session cookie.',
  },
  forbidden: {
    status: 403,
    title: 'Your role does not allow this',
    help: 'The credential is valid, but its role lacks the permission named in `detail`. Ask an administrator of your organization, or use another key.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'There is nothing at this address, or it belongs to another organization. Check the id and the path.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    help: 'The address exists, but not for this method. The `Allow` header lists the methods it has.',
  },
  not_acceptable: {
    status: 406,
    title: 'The answer cannot be given in that form',
    help: 'The `Accept` header excludes every media type this operation can produce. Leave it out or include `application/json`.',
  },
  request_timeout: {
    status: 408,
    title: 'The request took too long to arrive',
    help: 'The request was not complete within the time allowed. Send it again over a better connection.',
  },
  conflict: {
    status: 409,
    title: 'The request conflicts with the present state',
    help: '`detail` says what stands in the way. Read the object again, then decide.',
  },
  invalid_transition: {
    status: 409,
    title: 'A finding cannot go from this status to that one',
    help: '`detail` names the present status and the ones that can follow. Some changes are made by scans alone.',
  },
  last_owner: {
    status: 409,
    title: 'An organization keeps at least one owner',
    help: 'The last member or key with the role owner cannot be removed, revoked or demoted. Make another owner first.',
  },
  stale_version: {
    status: 412,
    title: 'Somebody changed it in the meantime',
    help: 'The version in `If-Match` is not the current one. Read the object again, apply your change to what it is now, and send the new `ETag`.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large',
    help: '`detail` names the limit. Limits are settings of the service (`rrs config` lists them).',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The body is of a type this operation does not take',
    help: 'Set `Content-Type` to one of the types the operation documents, usually `application/json`.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'The range lies behind the end',
    help: 'The `Range` header asks for bytes that the content does not have; `Content-Range` tells its size. Ask for less, or without `Range` for all of it.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The idempotency key was used for another request',
    help: 'An `Idempotency-Key` stands for one request: same operation, same body. Use a new key for a new request.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'Wait for the number of seconds in `Retry-After`. The `RateLimit` header tells how many requests are left.',
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    help: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    title: 'A fault in the service',
    help: 'This is a bug. Nothing was changed. Report it with the `request_id`: the log of the service has the rest under that id.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    help: 'A part it depends on (database, object store, identity provider) does not answer. Try again after the seconds in `Retry-After`.',
  },
};

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: ErrorCode;
  request_id: string;
  errors?: readonly { in: string; path: string; code: string; detail: string }[];
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

export function problemOf(error: AppError, context: { baseUrl: string; instance: string; requestId: string }): Problem {
  const { status, title } = problemKinds[error.code];
  return {
    type: `${context.baseUrl}/problems/${error.code}`,
    title,
    status,
    detail: error.message,
    instance: context.instance,
    code: error.code,
    request_id: context.requestId,
    ...(error.errors ? { errors: error.errors } : {}),
  };
}
