import type { Bytes } from './api.ts';
import { errorFrom, RrsConnectionError, RrsError } from './errors.ts';
import { operations } from './operations.ts';
import { randomId } from './random-id.ts';
import type { AnyInput, OperationName } from './types.ts';

export interface ClientOptions {
  /** Address of the service, such as `https://rrs.example.com`. */
  url: string;
  /** An API key. Without key and token, a browser sends its session cookie. */
  apiKey?: string;
  /** An OIDC access token, or a function that returns a current one. */
  token?: string | (() => string | Promise<string>);
  /** How often a request is sent at most. Default: 4. */
  attempts?: number;
  /** Is told before each repetition. */
  onRetry?: (retry: { attempt: number; seconds: number; reason: Error }) => void;
  /** Default: the `fetch` of the platform. */
  fetch?: typeof fetch;
}

const MOST_SECONDS_BETWEEN_ATTEMPTS = 60;
const SAFE_METHODS = ['GET', 'PUT', 'DELETE'];

/** Sends a request, again if that is safe and can help, and returns the successful response. */
export async function send(options: ClientOptions, name: OperationName, input: AnyInput): Promise<Response> {
  const [method, , , acceptsKey] = operations[name];
  const url = urlOf(options.url, name, input);
  const repeatable = SAFE_METHODS.includes(method) || acceptsKey;
  const headers = new Headers(entriesOf(input.header));
  if (acceptsKey) headers.set('idempotency-key', input.idempotencyKey ?? randomId());
  const body = encode(input.body, headers, method);
  // A stream can be read only once.
  const attempts = body instanceof ReadableStream ? 1 : (options.attempts ?? 4);
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(options, url, { method, headers, ...(body === undefined ? {} : { body }), ...(input.signal ? { signal: input.signal } : {}) });
    } catch (error) {
      const seconds = error instanceof Error ? secondsToWait(error, attempt, repeatable) : null;
      if (seconds === null || attempt >= attempts || input.signal?.aborted) throw error;
      options.onRetry?.({ attempt, seconds, reason: error as Error });
      await pause(seconds, input.signal);
    }
  }
}

/** Sends a request once, with the credentials. */
export async function once({ apiKey, token, fetch: send = fetch }: ClientOptions, url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const credential = apiKey ?? (typeof token === 'function' ? await token() : token);
  if (credential !== undefined) headers.set('authorization', `Bearer ${credential}`);
  let response: Response;
  try {
    // Node requires `duplex` for streams. Its types do not know it.
    response = await send(url, { ...init, headers, ...(init.body instanceof ReadableStream ? { duplex: 'half' } : {}) });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new RrsConnectionError(url, error);
  }
  if (!response.ok) throw await errorFrom(response);
  return response;
}

/**
 * A request that exceeded a limit was not processed, so any request can be sent again. After other failures nobody knows, so only those can be sent
 * again that have the same effect when they are processed twice.
 */
function secondsToWait(error: Error, attempt: number, repeatable: boolean): number | null {
  const refused = error instanceof RrsError ? error : null;
  if (refused === null && !(error instanceof RrsConnectionError)) return null;
  const canHelp = refused === null || refused.status === 429 || refused.status === 502 || refused.status === 503 || refused.status === 504;
  if (!canHelp || !(repeatable || refused?.status === 429)) return null;
  const seconds = refused?.retryAfter ?? 0.25 * 2 ** attempt * (0.5 + Math.random());
  return seconds > MOST_SECONDS_BETWEEN_ATTEMPTS ? null : seconds;
}

/** Waits, unless it is aborted. */
export async function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

export function urlOf(base: string, name: OperationName, { path = {}, query }: AnyInput): string {
  const filled = operations[name][1].replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(String(path[part])));
  const search = new URLSearchParams(entriesOf(query)).toString();
  return `${base.replace(/\/$/, '')}${filled}${search && `?${search}`}`;
}

/** A list becomes several entries, an object becomes JSON. */
function entriesOf(values: Readonly<Record<string, unknown>> = {}): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((one): [string, string][] => (one === undefined || one === null ? [] : [[name, textOf(one)]])),
  );
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

type RawBody = Bytes | FormData | string;

function encode(body: unknown, headers: Headers, method: string): RawBody | undefined {
  if (body === undefined) return undefined;
  if (isRaw(body)) {
    if (!(body instanceof FormData)) headers.set('content-type', 'application/octet-stream');
    return body;
  }
  headers.set('content-type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
  return JSON.stringify(body);
}

function isRaw(body: unknown): body is RawBody {
  return body instanceof FormData || body instanceof Blob || body instanceof ReadableStream || body instanceof ArrayBuffer || ArrayBuffer.isView(body);
}
