import { obj } from '@rrs/scan-reports/read.ts';
import { afterEach, expect, it } from 'vitest';
import type { Json, Scanner } from '../core/contract.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';
import { type FakeRequest, type FakeVendor, type RunningFake, serveFake } from '../testing/fake-server.ts';
import { collect, contextOf } from '../testing/host.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

/** The second page is followed by the third, and that one by the second again. */
const NEXT: Readonly<Record<string, string>> = { A: 'B', B: 'C', C: 'A' };

interface SideList {
  /** The position in a request for the list. Null for other requests. */
  position(request: FakeRequest): string | null;
  withNext(body: Json, next: string): Json;
}

/** Lists that are read besides the findings, where the host does not see the pages. */
const lists: Readonly<Record<string, SideList>> = {
  snyk: {
    position: ({ url }) => (url.pathname.endsWith('/projects') ? (url.searchParams.get('starting_after') ?? '') : null),
    withNext: (body, next) => ({ ...(obj(body) as Record<string, Json>), links: { next: `/projects?starting_after=${next}` } }),
  },
  gitlab: {
    position: ({ body }) => (body.includes('projects(') ? ((JSON.parse(body) as { variables: { after: string | null } }).variables.after ?? '') : null),
    withNext: (_, next) => ({
      data: { group: { webUrl: 'https://gitlab.example', projects: { nodes: [], pageInfo: { hasNextPage: true, endCursor: next } } } },
    }),
  },
  microsoft_defender: {
    position: ({ url }) => (url.pathname === '/api/machines' ? (url.searchParams.get('$skiptoken') ?? '') : null),
    withNext: (body, next) => ({ ...(obj(body) as Record<string, Json>), '@odata.nextLink': `https://defender.example/api/machines?$skiptoken=${next}` }),
  },
  insightvm: {
    position: ({ url }) => (url.pathname.endsWith('/vulnerabilities') ? (url.searchParams.get('cursor') ?? '') : null),
    withNext: (body, next) => ({ ...(obj(body) as Record<string, Json>), metadata: { cursor: next } }),
  },
};

it.each(Object.entries(lists))('%s ends a run whose side list goes in circles', async (id, { position, withNext }) => {
  const scanner = connectors.find((connector) => connector.id === id) as Scanner;
  const vendor = fakes.find((fake) => fake.id === id) as FakeVendor;
  const fake = await serveFake(
    {
      ...vendor,
      answer: (options) => {
        const handle = vendor.answer(options);
        return async (request) => {
          const response = await handle(request);
          const at = position(request);
          return at === null ? response : { ...response, body: withNext(response.body as Json, NEXT[at] ?? 'A') };
        };
      },
    },
    { pageSize: 10 },
  );
  running.push(fake);
  await expect(collect(scanner, contextOf(scanner, vendor.settings(fake.origin)))).rejects.toMatchObject({
    kind: 'incomplete',
    message: expect.stringContaining('refers to a page that was already read'),
  });
  expect(fake.requests.filter((request) => position(request) !== null).length).toBeLessThanOrEqual(4);
});
