import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { InboundMessage, Json, Settings } from '../core/contract.ts';

export interface FakeRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface FakeResponse {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON unless it is text or bytes. */
  body?: Json | Uint8Array;
  /** Marks a page of records. Faults are injected into these responses. */
  page?: boolean;
}

export interface FakeOptions {
  /** Records per page. */
  pageSize: number;
  /** There is always a next page. */
  endless?: boolean;
  /** After the first page of a list, its first record disappears and a new one appears at its end, so that its length stays the same. */
  shifts?: boolean;
  /** For ticketing: whether the vendor's search does not show new tickets yet. */
  isSearchBehind?(): boolean;
  /** One of the records does not match the vendor's documentation. */
  badRecord?: boolean;
  /** Positions in lists expire when this number changes. */
  epoch?(): number;
}

/** Positions in lists as vendors give them: they cannot be made up, and expire. */
export function positionsOf({ epoch = () => 0 }: FakeOptions) {
  return {
    give: (n: number): string => `${epoch()}-${n}`,
    /** Zero at the start of a list, null if the position has expired. */
    read: (position: string | null | undefined): number | null => {
      if (!position) return 0;
      const [given, n] = position.split('-').map(Number);
      return given === epoch() ? (n ?? 0) : null;
    },
  };
}

export interface FakeVendor {
  /** The id of the connector. */
  id: string;
  settings(origin: string): Settings;
  /** Settings with credentials that the vendor refuses. Absent if the vendor needs no credentials. */
  refused?(origin: string): Settings;
  /** Further configurations that must pass the same tests. */
  variants?: readonly Record<string, Json>[];
  /** For enrichment: ids of vulnerabilities that findings have, known to the vendor or not. */
  wanted?: readonly string[];
  /** Returns a request handler with the vendor's authentication, paging and errors. Called once per server. */
  answer(options: FakeOptions): (request: FakeRequest) => FakeResponse | Promise<FakeResponse>;
  /** For ticketing: the webhook request for a changed ticket. Null: for a test of the webhook or an event about something else. */
  inbound?(settings: Settings, ticketId: string | null): InboundMessage;
}

/** What goes wrong from page `at` on, counted from one. `for` is the number of failures. Without it, all requests fail. */
export type Fault =
  | { kind: 'status'; at: number; status: number; headers?: Record<string, string>; for?: number }
  | { kind: 'hang'; at: number; for?: number }
  | { kind: 'truncated'; at: number; for?: number }
  | { kind: 'garbage'; at: number; for?: number }
  | { kind: 'redirect'; at: number; to: string; for?: number }
  /** The server sends the previous page again. */
  | { kind: 'repeated'; at: number; for?: number }
  /** The server processes the request but drops the connection before responding. */
  | { kind: 'dropped'; at: number; for?: number }
  /** The server refuses requests other than GET without processing them. */
  | { kind: 'refused'; status: number; headers?: Record<string, string>; for?: number };

export interface RunningFake {
  origin: string;
  requests: FakeRequest[];
  close(): Promise<void>;
}

export async function serveFake(vendor: FakeVendor, options: FakeOptions, fault?: Fault): Promise<RunningFake> {
  const handle = vendor.answer(options);
  const requests: FakeRequest[] = [];
  let page = 0;
  let faults = 0;
  let previous: FakeResponse | null = null;
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
      const isFaultOver = fault === undefined || faults >= (fault.for ?? Number.POSITIVE_INFINITY);
      if (fault?.kind === 'refused' && !isFaultOver && request.method !== 'GET') {
        faults++;
        return outgoing.writeHead(fault.status, fault.headers).end();
      }
      const response = await handle(request);
      if (!response.page) return send(outgoing, response);
      if (isFaultOver || fault.kind === 'refused' || page + 1 < fault.at) {
        page++;
        previous = response;
        return send(outgoing, response);
      }
      faults++;
      fail(outgoing, fault, response, previous);
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

function bytesOf({ body }: FakeResponse): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
}

function send(outgoing: ServerResponse, response: FakeResponse): void {
  const type = typeof response.body === 'string' || response.body instanceof Uint8Array ? 'text/plain' : 'application/json';
  outgoing.writeHead(response.status ?? 200, { 'content-type': type, ...response.headers }).end(bytesOf(response));
}

function fail(outgoing: ServerResponse, fault: Fault, response: FakeResponse, previous: FakeResponse | null): void {
  if (fault.kind === 'status') outgoing.writeHead(fault.status, fault.headers).end('<html><body>Error</body></html>');
  else if (fault.kind === 'redirect') outgoing.writeHead(302, { location: fault.to }).end();
  else if (fault.kind === 'garbage') outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>');
  else if (fault.kind === 'repeated') send(outgoing, previous ?? response);
  else if (fault.kind === 'dropped') outgoing.destroy();
  else if (fault.kind === 'truncated') {
    const bytes = bytesOf(response);
    // A proxy that truncates a response also sends the new Content-Length.
    send(outgoing, { ...response, body: bytes.subarray(0, Math.floor(bytes.length / 2)) });
  }
}
