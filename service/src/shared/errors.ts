/** All error codes of the API. `http/problems.ts` maps each to its HTTP status and explanation. */
export type ErrorCode =
  | 'malformed_request'
  | 'validation_failed'
  | 'invalid_cursor'
  | 'unauthenticated'
  | 'invalid_credentials'
  | 'cross_site_request'
  | 'password_change_required'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'invalid_transition'
  | 'last_owner'
  | 'stale_version'
  | 'gone'
  | 'payload_too_large'
  | 'range_not_satisfiable'
  | 'headers_too_large'
  | 'request_timeout'
  | 'unsupported_media_type'
  | 'unprocessable'
  | 'import_failed'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'internal_error'
  | 'busy'
  | 'unavailable';

export interface FieldError {
  in: 'body' | 'query' | 'path' | 'header';
  path: string;
  code: string;
  detail: string;
}

export interface ErrorDetails {
  cause?: unknown;
  errors?: readonly FieldError[];
  headers?: Readonly<Record<string, string>>;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.errors = details.errors;
    this.headers = details.headers ?? {};
  }
}

export function notFound(kind: string, id: string): AppError {
  return new AppError('not_found', `No ${kind} "${id}" exists in your organization. Check the ID.`);
}

export function invalidField(field: FieldError): AppError {
  // A detail that begins with a verb is about the field. Alone, it needs its subject.
  const isAboutField = /^(?:is|must|cannot) /.test(field.detail);
  const message = isAboutField ? `\`${field.path.slice(1).replaceAll('/', '.')}\` ${field.detail}.` : field.detail;
  return new AppError('validation_failed', message, { errors: [field] });
}

/** An error that the operator can correct (setting, port, folder). The command line prints its message without a stack trace. */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OperatorError';
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function errorCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
