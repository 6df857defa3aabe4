import http from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { messageOf } from '../shared/errors.ts';
import { createAgents, type OutboundOptions } from './agents.ts';
import { faultOf, OutboundFault, proxyRefusal } from './faults.ts';

/** Every request to the outside goes through here: guarded addresses, limits on time and size, no redirects of its own accord. */
interface OutboundRequest {
  method: string;
  url: URL;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array | undefined;
  /** Until the answer is read to its end. */
  timeoutMs: number;
  /** Of the answer, uncompressed. */
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

interface OutboundAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** To be read to its end, or broken off. */
  body: AsyncGenerator<Buffer>;
}

export interface Outbound {
  /** Why an address that is written out cannot be reached; null for what may be, and for names, which are looked up when they are connected to. */
  refusal(url: URL): string | null;
  open(request: OutboundRequest): Promise<OutboundAnswer>;
  send(request: OutboundRequest): Promise<Omit<OutboundAnswer, 'body'> & { body: Buffer }>;
  close(): void;
}

export function createOutbound(options: OutboundOptions): Outbound {
  const { guard, proxy } = options;
  const { plain, secure } = createAgents(options);

  const open = (request: OutboundRequest): Promise<OutboundAnswer> => {
    const { method, url, headers, body, timeoutMs, maxBytes, signal } = request;
    const over = AbortSignal.timeout(timeoutMs);
    const ended = signal ? AbortSignal.any([signal, over]) : over;
    return new Promise((resolve, reject) => {
      const toFault = (error: unknown): unknown => faultOf(error, { over, signal, timeoutMs, throughProxy: Boolean(proxy) });
      const fail = (error: unknown): void => reject(toFault(error));
      try {
        guard.assertAllowed(url.hostname);
      } catch (error) {
        return fail(error);
      }
      const isSecure = url.protocol === 'https:';
      const sent = (isSecure ? https : http).request(url, {
        method,
        headers: { 'accept-encoding': 'gzip, br', ...headers, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) },
        agent: isSecure ? secure : plain,
        signal: ended,
      });
      sent.on('error', fail);
      // A request that still waits for its tunnel through a proxy is not told.
      if (proxy) ended.addEventListener('abort', fail, { once: true });
      sent.on('response', (answer) => {
        if (proxy && answer.statusCode === 407) {
          answer.destroy();
          return fail(proxyRefusal(407));
        }
        const body = contentOf(answer, maxBytes, toFault);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
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
      const { body, ...answer } = await open(request);
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return { ...answer, body: Buffer.concat(chunks) };
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

async function* contentOf(answer: http.IncomingMessage, maxBytes: number, toFault: (error: unknown) => unknown): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    for await (const chunk of uncompressed(answer) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new OutboundFault('too_large', `the answer is larger than ${maxBytes} bytes`);
      yield chunk;
    }
    if (!answer.complete) throw new OutboundFault('interrupted', 'the answer ended before its end');
  } catch (error) {
    throw toFault(error);
  } finally {
    answer.destroy();
  }
}

function uncompressed(answer: http.IncomingMessage): Readable {
  const decoders: Record<string, (() => Readable & NodeJS.WritableStream) | undefined> = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    br: createBrotliDecompress,
    deflate: createInflate,
  };
  const decoder = decoders[answer.headers['content-encoding']?.toLowerCase() ?? '']?.();
  if (!decoder) return answer;
  // What goes wrong arrives where it is read.
  pipeline(answer, decoder, () => {});
  return decoder;
}
