import http from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { getCACertificates } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { errorCodeOf, messageOf } from '../shared/errors.ts';
import { AddressRefused, type Guard } from './addresses.ts';

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
  open(request: OutboundRequest): Promise<OutboundAnswer>;
  send(request: OutboundRequest): Promise<Omit<OutboundAnswer, 'body'> & { body: Buffer }>;
  close(): void;
}

export interface OutboundOptions {
  guard: Guard;
  /** Beside the system's own, in PEM. */
  certificates?: string | undefined;
  /** An HTTP proxy, which then decides what may be reached. */
  proxy?: string | null;
}

export type FaultKind = 'timeout' | 'too_large' | 'refused_address' | 'connection' | 'interrupted';

export class OutboundFault extends Error {
  readonly kind: FaultKind;
  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutboundFault';
    this.kind = kind;
  }
}

export function createOutbound({ guard, certificates, proxy }: OutboundOptions): Outbound {
  const common = { keepAlive: true, maxSockets: 8, ...(proxy ? { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } } : { lookup: guard.lookup }) };
  const plain = new http.Agent(common);
  const secure = new https.Agent({ ...common, ...(certificates ? { ca: [...getCACertificates('default'), certificates] } : {}) });

  const open = (request: OutboundRequest): Promise<OutboundAnswer> => {
    const { method, url, headers, body, timeoutMs, maxBytes, signal } = request;
    const over = AbortSignal.timeout(timeoutMs);
    const ended = signal ? AbortSignal.any([signal, over]) : over;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => reject(faultOf(error, { over, signal, timeoutMs }));
      try {
        if (!proxy) guard.assertAllowed(url.hostname);
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
      sent.on('response', (answer) => {
        const body = contentOf(answer, maxBytes, (error) => faultOf(error, { over, signal, timeoutMs }));
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body });
      });
      sent.end(body);
    });
  };

  return {
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

function faultOf(error: unknown, { over, signal, timeoutMs }: { over: AbortSignal; signal: AbortSignal | undefined; timeoutMs: number }): unknown {
  if (error instanceof OutboundFault) return error;
  if (signal?.aborted) return signal.reason;
  if (over.aborted) return new OutboundFault('timeout', `no full answer within ${timeoutMs / 1000} seconds`, { cause: error });
  if (error instanceof AddressRefused) return new OutboundFault('refused_address', error.message, { cause: error });
  const code = errorCodeOf(error);
  if (code === 'ECONNRESET' || code?.startsWith('Z_') || code?.startsWith('ERR__ERROR_FORMAT'))
    return new OutboundFault('interrupted', 'the connection was cut or the answer is damaged', { cause: error });
  return new OutboundFault('connection', messageOf(error) || code || 'no connection', { cause: error });
}
