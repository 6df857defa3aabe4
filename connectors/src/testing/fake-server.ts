import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InboundMessage, Json, Settings } from '../core/contract.ts';

export interface FakeRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface FakeAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is text or bytes. */
  body?: Json | Uint8Array;
  /** One of several pages of what the vendor has: the ones that faults are put into. */
  page?: boolean;
}

export interface FakeOptions {
  /** Records on a page. */
  pageSize: number;
  /** There is always a next page. */
  endless?: boolean;
  /** One record among the good ones is not as documented. */
  badRecord?: boolean;
}

export interface FakeVendor {
  /** Of the connector. */
  id: string;
  settings(origin: string): Settings;
  /** Credentials that the vendor refuses; absent where there are none. */
  refused?(origin: string): Settings;
  /** Other ways to configure it, in which it must do as well. */
  variants?: readonly Record<string, Json>[];
  /** For enrichment: vulnerabilities that findings have, known to the vendor or not. */
  wanted?: readonly string[];
  /** Answers as the vendor would: its own authentication, paging and errors. A new one for each server. */
  answer(options: FakeOptions): (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;
  /** For ticketing: what the vendor sends when a ticket has changed; null: when its webhook is tried, or about something else. */
  inbound?(settings: Settings, ticketId: string | null): InboundMessage;
}

/** What happens to pages, counted from one; `for`: so many times, for ever unless told. */
export type Fault =
  | { kind: 'status'; at: number; status: number; headers?: Record<string, string>; for?: number }
  | { kind: 'hang'; at: number; for?: number }
  | { kind: 'truncated'; at: number; for?: number }
  | { kind: 'garbage'; at: number; for?: number }
  | { kind: 'redirect'; at: number; to: string; for?: number }
  /** The page before comes again, and again. */
  | { kind: 'repeated'; at: number; for?: number }
  /** It is done, but the connection breaks before the answer. */
  | { kind: 'dropped'; at: number; for?: number }
  /** Whatever is not a GET is refused before it is done. */
  | { kind: 'refused'; status: number; headers?: Record<string, string>; for?: number };

export interface RunningFake {
  origin: string;
  requests: FakeRequest[];
  close(): Promise<void>;
}

export async function serveFake(vendor: FakeVendor, options: FakeOptions, fault?: Fault): Promise<RunningFake> {
  const answer = vendor.answer(options);
  const requests: FakeRequest[] = [];
  let page = 0;
  let faults = 0;
  let before: FakeAnswer | null = null;
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', async () => {
      const request: FakeRequest = {
        method: incoming.method ?? 'GET',
        url: new URL(incoming.url ?? '/', `http://${incoming.headers.host}`),
        headers: incoming.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      const isOver = fault === undefined || faults >= (fault.for ?? Number.POSITIVE_INFINITY);
      if (fault?.kind === 'refused' && !isOver && request.method !== 'GET') {
        faults++;
        return outgoing.writeHead(fault.status, fault.headers).end();
      }
      const given = await answer(request);
      if (!given.page) return send(outgoing, given);
      if (isOver || fault.kind === 'refused' || page + 1 < fault.at) {
        page++;
        before = given;
        return send(outgoing, given);
      }
      faults++;
      fail(outgoing, fault, given, before);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function bytesOf({ body }: FakeAnswer): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
}

function send(outgoing: ServerResponse, answer: FakeAnswer): void {
  const type = typeof answer.body === 'string' || answer.body instanceof Uint8Array ? 'text/plain' : 'application/json';
  outgoing.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers }).end(bytesOf(answer));
}

function fail(outgoing: ServerResponse, fault: Fault, given: FakeAnswer, before: FakeAnswer | null): void {
  if (fault.kind === 'status') outgoing.writeHead(fault.status, fault.headers).end('<html><body>Not now</body></html>');
  else if (fault.kind === 'redirect') outgoing.writeHead(302, { location: fault.to }).end();
  else if (fault.kind === 'garbage') outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>');
  else if (fault.kind === 'repeated') send(outgoing, before ?? given);
  else if (fault.kind === 'dropped') outgoing.destroy();
  else if (fault.kind === 'truncated') {
    const bytes = bytesOf(given);
    // A proxy that cuts an answer says its new length.
    send(outgoing, { ...given, body: bytes.subarray(0, Math.floor(bytes.length / 2)) });
  }
}
