import type { Problem, ProblemCode } from './api.ts';

/** A request that the service refused. `code` and `errors` are for programs, `message` is for people. */
export class RrsError extends Error {
  override readonly name = 'RrsError';
  readonly status: number;
  /** `null` if something between you and the service responded, such as a proxy. */
  readonly code: ProblemCode | null;
  readonly errors: NonNullable<Problem['errors']>;
  /** Names the request in the log of the service. */
  readonly requestId: string | null;
  /** Address of what the refusal is about, such as the import that failed. */
  readonly location: string | null;
  /** Seconds to wait before the next attempt, if the service said so. */
  readonly retryAfter: number | null;

  constructor(response: Response, problem: Partial<Problem> | null) {
    super(
      problem?.detail ??
        `The server at ${new URL(response.url).origin} responded with status ${response.status}, but not in the format of the API. Check the URL.`,
    );
    this.status = response.status;
    this.code = problem?.code ?? null;
    this.errors = problem?.errors ?? [];
    this.requestId = problem?.request_id ?? response.headers.get('x-request-id');
    this.location = response.headers.get('location');
    this.retryAfter = secondsOf(response.headers.get('retry-after'));
  }
}

/** No response arrived: the service is down, the URL is wrong, or the connection broke. */
export class RrsConnectionError extends Error {
  override readonly name = 'RrsConnectionError';

  constructor(url: string, cause: unknown) {
    super(`No response from ${new URL(url).origin}: ${reasonOf(cause)}. Check the URL and that the service is running.`, { cause });
  }
}

/** `fetch` reports "fetch failed" and keeps the reason in its cause, or in the first of several. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message : error.message;
}

function secondsOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  return Number.isFinite(seconds) ? seconds : Math.max(0, (Date.parse(header) - Date.now()) / 1000);
}

export async function errorFrom(response: Response): Promise<RrsError> {
  const isProblem = response.headers.get('content-type')?.includes('json') ?? false;
  const problem = isProblem ? ((await response.json().catch(() => null)) as Partial<Problem> | null) : null;
  if (!isProblem) await response.body?.cancel();
  return new RrsError(response, problem);
}
