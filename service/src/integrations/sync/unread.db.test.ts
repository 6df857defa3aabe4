import { type FakeVendor, fakes, githubWith } from '@rrs/connectors/fakes';
import { describe, expect, it } from 'vitest';
import { useSyncs } from '../../testing/integrations/syncs.ts';

const syncs = useSyncs();
const dependencyTrackFake = fakes.find(({ id }) => id === 'dependency_track') as FakeVendor;
const githubFake = githubWith();

async function open(connection: string): Promise<number> {
  const { body } = await syncs.ask<{ data: unknown[] }>('GET', `/findings?connection_id=${connection}&status=open&limit=200`);
  return body.data.length;
}

it('a project that becomes forbidden does not end the run, and nothing is closed there', async () => {
  let forbidden = /never/;
  const vendor: FakeVendor = {
    ...dependencyTrackFake,
    answer: (options) => {
      const handle = dependencyTrackFake.answer(options);
      return (request) => (forbidden.test(request.url.pathname) ? { status: 403, body: 'forbidden' } : handle(request));
    },
  };
  const { origin } = await syncs.fake(vendor);
  const id = await syncs.connect(vendor, origin);
  await syncs.sync(id);
  const before = await open(id);
  forbidden = /finding\/project\/.*1$/;
  for (let n = 0; n < 3; n++) {
    const run = await syncs.sync(id, { full: true });
    expect(run).toMatchObject({
      status: 'partial',
      error: { kind: 'credentials', message: expect.stringMatching(/1 part could not be read.*project com\.acme:shop@1\.4\.0/) },
      counts: { received: 22, closed: 0 },
    });
  }
  expect(await open(id)).toBe(before);
  forbidden = /finding\/project/;
  expect(await syncs.sync(id, { full: true })).toMatchObject({ status: 'failed', error: { kind: 'credentials' } });
  expect(await open(id)).toBe(before);
});

describe('a connection with selected kinds of alerts', () => {
  it('remembers its full run, reads changes afterwards, and closes what GitHub reports as fixed without asking', async () => {
    let isRevoked = false;
    const vendor: FakeVendor = {
      ...githubFake,
      answer: (options) => {
        const handle = githubFake.answer(options);
        return async (request) => {
          const { body, ...given } = await handle(request);
          if (!isRevoked || !Array.isArray(body)) return { ...given, ...(body === undefined ? {} : { body }) };
          const fixed = { state: 'resolved', resolution: 'revoked', updated_at: new Date().toISOString() };
          return { ...given, body: body.map((alert) => (alert.number === 0 ? { ...alert, ...fixed } : alert)).sort((a, b) => a.number - b.number) };
        };
      },
    };
    const { origin } = await syncs.fake(vendor, { pageSize: 50 });
    const id = await syncs.connect(vendor, origin, { config: { api_url: origin, organization: 'acme', kinds: ['secret_scanning'] } });
    expect(await syncs.sync(id)).toMatchObject({ status: 'succeeded', mode: 'full' });
    isRevoked = true;
    expect(await syncs.sync(id)).toMatchObject({ status: 'succeeded', mode: 'changes', counts: { closed: 1 } });
  });
});

/** An open alert of one repository, without a location, as for a secret in a comment. */
function inShop({ first_location_detected: _, ...alert }: Record<string, never>) {
  return { ...alert, state: 'open', resolution: null, html_url: `https://github.com/acme/shop/security/secret-scanning/${alert.number}` };
}

it('secrets without a location stay separate findings', async () => {
  const vendor: FakeVendor = {
    ...githubFake,
    answer: (options) => {
      const handle = githubFake.answer(options);
      return async (request) => {
        const { body, ...given } = await handle(request);
        const placeless = Array.isArray(body) ? body.map(inShop) : body;
        return { ...given, ...(placeless === undefined ? {} : { body: placeless }) };
      };
    },
  };
  const { origin } = await syncs.fake(vendor, { pageSize: 50 });
  const id = await syncs.connect(vendor, origin, { config: { api_url: origin, organization: 'acme', kinds: ['secret_scanning'] } });
  expect(await syncs.sync(id)).toMatchObject({ counts: { received: 5, created: 5 } });
});
