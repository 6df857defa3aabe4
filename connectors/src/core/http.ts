import type { Static, TSchema } from 'typebox';
import { type Connector, ConnectorError, type Http, type HttpRequest, type HttpResponse, type Settings } from './contract.ts';
import { backOffMs, interrupted, isPermanent, messageOf, redirectError, responseError, retryAfterMs, unreachable } from './faults.ts';
import { createRedactor, joinHeaders, parseJson, type RequestRecord, readText, recordBody } from './responses.ts';

/** Sends a request over the network. */
export interface Sender {
  open(request: SentRequest): Promise<{ status: number; headers: Readonly<Record<string, string | string[] | undefined>>; body: AsyncIterable<Uint8Array> }>;
}

interface SentRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
  timeoutMs: number;
  maxBytes: number;
  signal: AbortSignal;
}

export interface HttpLimits {
  /** Requests per run, redirects and retries included. */
  requests: number;
  /** Time limit of the run. */
  totalMs: number;
  /** Time limit of one request. */
  requestMs: number;
  responseBytes: number;
  /** Limit for responses that are read as a stream. */
  streamBytes: number;
  /** Attempts per request, the first one included. */
  attempts: number;
  /** Longest wait between two attempts. If the vendor asks for more, the run fails. */
  maxWaitMs: number;
}

export const defaultLimits: HttpLimits = {
  requests: 20_000,
  totalMs: 2 * 3_600_000,
  requestMs: 60_000,
  responseBytes: 64 * 2 ** 20,
  streamBytes: 2 ** 30,
  attempts: 5,
  maxWaitMs: 15 * 60_000,
};

export interface HttpHost {
  sender: Sender;
  signal: AbortSignal;
  limits: HttpLimits;
  now(): number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  onRequest(record: RequestRecord): void;
}

/** Null for requests without authentication, such as the token request itself. */
type TokenSource = (() => Promise<string>) | null;

const MAX_REDIRECTS = 5;
const USER_AGENT = 'remediation-risk-service';

/** The origins that a connection may send authenticated requests to. */
export function originsOf(connector: Connector, settings: Settings): Set<string> {
  return new Set([connector.baseUrl(settings), ...(connector.origins?.(settings) ?? [])].map((url) => new URL(url).origin));
}

