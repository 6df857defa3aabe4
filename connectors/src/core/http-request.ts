import manifest from '../../package.json' with { type: 'json' };
import { ConnectorError } from './connector-error.ts';
import type { Connector, HttpRequest, OutgoingRequest, Settings } from './contract.ts';
import { messageOf, redirectError } from './faults.ts';
import type { HttpHost } from './http-host.ts';
import { createRedactor, type Redactor, type RequestRecord, recordBody } from './responses.ts';
import { authorityOf } from './settings/certificates.ts';

const MAX_REDIRECTS = 5;
const USER_AGENT = `remediation-risk-service/${manifest.version}`;

/** What all requests of one client share. */
export interface ClientState extends Redactor {
  readonly connector: Connector;
  readonly settings: Settings;
  readonly host: HttpHost;
  readonly base: URL;
  readonly origins: ReadonlySet<string>;
  readonly startedAt: number;
  /** Requests sent so far. */
  requests: number;
  session: { token: string; until: number } | null;
}

export interface SendOptions {
  /** Null for requests without authentication, such as the token request itself. */
  tokenOf: (() => Promise<string>) | null;
  maxBytes: number;
}

/** The origins that a connection may send authenticated requests to. */
export function originsOf(connector: Connector, settings: Settings): Set<string> {
  return new Set([connector.baseUrl(settings), ...(connector.origins?.(settings) ?? [])].map((url) => new URL(url).origin));
}

export function createState(connector: Connector, settings: Settings, host: HttpHost): ClientState {
  return {
    connector,
    settings,
    host,
    base: new URL(`${connector.baseUrl(settings).replace(/(?<!\/)\/+$/, '')}/`),
    origins: originsOf(connector, settings),
    ...createRedactor(settings),
    startedAt: host.now(),
    requests: 0,
    session: null,
  };
}

export function urlOf({ base, origins }: ClientState, { path, query = {} }: HttpRequest): URL {
  // Paths are relative to the base URL, which may itself have a path.
  const url = /^https?:\/\//i.test(path) ? new URL(path) : new URL(path.replace(/^\/+/, ''), base);
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
}

/** Sends a request once and follows redirects within the allowed origins. */
export async function sendOnce(state: ClientState, request: HttpRequest, options: SendOptions) {
  let outgoing: OutgoingRequest = { method: request.method ?? 'GET', url: urlOf(state, request), body: bodyOf(request) };
  for (let redirects = 0; ; redirects++) {
    assertWithinLimits(state);
    state.requests++;
    const response = await open(state, outgoing, await headersOf(state, request, outgoing, options), options.maxBytes);
    const { location } = response.headers;
    if (response.status < 300 || response.status > 399 || response.status === 304 || typeof location !== 'string') return response;
    for await (const _ of response.body);
    const { origins, redact } = state;
    const refused = redirectError(outgoing.url, location, { origins, isLimitReached: redirects >= MAX_REDIRECTS, redact });
    if (refused) throw refused;
    const url = new URL(location, outgoing.url);
    const becomesGet = response.status === 303 || (outgoing.method === 'POST' && response.status < 303);
    outgoing = becomesGet ? { method: 'GET', url, body: undefined } : { ...outgoing, url };
  }
}

function bodyOf({ json, form }: HttpRequest): string | undefined {
  if (json !== undefined) return JSON.stringify(json);
  return form ? new URLSearchParams(form).toString() : undefined;
}

function assertWithinLimits({ host, requests, startedAt }: ClientState): void {
  const { limits, signal } = host;
  if (requests >= limits.requests) throw new ConnectorError('incomplete', `The run was stopped after ${requests} requests, the limit for one run.`);
  if (host.now() - startedAt > limits.totalMs)
    throw new ConnectorError('incomplete', `The run was stopped after ${Math.round(limits.totalMs / 60_000)} minutes, the time limit for one run.`);
  signal.throwIfAborted();
}

async function headersOf({ connector, settings, learn }: ClientState, request: HttpRequest, outgoing: OutgoingRequest, { tokenOf }: SendOptions) {
  // A login that signs something sends it here. The last part follows the scheme, as in `Bearer <token>`.
  const signed = request.headers?.authorization?.split(' ').at(-1);
  if (signed !== undefined) learn(signed);
  const authorization = tokenOf ? connector.authorize({ ...settings, token: await tokenOf() }, outgoing) : {};
  return {
    'user-agent': USER_AGENT,
    accept: 'application/json',
    ...(outgoing.body === undefined ? {} : { 'content-type': request.json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded' }),
    ...request.headers,
    ...authorization,
  };
}

/** Sends one request and records it, also if it fails. */
async function open(
  { connector, settings, host, redact }: ClientState,
  { method, url, body }: OutgoingRequest,
  headers: Record<string, string>,
  maxBytes: number,
) {
  const record: RequestRecord = {
    at: new Date(host.now()).toISOString(),
    method,
    url: redact(url.toString()),
    status: null,
    bytes: 0,
    sha256: null,
    error: null,
  };
  try {
    const certificates = authorityOf(connector, settings);
    const response = await host.sender.open({ method, url, headers, body, certificates, timeoutMs: host.limits.requestMs, maxBytes, signal: host.signal });
    record.status = response.status;
    return { ...response, body: recordBody(response.body, record, host.onRequest) };
  } catch (error) {
    host.onRequest({ ...record, error: redact(messageOf(error)) });
    throw error;
  }
}
