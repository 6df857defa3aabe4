import type { Static, TSchema } from 'typebox';
import { type Connector, ConnectorError, type Http, type HttpAnswer, type HttpRequest, type Settings } from './contract.ts';
import { backOff, brokenOff, faultOf, isRefused, messageOf, redirectFault, retryAfter, unreachable } from './faults.ts';
import { checked, plain, type RequestRecord, recorded, redactor, textOf } from './responses.ts';

/** What carries a request out of this process, and what it tells of failures. */
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
  requests: number;
  /** From the first request to the last. */
  totalMs: number;
  requestMs: number;
  answerBytes: number;
  streamBytes: number;
  attempts: number;
  /** Longest time that one Retry-After may ask for. */
  longestWaitMs: number;
}

export const defaultLimits: HttpLimits = {
  requests: 20_000,
  totalMs: 2 * 3_600_000,
  requestMs: 60_000,
  answerBytes: 64 * 2 ** 20,
  streamBytes: 2 ** 30,
  attempts: 5,
  longestWaitMs: 15 * 60_000,
};

export interface HttpHost {
  sender: Sender;
  signal: AbortSignal;
  limits: HttpLimits;
  now(): number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  onRequest(record: RequestRecord): void;
}

/** Null: nobody has to know who asks, as when the token is still to be had. */
type TokenSource = (() => Promise<string>) | null;

const REDIRECTS = 5;
const AGENT = 'remediation-risk-service';

/** Everywhere that requests of a connection may go, with what proves who asks. */
export function originsOf(connector: Connector, settings: Settings): Set<string> {
  return new Set([connector.baseUrl(settings), ...(connector.origins?.(settings) ?? [])].map((address) => new URL(address).origin));
}