/** The HTTP client of every connector: allowed origins, retries, Retry-After, limits, redaction and a record of each request. */
export function createHttp(connector: Connector, settings: Settings, host: HttpHost): Http {
  const base = new URL(`${connector.baseUrl(settings).replace(/\/+$/, '')}/`);
  const origins = originsOf(connector, settings);
  const redact = createRedactor(settings);
  const startedAt = host.now();
  let requests = 0;
  let session: { token: string; until: number } | null = null;

  const currentToken = async (): Promise<string> => {
    if (!connector.login) return '';
    if (session && session.until > host.now()) return session.token;
    const { token, expiresInSeconds } = await connector.login({ ...settings, http: clientOf(null) });
    session = { token, until: host.now() + Math.max(expiresInSeconds - 60, 1) * 1000 };
    return token;
  };

  const urlOf = ({ path, query = {} }: HttpRequest, from: URL = base): URL => {
    // Paths are relative to the base URL, which may itself have a path.
    const url = /^https?:\/\//i.test(path) ? new URL(path) : new URL(path.replace(/^\/+/, ''), from);
    for (const [name, value] of Object.entries(query)) {
      if (value === null || value === undefined) continue;
      for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
    }
    if (!origins.has(url.origin) || url.username || url.password)
      throw new ConnectorError(
        'invalid_answer',
        `The vendor refers to ${url.origin}, which is not the configured origin ${base.origin}. No request was sent there.`,
      );
    return url;
  };

  /** Sends a request once and follows redirects within the allowed origins. */
  const attempt = async (request: HttpRequest, url: URL, tokenOf: TokenSource, maxBytes: number) => {
    const body = request.json !== undefined ? JSON.stringify(request.json) : request.form ? new URLSearchParams(request.form).toString() : undefined;
    let [target, method, sent] = [url, request.method ?? 'GET', body];
    for (let redirects = 0; ; redirects++) {
      if (requests >= host.limits.requests) throw new ConnectorError('incomplete', `The run was stopped after ${requests} requests, the limit for one run.`);
      if (host.now() - startedAt > host.limits.totalMs)
        throw new ConnectorError('incomplete', `The run was stopped after ${Math.round(host.limits.totalMs / 60_000)} minutes, the time limit for one run.`);
      host.signal.throwIfAborted();
      requests++;
      const authorization = tokenOf ? connector.authorize({ ...settings, token: await tokenOf() }, { method, url: target, body: sent }) : {};
      const headers = {
        'user-agent': USER_AGENT,
        accept: 'application/json',
        ...(sent === undefined ? {} : { 'content-type': request.json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded' }),
        ...request.headers,
        ...authorization,
      };
      const record: RequestRecord = {
        at: new Date(host.now()).toISOString(),
        method,
        url: redact(target.toString()),
        status: null,
        bytes: 0,
        sha256: null,
        error: null,
      };
      try {
        const response = await host.sender.open({ method, url: target, headers, body: sent, timeoutMs: host.limits.requestMs, maxBytes, signal: host.signal });
        record.status = response.status;
        const location = response.headers.location;
        const content = recordBody(response.body, record, host.onRequest);
        if (response.status < 300 || response.status > 399 || response.status === 304 || typeof location !== 'string') return { ...response, body: content };
        for await (const _ of content);
        const refused = redirectError(target, location, { origins, isLimitReached: redirects >= MAX_REDIRECTS, redact });
        if (refused) throw refused;
        target = new URL(location, target);
        if (response.status === 303 || (method === 'POST' && response.status < 303)) [method, sent] = ['GET', undefined];
      } catch (error) {
        if (record.status === null) host.onRequest({ ...record, error: redact(messageOf(error)) });
        throw error;
      }
    }
  };

  /** A stream cannot be retried once it is being read, so its reader gets the error. */
  async function* withReadableError(body: AsyncIterable<Uint8Array>, url: URL): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      if (host.signal.aborted) throw host.signal.reason;
      throw interrupted(url, redact(messageOf(error)));
    }
  }

  const clientOf = (tokenOf: TokenSource): Http => {
    /** Retries until the response is as expected, the error is permanent or the attempts are used up. */
    const send = async <T>(request: HttpRequest, maxBytes: number, read: (body: AsyncIterable<Uint8Array>) => Promise<T>): Promise<HttpResponse<T>> => {
      const url = urlOf(request);
      const repeatable = request.repeatable ?? ['GET', undefined].includes(request.method);
      let fault: ConnectorError | null = null;
      for (let n = 1, renewed = false; n <= host.limits.attempts; n++) {
        let wait = backOffMs(n);
        try {
          const response = await attempt(request, url, tokenOf, maxBytes);
          const headers = joinHeaders(response.headers);
          const rateLimitSeconds = connector.rateLimited?.(response.status, headers) ?? null;
          if (rateLimitSeconds === null && isExpected(response.status, request)) return { status: response.status, headers, body: await read(response.body) };
          const text = redact(await readText(response.body, 2_000));
          if (response.status === 401 && session && !renewed) {
            session = null;
            renewed = true;
            n--;
            continue;
          }
          fault = responseError(connector, response.status, text, { isRateLimit: rateLimitSeconds !== null || response.status === 429, isRetry: n > 1 });
          if (fault.kind !== 'rate_limited' && fault.kind !== 'unavailable') throw fault;
          wait = Math.max(wait, retryAfterMs(response.headers, host.now()), 1000 * (rateLimitSeconds ?? 0));
          // A rate-limited request was not executed, so it is always safe to retry.
          if (!repeatable && fault.kind !== 'rate_limited') throw fault;
        } catch (error) {
          if (host.signal.aborted) throw host.signal.reason;
          if (error === fault) throw error;
          if (error instanceof ConnectorError && error.kind !== 'invalid_answer') throw error;
          fault = error instanceof ConnectorError ? error : unreachable(url, redact(messageOf(error)));
          if (!repeatable || isPermanent(error)) throw fault;
        }
        if (n === host.limits.attempts) break;
        if (wait > host.limits.maxWaitMs)
          throw new ConnectorError(
            'rate_limited',
            `The vendor requires a wait of ${Math.ceil(wait / 60_000)} minutes, which is longer than a run may wait. The next run tries again.`,
          );
        await host.wait(wait, host.signal);
      }
      throw fault ?? new ConnectorError('unavailable', 'No response.');
    };

    const json = <T extends TSchema>(schema: T, request: HttpRequest): Promise<HttpResponse<Static<T>>> =>
      send(request, host.limits.responseBytes, async (body) => parseJson(schema, await readText(body), redact(urlOf(request).pathname)));
    return {
      json,
      getJson: async (path, schema, query) => (await json(schema, { path, ...(query ? { query } : {}) })).body,
      text: (request) =>
        send(request, host.limits.responseBytes, async (body) => {
          const text = await readText(body);
          if (request.isComplete?.(text) ?? true) return text;
          throw new ConnectorError(
            'invalid_answer',
            `The response to ${redact(urlOf(request).pathname)} does not match the vendor's documentation, or was truncated.`,
          );
        }),
      stream: (request) => send(request, host.limits.streamBytes, async (body) => withReadableError(body, urlOf(request))),
      pause: (n) => host.wait(Math.min(1_000 * 2 ** Math.min(n, 5), 30_000), host.signal).then(() => host.signal.throwIfAborted()),
    };
  };
  return clientOf(currentToken);
}

function isExpected(status: number, { accept = [] }: HttpRequest): boolean {
  return (status >= 200 && status < 300) || accept.includes(status);
}
