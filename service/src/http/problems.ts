import type { AppError, ErrorCode } from '../shared/errors.ts';

export interface ProblemKind {
  status: number;
  title: string;
  /** Shown on the page that the problem's `type` links to. */
  help: string;
}

/** Every error code with its status, title and explanation. A new code does not compile without an entry here. */
export const problemKinds: Readonly<Record<ErrorCode, ProblemKind>> = {
  malformed_request: {
    status: 400,
    title: 'Malformed request',
    help: 'The body is not valid JSON, or the request line or a header is malformed. `detail` says what is wrong and where.',
  },
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    help: '`errors` lists every error with its location (`in`, `path`), a stable `code`, and what is allowed. Correct all of them and send the request again. Unknown fields and parameters are errors.',
  },
  invalid_cursor: {
    status: 400,
    title: 'Invalid cursor',
    help: 'A cursor is valid only for the list, filters and sort order that returned it, and must be sent unchanged. Start again without `cursor`.',
  },
  unauthenticated: {
    status: 401,
    title: 'Authentication required',
    help: 'Send `Authorization: Bearer <token>` with an API key or an OIDC access token. If you sent a token, it is unknown, expired or revoked.',
  },
  invalid_credentials: {
    status: 401,
    title: 'Wrong e-mail or password',
    help: 'No member has this e-mail and password. After several failed attempts the account is locked for a while. Each further failure makes the lock longer.',
  },
  cross_site_request: {
    status: 403,
    title: 'Cross-site request refused',
    help: 'A browser session can change data only from pages of this service. Programs must use an API key instead of the session cookie.',
  },
  password_change_required: {
    status: 403,
    title: 'Password change required',
    help: 'Somebody else chose your password and could act in your name. You can only read until you change it with `PUT /me/password` and sign in again.',
  },
  forbidden: {
    status: 403,
    title: 'Permission denied',
    help: 'The credential is valid, but its role lacks the permission named in `detail`. Ask an administrator of your organization, or use another key.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    help: 'The resource does not exist, or it belongs to another organization. Check the ID and the path.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    help: 'The path exists but does not support this method. The `Allow` header lists the supported methods.',
  },
  not_acceptable: {
    status: 406,
    title: 'Not acceptable',
    help: 'The `Accept` header excludes every media type that this operation produces. Omit the header or include `application/json`.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timed out',
    help: 'The request did not arrive completely within the time limit. Send it again.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    help: 'The request conflicts with the current state of the resource. `detail` says why. Read the resource again before you retry.',
  },
  invalid_transition: {
    status: 409,
    title: 'Invalid status change',
    help: '`detail` names the current status and the statuses that can follow it. Some status changes are made only by scans.',
  },
  last_owner: {
    status: 409,
    title: 'The organization needs an owner',
    help: 'The last member or API key with the role owner cannot be removed, revoked or demoted. Create another owner first.',
  },
  gone: {
    status: 410,
    title: 'No longer available',
    help: 'The resource existed and cannot be used any more. `detail` says why. Sending the request again does not help.',
  },
  stale_version: {
    status: 412,
    title: 'The resource has changed',
    help: 'The version in `If-Match` is not the current version. Read the resource again, apply your change to it, and send the new `ETag`.',
  },
  payload_too_large: {
    status: 413,
    title: 'Request body too large',
    help: '`detail` names the limit. An operator can change limits in the settings (`rrs-server config` lists them).',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    help: 'Set `Content-Type` to a media type that the operation documents, usually `application/json`.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'Range not satisfiable',
    help: 'The `Range` header asks for bytes past the end of the content. `Content-Range` contains its size. Request a valid range, or omit `Range` to get everything.',
  },
  unprocessable: {
    status: 422,
    title: 'Cannot be done',
    help: 'The request is well-formed, but what it asks for is not possible with these objects. `detail` says why.',
  },
  import_failed: {
    status: 422,
    title: 'Import failed',
    help: 'You waited for the import with `Prefer: wait`, and it failed. `detail` says why, and `Location` is the import. Correct the file or its parameters, and send it again with a new Idempotency-Key.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency key reused',
    help: 'An `Idempotency-Key` identifies one request: the same operation with the same body. Use a new key for a new request.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    help: 'Wait for the number of seconds in `Retry-After`. The `RateLimit` header contains the number of requests left.',
  },
  headers_too_large: {
    status: 431,
    title: 'Request headers too large',
    help: 'The request line and headers together exceed 16 KiB. Send fewer or shorter headers, and a shorter address, for example with fewer values in filters.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    help: 'The change may not have been applied. Retry with the same `Idempotency-Key`, or read the resource first. If the error persists, report it with the `request_id`: the log of the service contains the details under that ID.',
  },
  busy: {
    status: 503,
    title: 'Busy',
    help: 'Another change of your organization, such as a large import, is being applied, or the request took longer than allowed. Nothing was changed. Wait for the number of seconds in `Retry-After`, then retry.',
  },
  unavailable: {
    status: 503,
    title: 'Service unavailable',
    help: 'A dependency of the service (database, object store, identity provider) is not available. The change may not have been applied. Wait for the number of seconds in `Retry-After`, then retry with the same `Idempotency-Key`.',
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
