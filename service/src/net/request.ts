import http from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { assertOutsideTransaction } from '../db/transaction-scope.ts';
import { messageOf } from '../shared/errors.ts';
import { createAgents, type OutboundOptions } from './agents.ts';
import { faultOf, OutboundFault, proxyRefusal } from './faults.ts';

/** Outbound requests of connections and webhooks: only allowed addresses, limits on time and size, no automatic redirects. */
interface OutboundRequest {
  method: string;
  url: URL;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array | undefined;
  /** PEM certificates to trust for this request in addition to the default ones. Null if the sender could supply some, undefined if it cannot. */
  certificates?: string | null | undefined;
  /** Time limit until the response is read completely. */
  timeoutMs: number;
  /** Size limit of the uncompressed response. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

interface OutboundResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** Must be read to its end or returned early. */
  body: AsyncGenerator<Buffer>;
}

export interface Outbound {
  /** Why the IP address in a URL is not allowed. Returns `null` if it is allowed, and for host names, which are checked when they are resolved. */
  refusal(url: URL): string | null;
  open(request: OutboundRequest): Promise<OutboundResponse>;
  send(request: OutboundRequest): Promise<Omit<OutboundResponse, 'body'> & { body: Buffer }>;
  close(): void;
}

export function createOutbound(options: OutboundOptions): Outbound {
  const { guard, proxy } = options;
  const agents = createAgents(options);

  const open = async (request: OutboundRequest): Promise<OutboundResponse> => {
    assertOutsideTransaction('a request to another system');
    const { method, url, headers, body, certificates, timeoutMs, maxBytes, signal } = request;
    const timeout = AbortSignal.timeout(timeoutMs);
    const aborted = signal ? AbortSignal.any([signal, timeout]) : timeout;
    return new Promise((resolve, reject) => {
      const toFault = (error: unknown): unknown =>
        faultOf(error, { timeout, signal, timeoutMs, throughProxy: Boolean(proxy), canTrustMore: certificates !== undefined });
      const fail = (error: unknown): void => reject(toFault(error));
      try {
        guard.assertAllowed(url.hostname);
      } catch (error) {
        return fail(error);
      }
      const sent = (url.protocol === 'https:' ? https : http).request(url, {
        method,
        headers: { 'accept-encoding': 'gzip, br', ...headers, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) },
        agent: agents.agentFor(url, certificates),
        signal: aborted,
      });
      sent.on('error', fail);
      // Node does not abort a request that is waiting for its tunnel through a proxy.
      if (proxy) aborted.addEventListener('abort', fail, { once: true });
      sent.on('response', (response) => {
        if (proxy && response.statusCode === 407) {
          response.destroy();
          return fail(proxyRefusal(407));
        }
        const body = contentOf(response, maxBytes, toFault);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
      sent.end(body);
    });
  };

  return {
    refusal({ hostname }) {
      try {
        guard.assertAllowed(hostname);
        return null;
      } catch (error) {
        return messageOf(error);
      }
    },
    open,
    async send(request) {
      const { body, ...response } = await open(request);
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return { ...response, body: Buffer.concat(chunks) };
    },
    close: agents.destroy,
  };
}

async function* contentOf(response: http.IncomingMessage, maxBytes: number, toFault: (error: unknown) => unknown): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    for await (const chunk of uncompressed(response) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new OutboundFault('too_large', `the response exceeds ${sizeOf(maxBytes)}`);
      yield chunk;
    }
    if (!response.complete) throw new OutboundFault('interrupted', 'the response is incomplete');
  } catch (error) {
    throw toFault(error);
  } finally {
    response.destroy();
  }
}

function sizeOf(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.round(bytes / 2 ** 20)} MiB`;
}

function uncompressed(response: http.IncomingMessage): Readable {
  const decoders: Record<string, (() => Readable & NodeJS.WritableStream) | undefined> = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    br: createBrotliDecompress,
    deflate: createInflate,
  };
  const decoder = decoders[response.headers['content-encoding']?.toLowerCase() ?? '']?.();
  if (!decoder) return response;
  // Errors reach the reader of the decoder.
  pipeline(response, decoder, () => {});
  return decoder;
}
