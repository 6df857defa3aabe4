import { type Connector, ConnectorError } from './contract.ts';

interface Circumstances {
  /** It says "too often". */
  isLimit: boolean;
  /** It was asked before. */
  isRepeated: boolean;
}

/** What went wrong, in words for a person, and how long to wait before the next try. */
export function faultOf({ name, permissions }: Connector, status: number, text: string, { isLimit, isRepeated }: Circumstances): ConnectorError {
  const said = text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 300);
  const quoted = said === '' ? '' : ` It says: ${said}`;
  if (isLimit)
    return new ConnectorError('rate_limited', `${name} limits how often it may be asked (${status})${isRepeated ? ', and went on doing so' : ''}.${quoted}`);
  if (status === 401) return new ConnectorError('credentials', `${name} refused the credentials (401). Create new ones: ${permissions}.${quoted}`);
  if (status === 403) return new ConnectorError('credentials', `${name} does not allow this with these credentials (403). They need: ${permissions}.${quoted}`);
  if (status === 404 || status === 410)
    return new ConnectorError('configuration', `${name} knows no such thing (${status}). Check the names and ids in the configuration.${quoted}`);
  if (status >= 500)
    return new ConnectorError('unavailable', `${name} answered with an error of its own (${status})${isRepeated ? ', several times' : ''}.${quoted}`);
  return new ConnectorError('configuration', `${name} refused the request (${status}).${quoted}`);
}

export function unreachable(url: URL, message: string): ConnectorError {
  return new ConnectorError('unavailable', `${url.host} could not be asked: ${message}.`);
}

export function brokenOff(url: URL, message: string): ConnectorError {
  return new ConnectorError('unavailable', `The answer of ${url.host} broke off: ${message}.`);
}

interface Redirects {
  origins: ReadonlySet<string>;
  isTooMuch: boolean;
  redact(text: string): string;
}

/** Why a redirect is not followed; null if it is. */
export function redirectFault(at: URL, location: string, { origins, isTooMuch, redact }: Redirects): ConnectorError | null {
  const refuse = (what: string): ConnectorError => new ConnectorError('configuration', `${at.host} redirects ${what}`);
  if (!URL.canParse(location, at.href)) return refuse(`to “${redact(location)}”, which is no address.`);
  const { origin, protocol, href } = new URL(location, at);
  if (!/^https?:$/.test(protocol)) return refuse(`to ${redact(href)}, which is no web address.`);
  if (!origins.has(origin)) return refuse(`to ${origin}, which is not the configured address. If it has moved, change the address of the connection.`);
  return isTooMuch ? refuse('again and again. Check the address of the connection.') : null;
}

/** An address that must not be reached stays so. */
export function isRefused(error: unknown): boolean {
  return error instanceof Error && 'kind' in error && (error.kind === 'refused_address' || error.kind === 'too_large');
}

export function backOff(attempt: number): number {
  return 1_000 * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
}

/** Seconds or a date; the vendors' own headers say seconds or a moment. */
export function retryAfter(headers: Readonly<Record<string, string | string[] | undefined>>, now: number): number {
  const said = headers['retry-after'] ?? headers['x-ratelimit-towait-sec'];
  if (typeof said !== 'string') return 0;
  if (/^\d+(\.\d+)?$/.test(said.trim())) return Number(said) * 1000;
  const at = Date.parse(said);
  return Number.isNaN(at) ? 0 : Math.max(0, at - now);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
