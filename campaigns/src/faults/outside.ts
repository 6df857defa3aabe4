import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type FakeVendor, fakes, serveFake } from '../../../connectors/src/fakes.ts';

interface Delivery {
  id: string;
  type: string;
  subject: string;
}

/** What the service talks to, and what survives its deaths: a scanner, a ticketing system and a receiver of webhooks. */
export interface Outside {
  scanner: object;
  ticketing: object;
  receiver: string;
  deliveries: Delivery[];
  /** How often a ticket was created for each label of the service. */
  ticketsByLabel(): Map<string, number>;
  close(): Promise<void>;
}

/** Jira's search does not show new issues at once. */
const SEARCH_LAG_MS = 3_000;

export async function startOutside(): Promise<Outside> {
  const [snyk, jira] = ['snyk', 'jira'].map((id) => fakes.find((fake) => fake.id === id)) as [FakeVendor, FakeVendor];
  const scanner = await serveFake(snyk, { pageSize: 5 });
  let createdAt = 0;
  const ticketing = await serveFake(
    { ...jira, answer: (options) => watched(jira.answer(options), () => (createdAt = Date.now())) },
    { pageSize: 50, isSearchBehind: () => Date.now() - createdAt < SEARCH_LAG_MS },
  );
  const deliveries: Delivery[] = [];
  const server = createServer(async (request, response) => {
    const event = JSON.parse(await text(request)) as Delivery;
    deliveries.push({ id: String(request.headers['webhook-id']), type: event.type, subject: event.subject });
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    scanner: { provider: 'snyk', name: 'scanner', ...snyk.settings(scanner.origin), schedule: null },
    ticketing: { provider: 'jira', name: 'tickets', ...jira.settings(ticketing.origin), schedule: null },
    receiver: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    deliveries,
    ticketsByLabel() {
      const counts = new Map<string, number>();
      for (const { method, url, body } of ticketing.requests) {
        if (method !== 'POST' || !url.pathname.endsWith('/issue')) continue;
        for (const label of (JSON.parse(body) as { fields: { labels: string[] } }).fields.labels) {
          if (label !== 'rrs') counts.set(label, (counts.get(label) ?? 0) + 1);
        }
      }
      return counts;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await Promise.all([scanner.close(), ticketing.close()]);
    },
  };
}

type Answer = ReturnType<FakeVendor['answer']>;

function watched(answer: Answer, onCreate: () => void): Answer {
  return (request) => {
    const isCreate = request.method === 'POST' && request.url.pathname.endsWith('/issue');
    if (isCreate) onCreate();
    return answer(request);
  };
}
