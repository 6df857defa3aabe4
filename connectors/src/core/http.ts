import type { Static, TSchema } from 'typebox';
import { ConnectorError } from './connector-error.ts';
import type { Connector, Http, HttpRequest, HttpResponse, Settings } from './contract.ts';
import { backOffMs, interrupted, isPermanent, messageOf, rateLimitMs, responseError, retryAfterMs, unreachable } from './faults.ts';
import type { HttpHost } from './http-host.ts';
import { type ClientState, createState, type SendOptions, sendOnce, urlOf } from './http-request.ts';
import { isWebPage, joinHeaders, parseJson, readText, secretsIn, webPageError } from './responses.ts';

/** The HTTP client of every connector: allowed origins, retries, Retry-After, limits, redaction and a record of each request. */
export function createHttp(connector: Connector, settings: Settings, host: HttpHost): Http {
  const state = createState(connector, settings, host);
  const currentToken = async (): Promise<string> => {
    if (state.session && state.session.until > host.now()) return state.session.token;
    const granted = await connector.login?.({ ...settings, http: clientOf(state, null) });
    if (!granted) return '';
    for (const secret of secretsIn(granted.token)) state.learn(secret);
    state.session = { token: granted.token, until: host.now() + Math.max(granted.expiresInSeconds - 60, 1) * 1000 };
    return granted.token;
  };
  return clientOf(state, currentToken);
}

function clientOf(state: ClientState, tokenOf: SendOptions['tokenOf']): Http {
  const { host, redact } = state;
  const pathOf = (request: HttpRequest): string => redact(urlOf(state, request).pathname);
  const buffered = { tokenOf, maxBytes: host.limits.responseBytes };
  const streamed = { tokenOf, maxBytes: host.limits.streamBytes };
  const json = <T extends TSchema>(schema: T, request: HttpRequest): Promise<HttpResponse<Static<T>>> =>
    sendWithRetries(state, request, buffered, async (body) => parseJson(schema, await readText(body), pathOf(request)));
  return {
    json,
    getJson: async (path, schema, query) => (await json(schema, { path, ...(query ? { query } : {}) })).body,
    text: (request) =>
      sendWithRetries(state, request, buffered, async (body) => {
        const text = await readText(body);
        if (request.isComplete?.(text) ?? true) return text;
        throw isWebPage(text)
          ? webPageError(pathOf(request))
          : new ConnectorError('invalid_answer', `The response to ${pathOf(request)} does not match the vendor's documentation, or was truncated.`);
      }),
    stream: (request) => sendWithRetries(state, request, streamed, async (body) => withReadableError(state, body, urlOf(state, request))),
    pause: (n) => host.wait(Math.min(1_000 * 2 ** Math.min(n, 5), 30_000), host.signal).then(() => host.signal.throwIfAborted()),
  };
}

/** Retries until the response is as expected, the error is permanent or the attempts are used up. */
async function sendWithRetries<T>(
  state: ClientState,
  request: HttpRequest,
  options: SendOptions,
  read: (body: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<HttpResponse<T>> {
  const { connector, host, redact } = state;
  const url = urlOf(state, request);
  const repeatable = request.repeatable ?? ['GET', undefined].includes(request.method);
  let fault: ConnectorError | null = null;
  for (let attempt = 1, renewed = false; attempt <= host.limits.attempts; attempt++) {
    let wait = backOffMs(attempt);
    try {
      const response = await sendOnce(state, request, options);
      const headers = joinHeaders(response.headers);
      const rateLimitSeconds = connector.rateLimited?.(response.status, headers) ?? null;
      if (rateLimitSeconds === null && isExpected(response.status, request)) return { status: response.status, headers, body: await read(response.body) };
      const text = redact(await readText(response.body, 2_000));
      if (response.status === 401 && state.session && !renewed) {
        state.session = null;
        renewed = true;
        attempt--;
        continue;
      }
      fault = responseError(
        connector,
        { status: response.status, headers, text },
        { isRateLimit: rateLimitSeconds !== null || response.status === 429, isRetry: attempt > 1, now: host.now() },
      );
      if (fault.kind !== 'rate_limited' && fault.kind !== 'unavailable') throw fault;
      const stated = Math.max(retryAfterMs(response.headers, host.now()), 1000 * (rateLimitSeconds ?? 0));
      if (fault.kind === 'rate_limited' && stated === 0) wait = Math.min(rateLimitMs(attempt, headers, host.now()), host.limits.maxWaitMs);
      wait = Math.max(wait, stated);
      // A rate-limited request was not executed, so it is always safe to retry.
      if (!repeatable && fault.kind !== 'rate_limited') throw fault;
    } catch (error) {
      if (host.signal.aborted) throw host.signal.reason;
      if (error === fault) throw error;
      if (error instanceof ConnectorError && error.kind !== 'invalid_answer') throw error;
      fault = error instanceof ConnectorError ? error : unreachable(url, redact(messageOf(error)));
      if (!repeatable || isPermanent(error)) throw fault;
    }
    if (attempt === host.limits.attempts) break;
    await waitBeforeRetry(host, wait);
  }
  throw fault ?? new ConnectorError('unavailable', 'No response.');
}

async function waitBeforeRetry(host: HttpHost, ms: number): Promise<void> {
  if (ms > host.limits.maxWaitMs)
    throw new ConnectorError(
      'rate_limited',
      `The vendor requires a wait of ${Math.ceil(ms / 60_000)} minutes, which is longer than a run may wait. The next run tries again.`,
    );
  await host.wait(ms, host.signal);
}

/** A stream cannot be retried once it is being read, so its reader gets the error. */
async function* withReadableError({ host, redact }: ClientState, body: AsyncIterable<Uint8Array>, url: URL): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (host.signal.aborted) throw host.signal.reason;
    throw interrupted(url, redact(messageOf(error)));
  }
}

function isExpected(status: number, { accept = [] }: HttpRequest): boolean {
  return (status >= 200 && status < 300) || accept.includes(status);
}