/** What every vendor would otherwise get wrong: one origin, retries, Retry-After, budgets, sizes, redaction and a record of it all. */
export function createHttp(connector: Connector, settings: Settings, host: HttpHost): Http {
  const base = new URL(`${connector.baseUrl(settings).replace(/\/+$/, '')}/`);
  const origins = originsOf(connector, settings);
  const redact = redactor(settings);
  const startedAt = host.now();
  let requests = 0;
  let session: { token: string; until: number } | null = null;

  const tokenFor = async (): Promise<string> => {
    if (!connector.login) return '';
    if (session && session.until > host.now()) return session.token;
    const { token, expiresInSeconds } = await connector.login({ ...settings, http: clientOf(null) });
    session = { token, until: host.now() + Math.max(expiresInSeconds - 60, 1) * 1000 };
    return token;
  };

  const urlOf = ({ path, query = {} }: HttpRequest, from: URL = base): URL => {
    // A path is below the base address, which may have one of its own.
    const url = /^https?:\/\//i.test(path) ? new URL(path) : new URL(path.replace(/^\/+/, ''), from);
    for (const [name, value] of Object.entries(query)) {
      if (value === null || value === undefined) continue;
      for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
    }
    if (!origins.has(url.origin) || url.username || url.password)
      throw new ConnectorError(
        'invalid_answer',
        `The vendor points to ${url.origin}, which is not the configured address ${base.origin}. Nothing was sent there.`,
      );
    return url;
  };

  /** One attempt, redirects within the origin included. */
  const attempt = async (request: HttpRequest, url: URL, tokenOf: TokenSource, maxBytes: number) => {
    const body = request.json !== undefined ? JSON.stringify(request.json) : request.form ? new URLSearchParams(request.form).toString() : undefined;
    let [at, method, sent] = [url, request.method ?? 'GET', body];
    for (let redirects = 0; ; redirects++) {
      if (requests >= host.limits.requests)
        throw new ConnectorError('incomplete', `The run was stopped after ${requests} requests, the most that one run may make.`);
      if (host.now() - startedAt > host.limits.totalMs)
        throw new ConnectorError(
          'incomplete',
          `The run was stopped after ${Math.round(host.limits.totalMs / 60_000)} minutes, the longest that one run may take.`,
        );
      host.signal.throwIfAborted();
      requests++;
      const proof = tokenOf ? connector.authorize({ ...settings, token: await tokenOf() }, { method, url: at, body: sent }) : {};
      const headers = {
        'user-agent': AGENT,
        accept: 'application/json',
        ...(sent === undefined ? {} : { 'content-type': request.json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded' }),
        ...request.headers,
        ...proof,
      };
      const record: RequestRecord = {
        at: new Date(host.now()).toISOString(),
        method,
        url: redact(at.toString()),
        status: null,
        bytes: 0,
        sha256: null,
        error: null,
      };
      try {
        const answer = await host.sender.open({ method, url: at, headers, body: sent, timeoutMs: host.limits.requestMs, maxBytes, signal: host.signal });
        record.status = answer.status;
        const location = answer.headers.location;
        const content = recorded(answer.body, record, host.onRequest);
        if (answer.status < 300 || answer.status > 399 || answer.status === 304 || typeof location !== 'string') return { ...answer, body: content };
        for await (const _ of content);
        const refused = redirectFault(at, location, { origins, isTooMuch: redirects >= REDIRECTS, redact });
        if (refused) throw refused;
        at = new URL(location, at);
        if (answer.status === 303 || (method === 'POST' && answer.status < 303)) [method, sent] = ['GET', undefined];
      } catch (error) {
        if (record.status === null) host.onRequest({ ...record, error: redact(messageOf(error)) });
        throw error;
      }
    }
  };

  /** A stream cannot be asked for again behind the reader's back: it learns that it broke off, and why. */
  async function* unbroken(body: AsyncIterable<Uint8Array>, url: URL): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      if (host.signal.aborted) throw host.signal.reason;
      throw brokenOff(url, redact(messageOf(error)));
    }
  }

  const clientOf = (tokenOf: TokenSource): Http => {
    /** Until it is answered as expected, or there is no hope that it will be. */
    const ask = async <T>(request: HttpRequest, maxBytes: number, read: (body: AsyncIterable<Uint8Array>) => Promise<T>): Promise<HttpAnswer<T>> => {
      const url = urlOf(request);
      const repeatable = request.repeatable ?? ['GET', undefined].includes(request.method);
      let fault: ConnectorError | null = null;
      for (let n = 1, renewed = false; n <= host.limits.attempts; n++) {
        let wait = backOff(n);
        try {
          const answer = await attempt(request, url, tokenOf, maxBytes);
          const leaveAlone = connector.rateLimited?.(answer.status, plain(answer.headers)) ?? null;
          if (leaveAlone === null && isExpected(answer.status, request))
            return { status: answer.status, headers: plain(answer.headers), body: await read(answer.body) };
          const text = redact(await textOf(answer.body, 2_000));
          if (answer.status === 401 && session && !renewed) {
            session = null;
            renewed = true;
            n--;
            continue;
          }
          fault = faultOf(connector, answer.status, text, { isLimit: leaveAlone !== null || answer.status === 429, isRepeated: n > 1 });
          if (fault.kind !== 'rate_limited' && fault.kind !== 'unavailable') throw fault;
          wait = Math.max(wait, retryAfter(answer.headers, host.now()), 1000 * (leaveAlone ?? 0));
          // Who says "too many" did nothing yet.
          if (!repeatable && fault.kind !== 'rate_limited') throw fault;
        } catch (error) {
          if (host.signal.aborted) throw host.signal.reason;
          if (error === fault) throw error;
          if (error instanceof ConnectorError && error.kind !== 'invalid_answer') throw error;
          fault = error instanceof ConnectorError ? error : unreachable(url, redact(messageOf(error)));
          if (!repeatable || isRefused(error)) throw fault;
        }
        if (n === host.limits.attempts) break;
        if (wait > host.limits.longestWaitMs)
          throw new ConnectorError(
            'rate_limited',
            `The vendor asks to wait ${Math.ceil(wait / 60_000)} minutes, longer than a run waits. The next run tries again.`,
          );
        await host.wait(wait, host.signal);
      }
      throw fault ?? new ConnectorError('unavailable', 'no answer');
    };

    const json = <T extends TSchema>(schema: T, request: HttpRequest): Promise<HttpAnswer<Static<T>>> =>
      ask(request, host.limits.answerBytes, async (body) => checked(schema, await textOf(body), redact(urlOf(request).pathname)));
    return {
      json,
      getJson: async (path, schema, query) => (await json(schema, { path, ...(query ? { query } : {}) })).body,
      text: (request) =>
        ask(request, host.limits.answerBytes, async (body) => {
          const text = await textOf(body);
          if (request.whole?.(text) ?? true) return text;
          throw new ConnectorError('invalid_answer', `The answer to ${redact(urlOf(request).pathname)} is not as documented, or was cut short.`);
        }),
      stream: (request) => ask(request, host.limits.streamBytes, async (body) => unbroken(body, urlOf(request))),
      pause: (n) => host.wait(Math.min(1_000 * 2 ** Math.min(n, 5), 30_000), host.signal).then(() => host.signal.throwIfAborted()),
    };
  };
  return clientOf(tokenFor);
}

function isExpected(status: number, { accept = [] }: HttpRequest): boolean {
  return (status >= 200 && status < 300) || accept.includes(status);
}
