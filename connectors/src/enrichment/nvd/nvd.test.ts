import { afterEach, describe, expect, it } from 'vitest';
import type { Enrichment, Json } from '../../core/contract.ts';
import { connectors } from '../../registry.ts';
import { type FakeRequest, type FakeResponse, type FakeVendor, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf, learn } from '../../testing/host.ts';
import { cveOf } from './cve.ts';
import { nvdFake } from './fake.ts';

const nvd = connectors.find(({ id }) => id === 'nvd') as Enrichment;
const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

interface Given {
  vendor?: FakeVendor;
  cursor?: Json;
  scope?: string;
  credentials?: Record<string, string>;
  fault?: Fault;
}

async function run({ vendor = nvdFake, cursor = null, scope = 'all', credentials, fault }: Given) {
  const fake = await serveFake(vendor, { pageSize: 3 }, fault);
  running.push(fake);
  const settings = vendor.settings(fake.origin);
  const context = contextOf(nvd, { config: { ...settings.config, scope }, credentials: credentials ?? settings.credentials });
  const learned = await learn(nvd, { ...context, cursor }, { ids: nvdFake.wanted ?? [], pageSize: 100 });
  return { ...learned, requests: fake.requests, waits: context.waits };
}

describe('changes since the last run', () => {
  it('are requested in windows of at most 120 days, with an overlap', async () => {
    const { requests, items, cursor } = await run({ cursor: { since: '2026-02-01T00:00:00Z' } });
    const windows = [...new Set(requests.map(({ url }) => `${url.searchParams.get('lastModStartDate')} ${url.searchParams.get('lastModEndDate')}`))];
    expect(windows).toEqual([
      '2026-01-31T23:00:00.000+00:00 2026-05-31T23:00:00.000+00:00',
      '2026-05-31T23:00:00.000+00:00 2026-09-28T23:00:00.000+00:00',
      '2026-09-28T23:00:00.000+00:00 2026-11-15T08:00:00.000+00:00',
    ]);
    // One entry every 20 days.
    expect(items.map(({ id }) => id).sort()).toEqual(Array.from({ length: 15 }, (_, n) => `CVE-2025-${10_000 + n}`));
    expect(cursor).toEqual({ since: '2026-11-15T07:59:00.000Z' });
  });

  it('are requested even if the local clock is behind', async () => {
    const { requests } = await run({ cursor: { since: '2026-11-16T00:00:00Z' } });
    expect(requests[0]?.url.searchParams.get('lastModStartDate')).toBe('2026-11-15T07:00:00.000+00:00');
  });

  it('are complete even if an entry leaves its window during the run', async () => {
    const ids = Array.from({ length: 9 }, (_, n) => `CVE-2025-${10_000 + n}`);
    const vendor: FakeVendor = {
      ...nvdFake,
      answer: () => {
        let requested = 0;
        return ({ url }) => {
          const left = ++requested === 1 ? ids : ids.slice(2);
          const from = Number(url.searchParams.get('startIndex'));
          const vulnerabilities = left.slice(from, from + 3).map((id) => ({ cve: { id } }));
          return { body: { startIndex: from, totalResults: left.length, timestamp: '2026-11-15T07:59:00.000', vulnerabilities } };
        };
      },
    };
    const { items, checkpoints } = await run({ vendor, cursor: { since: '2026-11-01T00:00:00Z' } });
    expect([...new Set(items.map(({ id }) => id))]).toEqual(ids);
    expect(new Set(checkpoints.map((checkpoint) => JSON.stringify(checkpoint))).size).toBe(checkpoints.length);
  });
});

describe('a truncated list', () => {
  it('is not complete', async () => {
    const vendor: FakeVendor = { ...nvdFake, answer: (options) => nvdFake.answer({ ...options, endless: true }) };
    await expect(run({ vendor })).rejects.toMatchObject({ kind: 'incomplete', message: 'NVD announced 100000 entries but sent 30.' });
  });
});

