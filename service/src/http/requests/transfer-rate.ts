import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { replyToBrokenRequest } from './broken-requests.ts';

export interface TransferRate {
  /** Time limit for a request without an upload. */
  requestTimeoutMs: number;
  /** An upload may take as long as it needs, but must bring this many bytes per second, on average over a period. */
  bytesPerSecond: number;
  periodMs: number;
}

/** A gigabyte takes less than a day at this rate. */
export const UPLOAD_RATE = { bytesPerSecond: 16 * 1024, periodMs: 30_000 };

/** Ends requests that do not arrive: after a time, or an upload when it becomes too slow. Threat: connections that are kept open by sending almost nothing. */
export function installTransferRate(app: FastifyInstance, rate: TransferRate, publicUrl: () => string): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasBody(request)) watch(request, rate, publicUrl);
    done();
  });
}

const hasBody = ({ headers }: FastifyRequest): boolean => headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function watch({ raw, routeOptions }: FastifyRequest, rate: TransferRate, publicUrl: () => string): void {
  const { socket } = raw;
  // A request that Fastify injects has no connection.
  if (!(socket instanceof Socket)) return;
  const { requestTimeoutMs, bytesPerSecond, periodMs } = rate;
  const end = (): void => {
    clearInterval(timer);
    if (!raw.complete) replyToBrokenRequest(timedOut(), socket, publicUrl());
  };
  let received = socket.bytesRead;
  const endIfSlow = (): void => {
    const isSlow = socket.bytesRead - received < (bytesPerSecond * periodMs) / 1_000;
    received = socket.bytesRead;
    // If what has arrived is not read, the service is the slow one.
    if (raw.complete || (isSlow && raw.readableLength === 0)) end();
  };
  const timer = routeOptions.config.upload === undefined ? setTimeout(end, requestTimeoutMs) : setInterval(endIfSlow, periodMs);
  timer.unref();
  raw.once('close', () => clearInterval(timer));
}

function timedOut(): Error {
  return Object.assign(new Error('the request did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
}
