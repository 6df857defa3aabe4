import { ConnectorError, type FaultKind } from './connector-error.ts';
import type { Connector, RefusedRequest } from './contract.ts';

interface Circumstances {
  isRateLimit: boolean;
  /** The request was sent before. */
  isRetry: boolean;
  now: number;
}

/** Signatures and tokens are valid for a few minutes around the time of their creation. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;

/** The error for a response with an unexpected status, quoting what the vendor said. */
export function responseError(connector: Connector, response: RefusedRequest, { isRateLimit, isRetry, now }: Circumstances): ConnectorError {
  const { name, permissions } = connector;
  const { status, headers, text } = response;
  const fault = (kind: FaultKind, message: string): ConnectorError => new ConnectorError(kind, message, { status });
  const message = text
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300);
  const quoted = message === '' ? '' : ` Response: ${message}`;
  const explained = connector.explain?.(response);
  if (explained) return fault(explained.kind, `${explained.message}${quoted}`);
  if (isRateLimit) return fault('rate_limited', `${name} is limiting the request rate (${status})${isRetry ? ', also after retries' : ''}.${quoted}`);
  const skewMinutes = status < 400 || status > 403 ? 0 : clockSkewMinutes(headers, now);
  if (skewMinutes > 0)
    return fault(
      'configuration',
      `${name} refused the request (${status}). The clock of this machine differs from the clock of ${name} by ${skewMinutes} minutes. Correct it.${quoted}`,
    );
  if (status === 401) return fault('credentials', `${name} refused the credentials (401). Create new ones: ${permissions}.${quoted}`);
  if (status === 403) return fault('credentials', `${name} does not allow this with these credentials (403). They need: ${permissions}.${quoted}`);
  if (status === 404 || status === 410)
    return fault('configuration', `${name} did not find the requested resource (${status}). Check the names and ids in the configuration.${quoted}`);
  if (status >= 500) return fault('unavailable', `${name} returned a server error (${status})${isRetry ? ', also after retries' : ''}.${quoted}`);
  return fault('configuration', `${name} refused the request (${status}).${quoted}`);
}

/** Zero if the vendor does not state its time or both clocks agree. */
function clockSkewMinutes({ date }: Readonly<Record<string, string>>, now: number): number {
  const skew = Math.abs(Date.parse(date ?? '') - now);
  return skew > MAX_CLOCK_SKEW_MS ? Math.round(skew / 60_000) : 0;
}

export function unreachable(url: URL, message: string): ConnectorError {
  return new ConnectorError('unavailable', `The request to ${url.host} failed: ${message}.`);
}

export function interrupted(url: URL, message: string): ConnectorError {
  return new ConnectorError('unavailable', `The response from ${url.host} was interrupted: ${message}.`);
}

interface RedirectPolicy {
  origins: ReadonlySet<string>;
  isLimitReached: boolean;
  redact(text: string): string;
}

/** Why a redirect must not be followed. Null if it may be. */
export function redirectError(from: URL, location: string, { origins, isLimitReached, redact }: RedirectPolicy): ConnectorError | null {
  const refuse = (what: string): ConnectorError => new ConnectorError('configuration', `${from.host} redirects ${what}`);
  if (!URL.canParse(location, from.href)) return refuse(`to “${redact(location)}”, which is not a valid URL.`);
  const { origin, protocol, href } = new URL(location, from);
  if (!/^https?:$/.test(protocol)) return refuse(`to ${redact(href)}, which is not an http or https URL.`);
  if (!origins.has(origin)) return refuse(`to ${origin}, which is not the configured URL. If the vendor has moved, change the URL of the connection.`);
  return isLimitReached ? refuse('too many times. Check the URL of the connection.') : null;
}

/** Whether a retry would fail in the same way: the address is blocked, or the response is too large. */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && 'kind' in error && (error.kind === 'refused_address' || error.kind === 'too_large');
}

export function backOffMs(attempt: number): number {
  return 1_000 * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
}

/** Retry-After is a number of seconds or a date. Qualys sends seconds in a header of its own. */
export function retryAfterMs(headers: Readonly<Record<string, string | string[] | undefined>>, now: number): number {
  const value = headers['retry-after'] ?? headers['x-ratelimit-towait-sec'];
  if (typeof value !== 'string') return 0;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

/** Most limits count the requests of a minute. */
const RATE_LIMIT_WINDOW_MS = 60_000;

/**
 * How long to wait if a vendor limits requests without `Retry-After`. Many state when the limit is reset, as seconds from now or as a time (GitLab). Of the others, the
 * second attempt comes after a quarter of the usual window, and all of them together take longer than it.
 */
export function rateLimitMs(attempt: number, headers: Readonly<Record<string, string>>, now: number): number {
  const reset = Number.parseFloat(headers['ratelimit-reset'] ?? headers['x-ratelimit-reset'] ?? '');
  if (Number.isNaN(reset)) return (attempt * RATE_LIMIT_WINDOW_MS) / 4;
  const ms = reset > 1e12 ? reset - now : reset > 1e9 ? reset * 1000 - now : reset * 1000;
  return Math.max(ms, 1_000);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