describe('the rate limit of NVD', () => {
  it('is a 403 with a wait of 30 seconds', async () => {
    const limited = await run({ fault: { kind: 'status', at: 2, status: 403, for: 2 } });
    expect(limited.waits.filter((ms) => ms >= 30_000)).toHaveLength(2);
    await expect(run({ fault: { kind: 'status', at: 2, status: 403 } })).rejects.toMatchObject({
      kind: 'rate_limited',
      message: expect.stringContaining('403'),
    });
  });

  it('is respected with pauses between requests, longer without a key', async () => {
    const withKey = await run({});
    expect(withKey.waits).toEqual(Array.from({ length: withKey.requests.length - 1 }, () => 1_000));
    expect(withKey.requests.every(({ headers }) => headers.apikey !== undefined)).toBe(true);
    const without = await run({ credentials: {} });
    expect(without.waits).toEqual(Array.from({ length: without.requests.length - 1 }, () => 8_000));
    expect(without.requests.every(({ headers }) => headers.apikey === undefined)).toBe(true);
  });
});

describe('a wrong URL', () => {
  const respondingWith = (answer: FakeResponse): FakeVendor => ({ ...nvdFake, answer: () => (_: FakeRequest) => answer });

  it('is not mistaken for unknown CVEs', async () => {
    await expect(run({ vendor: respondingWith({ status: 404 }), scope: 'wanted' })).rejects.toMatchObject({ kind: 'configuration' });
    await expect(run({ vendor: respondingWith({ status: 404 }) })).rejects.toMatchObject({ kind: 'configuration' });
  });
});

describe('a CVE', () => {
  it('has the scores of NVD first, the newest CVSS version first', () => {
    const metric = (type: string, vectorString: string, baseScore: number): Json => ({ type, cvssData: { vectorString, baseScore } });
    const known = cveOf({
      cve: {
        id: 'CVE-2023-4863',
        metrics: {
          cvssMetricV2: [metric('Primary', 'AV:N/AC:L/Au:N/C:P/I:P/A:P', 7.5)],
          cvssMetricV31: [
            metric('Secondary', 'CVSS:3.1/AV:L/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H', 7.8),
            metric('Primary', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H', 8.8),
          ],
          cvssMetricV40: [metric('Secondary', 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 9.3)],
        },
        weaknesses: [{ description: [{ lang: 'en', value: 'CWE-787' }] }, { description: [{ lang: 'en', value: 'NVD-CWE-noinfo' }] }],
      },
    });
    expect(known?.cvss?.map(({ score }) => score)).toEqual([9.3, 8.8, 7.8, 7.5]);
    expect(known).toMatchObject({ id: 'CVE-2023-4863', cwes: [787] });
    expect(known).not.toHaveProperty('exploitPublic');
  });

  it.each<[string, Json]>([
    ['a reference', { references: [{ url: 'https://x.example', tags: ['Exploit'] }] }],
    ['the SSVC decision of CISA', { metrics: { ssvcV203: [{ ssvcData: { options: [{ exploitation: 'active' }, { automatable: 'no' }] } }] } }],
  ])('has a public exploit according to %s', (_, more) => {
    expect(cveOf({ cve: { id: 'CVE-2023-4863', ...(more as object) } })).toMatchObject({ id: 'CVE-2023-4863', exploitPublic: true });
  });

  it('has the latest SSVC decision of CISA', () => {
    const decision = (timestamp: string, exploitation: string) => ({
      ssvcData: { timestamp, options: [{ exploitation }, { automatable: 'yes' }, { technicalImpact: 'total' }], role: 'CISA Coordinator', version: '2.0.3' },
    });
    const metrics = {
      ssvcV203: [
        decision('2025-02-04T14:25:34.416117Z', 'active'),
        decision('2024-02-04T14:25:34.416117Z', 'poc'),
        { ssvcData: { options: [{ exploitation: 'soon' }] } },
      ],
    };
    expect(cveOf({ cve: { id: 'CVE-2021-44228', metrics } })).toEqual({
      id: 'CVE-2021-44228',
      exploitPublic: true,
      ssvc: { exploitation: 'active', automatable: true, technical_impact: 'total', date: '2025-02-04' },
    });
  });

  it('yields nothing if it was rejected', () => {
    expect(cveOf({ cve: { id: 'CVE-2023-4863', vulnStatus: 'Rejected' } })).toBeNull();
  });
});
