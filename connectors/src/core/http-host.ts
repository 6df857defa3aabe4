import type { RequestRecord } from './responses.ts';

/** Sends a request over the network. */
export interface Sender {
  open(request: SentRequest): Promise<{ status: number; headers: Readonly<Record<string, string | string[] | undefined>>; body: AsyncIterable<Uint8Array> }>;
}

interface SentRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
  /** PEM certificates to trust for this request in addition to the default ones. Null if the connection could have some, undefined if it cannot. */
  certificates: string | null | undefined;
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

/** What the host gives the HTTP client of a connector. */
export interface HttpHost {
  sender: Sender;
  signal: AbortSignal;
  limits: HttpLimits;
  now(): number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  onRequest(record: RequestRecord): void;
}
