import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Received {
  headers: Record<string, string>;
  body: string;
  event: { id: string; type: string; subject: string };
  /** Whether the sender received a success response. */
  acknowledged: boolean;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** While stalled, requests get no response. */
  stall(on: boolean): void;
  close(): void;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let stalled = false;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({ headers: request.headers as Record<string, string>, body, event: JSON.parse(body), acknowledged: !stalled });
    if (!stalled) response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    stall: (on) => {
      stalled = on;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
