import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, type ErrorCode, errorCodeOf } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { PROBLEM_MEDIA_TYPE, problemOf } from '../problems.ts';

const kinds: Readonly<Record<string, { code: ErrorCode; detail: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'The request line and headers exceed the limit of 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'The request did not arrive completely within the time limit.' },
};
const LINGER_MS = 1_000;
const malformed = { code: 'malformed_request', detail: 'The request is not valid HTTP/1.1.' } as const;

/** What any operation can return before it is known which one was called. */
export const brokenRequestCodes: readonly ErrorCode[] = [malformed, ...Object.values(kinds)].map(({ code }) => code);

/** Writes the response to the socket and closes it, because requests that Node cannot parse never reach Fastify. */
export function replyToBrokenRequest(error: Error, socket: Socket, baseUrl: string): void {
  const code = errorCodeOf(error) ?? '';
  const responding = (socket as Socket & { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  if (code === 'ECONNRESET' || !socket.writable || responding?.headersSent) {
    socket.destroy();
    return;
  }
  const kind = kinds[code] ?? malformed;
  const requestId = newId();
  const problem = problemOf(new AppError(kind.code, kind.detail), { baseUrl, instance: '', requestId });
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `content-type: ${PROBLEM_MEDIA_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
