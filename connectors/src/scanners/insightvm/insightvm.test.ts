import type { Asset, Observation } from '@rrs/scan-reports';
import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../core/contract.ts';
import { type FakeRequest, type FakeResponse, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { type Collected, collect, contextOf } from '../../testing/host.ts';
import { insightvmFake } from './fake.ts';
import { insightvm } from './index.ts';

let fake: RunningFake;
afterEach(() => fake.close());

type Change = (request: FakeRequest, response: FakeResponse) => FakeResponse;
const unchanged: Change = (_, response) => response;

async function started(change: Change = unchanged, fault?: Fault): Promise<void> {
  const answer: typeof insightvmFake.answer = (options) => {
    const original = insightvmFake.answer(options);
    return async (request) => change(request, await original(request));
  };
  fake = await serveFake({ ...insightvmFake, answer }, { pageSize: 10 }, fault);
}

function context(config: Record<string, Json> = {}) {
  const settings = insightvmFake.settings(fake.origin);
  return contextOf(insightvm, { ...settings, config: { ...settings.config, ...config } });
}

const isAssets = ({ url }: FakeRequest): boolean => url.pathname.endsWith('/assets');
const found = ({ items }: Collected): Observation[] => items.flatMap((item) => ('observation' in item ? [item.observation] : []));
const of = (run: Collected, rule: string): Observation | undefined => found(run).find((one) => one.rule === rule);

async function covered(): Promise<Asset[]> {
  const run = insightvm.findings(context());
  const covers: Asset[] = [];
  for (let next = await run.next(); !next.done; next = await run.next()) covers.push(...(next.value.covers ?? []));
  return covers;
}

/** A response with modified assets. */
function alteredAssets(response: FakeResponse, change: (asset: Record<string, Json>) => Json): FakeResponse {
  const body = response.body as { data: Record<string, Json>[] };
  return { ...response, body: { ...body, data: body.data.map(change) } };
}

describe('InsightVM', () => {
  it('adds the definition of each vulnerability, requested once', async () => {
    await started();
    const run = await collect(insightvm, context());
    expect(of(run, 'acme-cve-2025-4003')).toMatchObject({
      tool: 'nexpose',
      external_id: '8babcdef-5678-4678-8234-cabcdef0123e-default-asset-01|acme-cve-2025-4003|443|tcp||',
      title: 'Acme: CVE-2025-4003: Weakness',
      description: 'Description.\n\nVulnerable software installed: Acme 1.0',
      solution: 'Upgrade Acme\n\nDownload it from here.',
      severity: 'critical',
      tool_severity: 'critical',
      vulnerability_ids: ['CVE-2025-4003'],
      cwes: [79],
      cvss: [
        { vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 },
        { vector: 'AV:N/AC:L/Au:N/C:P/I:N/A:N', score: 5 },
      ],
      location: { port: 443, protocol: 'tcp' },
      tags: ['Acme', 'Web'],
    });
    expect(of(run, 'acme-cve-2025-4004')).toMatchObject({ severity: 'high', location: { resource: '/opt/acme/lib1.jar' } });
    const requested = fake.requests.filter(({ url }) => url.pathname.endsWith('/vulnerabilities')).flatMap(({ body }) => body.match(/acme-cve-\d+-\d+/g) ?? []);
    expect(requested).toHaveLength(24);
    expect(new Set(requested).size).toBe(24);
  });

  it('reports exceptions as suppressed and marks potential findings', async () => {
    await started();
    const run = await collect(insightvm, context());
    expect(found(run).filter(({ suppressed }) => suppressed)).toEqual([expect.objectContaining({ rule: 'acme-cve-2025-4013', present: true })]);
    expect(of(run, 'acme-cve-2025-4016')?.tags).toContain('potential');
  });

  it('covers assessed assets with all their identifiers', async () => {
    await started();
    const covers = await covered();
    expect(covers).toHaveLength(13);
    expect(covers[2]).toEqual({
      type: 'host',
      name: '192.0.2.12',
      identifiers: [
        { kind: 'ip', value: '192.0.2.12' },
        { kind: 'mac', value: '00:00:5e:00:53:12' },
        { kind: 'cloud_id', value: '8babcdef-5678-4678-8234-cabcdef0123e-default-asset-02' },
        { kind: 'agent_id', value: 'cababcdefabcd0123456789f16d70612' },
      ],
    });
  });

  it('does not cover an asset whose findings are counted but not listed', async () => {
    await started((request, response) => (isAssets(request) ? alteredAssets(response, ({ same: _, ...asset }) => asset) : response));
    expect((await covered()).map(({ name }) => name)).toEqual(['app12.example.com']);
  });

  it('requests changes on recently scanned assets together with unchanged findings', async () => {
    await started();
    const run = await collect(insightvm, { ...context({ asset_filter: "sites IN ['berlin']" }), cursor: '2026-11-15T08:00:00.000Z' });
    expect(run).toMatchObject({ coverage: 'changes', covers: [], cursor: '2026-11-15T08:00:00.000Z' });
    const [first] = fake.requests.filter(isAssets);
    expect(JSON.parse(first?.body ?? '')).toEqual({ asset: "(sites IN ['berlin']) && last_scan_end > 2026-11-14T08:00:00.000Z" });
    expect(Object.fromEntries(first?.url.searchParams ?? [])).toMatchObject({ includeSame: 'true', comparisonTime: '2026-11-14T08:00:00.000Z' });
    expect(found(run).filter(({ present }) => present)).toHaveLength(6);
    expect(
      found(run)
        .filter(({ present }) => !present)
        .map(({ rule }) => rule),
    ).toEqual(['acme-cve-2025-4029']);
  });

  it.each([
    ['new', 'NOT_VULNERABLE', { present: false, suppressed: false }],
    ['same', 'SUPERSEDED', { present: false, suppressed: false }],
    ['same', 'UNEXPECTED_ERR', { present: true, suppressed: false }],
    ['remediated', 'VULNERABLE_VERS', { present: false, suppressed: false }],
    ['remediated', 'EXCEPTION_VULN_EXPL', { present: true, suppressed: true }],
  ])('maps a finding in %s with the status %s', async (list, status, expected) => {
    const one = { vulnerability_id: 'x', status, key: '', port: null, protocol: null };
    await started((request, response) => (isAssets(request) ? alteredAssets(response, ({ id }) => ({ id: id ?? null, [list]: [one] })) : response));
    const run = await collect(insightvm, context());
    expect(found(run)).toHaveLength(14);
    expect(found(run)[0]).toMatchObject(expected);
  });

  it('is incomplete when a page is repeated', async () => {
    await started(unchanged, { kind: 'repeated', at: 2 });
    await expect(collect(insightvm, context())).rejects.toMatchObject({ kind: 'incomplete' });
  });
});
