import { afterEach, describe, expect, it } from 'vitest';
import type { Enrichment, Json } from '../../core/contract.ts';
import { connectors } from '../../registry.ts';
import { type FakeResponse, type FakeVendor, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf, learn } from '../../testing/host.ts';
import { githubAdvisoriesFake } from './fake.ts';

const github = connectors.find(({ id }) => id === 'github_advisories') as Enrichment;
const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

interface Given {
  vendor?: FakeVendor;
  cursor?: Json;
  config?: Record<string, Json>;
  credentials?: Record<string, string>;
  fault?: Fault;
}

async function run({ vendor = githubAdvisoriesFake, cursor = null, config = {}, credentials, fault }: Given) {
  const fake = await serveFake(vendor, { pageSize: 10 }, fault);
  running.push(fake);
  const settings = vendor.settings(fake.origin);
  const context = contextOf(github, { config: { ...settings.config, ...config }, credentials: credentials ?? settings.credentials });
  const learned = await learn(github, { ...context, cursor }, { ids: [], pageSize: 10 });
  return { ...learned, requests: fake.requests, waits: context.waits };
}

const respondingWith = (answer: FakeResponse): FakeVendor => ({ ...githubAdvisoriesFake, answer: () => () => answer });

describe('GitHub advisories', () => {
  it('have the CVE as id and the GHSA id as alias', async () => {
    const { items } = await run({});
    expect(items.find(({ id }) => id === 'CVE-2025-10001')).toEqual({
      id: 'CVE-2025-10001',
      aliases: ['GHSA-5555-6666-7732'],
      cwes: [79],
      cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 }],
    });
    expect(items.find(({ id }) => id === 'GHSA-5555-6666-7722')).not.toHaveProperty('aliases');
  });

  it('are left out if withdrawn', async () => {
    expect((await run({})).items.flatMap(({ id, aliases = [] }) => [id, ...aliases])).not.toContain('CVE-2025-10003');
  });

  it('are read from the last change of each type on', async () => {
    const first = await run({});
    expect(first.cursor).toEqual({ reviewed: '2026-11-14T08:00:00.000Z' });
    const { items, requests, cursor } = await run({ cursor: first.cursor, config: { include_unreviewed: true } });
    expect(requests.map(({ url }) => `${url.searchParams.get('type')} ${url.searchParams.get('updated')}`)).toEqual([
      'reviewed >=2026-11-14T08:00:00.000Z',
      'unreviewed null',
      'unreviewed null',
    ]);
    expect(items.length).toBe(1 + 12);
    expect(cursor).toEqual({ reviewed: '2026-11-14T08:00:00.000Z', unreviewed: '2026-11-14T08:00:00.000Z' });
  });

  it('can be read without a token', async () => {
    const { requests, items } = await run({ credentials: {} });
    expect(requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    expect(items.length).toBeGreaterThan(20);
  });

  it('are paged by the cursor of the link, whatever host it names', async () => {
    const vendor: FakeVendor = {
      ...githubAdvisoriesFake,
      answer: () => {
        let requested = 0;
        return () => ({ body: [], ...(++requested === 1 ? { headers: { link: '<https://elsewhere.example/advisories?after=xyz>; rel="next"' } } : {}) });
      },
    };
    const { requests } = await run({ vendor });
    expect(requests.map(({ url }) => url.searchParams.get('after'))).toEqual([null, 'xyz']);
  });
});

describe('the rate limit of GitHub', () => {
  const limited = (seconds: number): Record<string, string> => {
    const now = new Date('2026-11-15T08:00:00Z');
    return { date: now.toUTCString(), 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now.getTime() / 1000 + seconds) };
  };

  it('is waited for by the clock of GitHub', async () => {
    const { waits } = await run({ fault: { kind: 'status', at: 2, status: 403, headers: limited(480), for: 1 } });
    expect(waits).toEqual([480_000]);
  });

  it('is waited for as long as Retry-After says', async () => {
    const { waits } = await run({ fault: { kind: 'status', at: 2, status: 403, headers: { 'retry-after': '61' }, for: 1 } });
    expect(waits).toEqual([61_000]);
  });

  it('ends the run if the wait is too long', async () => {
    await expect(run({ fault: { kind: 'status', at: 2, status: 403, headers: limited(3_000) } })).rejects.toMatchObject({ kind: 'rate_limited' });
  });

  it('is not assumed for other 403 responses', async () => {
    await expect(run({ vendor: respondingWith({ status: 403, body: { message: 'Forbidden' } }) })).rejects.toMatchObject({ kind: 'credentials' });
  });
});
