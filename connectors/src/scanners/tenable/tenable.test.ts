import type { Observation } from '@rrs/scan-reports';
import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../core/contract.ts';
import { type FakeRequest, type FakeResponse, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { type Collected, collect, contextOf } from '../../testing/host.ts';
import { tenableFake } from './fake.ts';
import { tenable } from './index.ts';

let fake: RunningFake;
afterEach(() => fake.close());

type Change = (request: FakeRequest, response: FakeResponse) => FakeResponse;

const unchanged: Change = (_, response) => response;

/** The vendor with some responses changed. */
async function started(change: Change = unchanged, options: { pageSize?: number; fault?: Fault } = {}): Promise<void> {
  fake = await serveFake(
    {
      ...tenableFake,
      answer: (options) => {
        const answer = tenableFake.answer(options);
        return async (request) => change(request, await answer(request));
      },
    },
    { pageSize: options.pageSize ?? 10 },
    options.fault,
  );
}

function context(config: Record<string, Json> = {}) {
  const settings = tenableFake.settings(fake.origin);
  return contextOf(tenable, { ...settings, config: { ...settings.config, ...config } });
}

const isStatus = ({ url }: FakeRequest): boolean => /\/vulns\/export\/.+\/status$/.test(url.pathname);
const altered = (response: FakeResponse, change: Record<string, Json>): FakeResponse => ({
  ...response,
  body: { ...(response.body as Record<string, Json>), ...change },
});
const posts = (): unknown[] => fake.requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));
const found = ({ items }: Collected): Observation[] => items.flatMap((item) => ('observation' in item ? [item.observation] : []));

describe('the Tenable export', () => {
  it('states when each host was scanned and whether the scan could log in', async () => {
    await started();
    const { scans, covers } = await collect(tenable, context());
    expect(scans).toHaveLength(covers.length);
    const stated = scans.map(({ asset, finished_at, credentialed }) => [asset.name, finished_at?.toISOString(), credentialed]);
    expect(stated).toContainEqual(['web01.example.com', '2026-11-14T20:00:00.000Z', false]);
    expect(stated).toContainEqual(['web02.example.com', '2026-11-14T20:00:00.000Z', true]);
  });

  it('returns open, accepted and fixed findings like Nessus reports', async () => {
    await started();
    const run = await collect(tenable, context());
    expect(found(run).filter(({ present }) => !present)).toHaveLength(4);
    expect(found(run).filter(({ suppressed }) => suppressed)).toHaveLength(1);
    expect(found(run).find(({ rule }) => rule === '150002')).toMatchObject({
      tool: 'nessus',
      external_id: '20000000-0000-4000-8000-000000000002',
      severity: 'medium',
      tool_severity: 'medium',
      vulnerability_ids: ['CVE-2025-2002'],
      cwes: [79],
      cvss: [{ vector: 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 }],
      asset: { type: 'host', name: 'web02.example.com' },
      location: { component: 'server', version: '1.0', port: 8080, protocol: 'tcp' },
      fix_published_date: '2025-09-08',
    });
    expect(found(run).find(({ rule }) => rule === '150001')).not.toHaveProperty('fix_published_date');
  });

  it('covers every assessed host, with or without findings, under the id in its findings', async () => {
    await started();
    const run = tenable.findings(context());
    const covers = [];
    for (let next = await run.next(); !next.done; next = await run.next()) covers.push(...(next.value.covers ?? []));
    expect(covers.map(({ name }) => name)).toEqual(['web00.example.com', 'web01.example.com', 'web02.example.com', 'web03.example.com']);
    expect(covers[1]?.identifiers).toContainEqual({ kind: 'cloud_id', value: '10000000-0000-4000-8000-000000000001' });
    expect(covers[3]?.identifiers).toContainEqual({ kind: 'cloud_id', value: 'i-0123456789abcdef0' });
    expect(posts().at(-1)).toMatchObject({ filters: { is_licensed: true, is_deleted: false } });
  });

  it('requests changes since the cursor with an overlap and covers nothing', async () => {
    await started();
    const first = await collect(tenable, context());
    expect(posts()[0]).toMatchObject({ filters: { state: ['OPEN', 'REOPENED', 'FIXED'], since: 946_684_800 } });
    expect(first).toMatchObject({ coverage: 'complete', cursor: '2026-11-15T08:00:00.000Z' });
    const next = await collect(tenable, { ...context(), cursor: first.cursor });
    expect(posts().at(-1)).toMatchObject({ filters: { since: Date.UTC(2026, 10, 14, 8) / 1000 } });
    expect(next).toMatchObject({ coverage: 'changes', covers: [] });
    expect(found(next)).toHaveLength(8);
    expect(found(next).filter(({ present }) => !present)).toHaveLength(4);
  });

  it('is never complete with selected severities', async () => {
    await started();
    const run = await collect(tenable, context({ severities: ['high', 'critical'], tags: ['Site:Berlin', 'Site:Bonn', 'Tier:1'] }));
    expect(run).toMatchObject({ coverage: 'changes', covers: [] });
    expect(posts()).toEqual([
      expect.objectContaining({ filters: expect.objectContaining({ severity: ['high', 'critical'], 'tag.Site': ['Berlin', 'Bonn'], 'tag.Tier': ['1'] }) }),
    ]);
  });

  it('adopts an identical running export with its start time', async () => {
    const long = Date.parse('2026-11-15T06:30:00Z');
    await started((request, response) => (isStatus(request) ? altered(response, { created: long }) : response));
    await collect(tenable, context(), 1);
    const run = await collect(tenable, context());
    expect(run).toMatchObject({ coverage: 'complete', cursor: '2026-11-15T06:30:00.000Z' });
    expect(found(run)).toHaveLength(25);
    const jobs = fake.requests.filter(isStatus).map(({ url }) => url.pathname);
    expect(new Set(jobs).size).toBe(1);
  });

  it.each([
    ['failed chunks', { chunks_failed: [2] }, /lost 1 chunks/],
    ['cancelled chunks', { chunks_cancelled: [1, 3] }, /lost 2 chunks/],
    ['an export that failed', { status: 'ERROR', reason: 'out of disk' }, /error.*out of disk/],
    ['chunks that are not listed', { total_chunks: 4 }, /should have 4 chunks but lists 3/],
  ])('is incomplete with %s', async (_, change, message) => {
    await started((request, response) => (isStatus(request) ? altered(response, change) : response));
    await expect(collect(tenable, context())).rejects.toMatchObject({ kind: 'incomplete', message: expect.stringMatching(message) });
  });

  it('is incomplete when a chunk is repeated under another number', async () => {
    await started(unchanged, { fault: { kind: 'repeated', at: 2 } });
    await expect(collect(tenable, context())).rejects.toMatchObject({ kind: 'incomplete' });
  });

  it.each([
    ['has expired', (response: FakeResponse): FakeResponse => ({ ...response, status: 404 })],
    ['was cancelled', (response: FakeResponse): FakeResponse => altered(response, { status: 'CANCELLED' })],
  ])('starts a new export when the previous one %s', async (_, lose) => {
    const lost = new Set<string>();
    await started((request, response) => (lost.has(request.url.pathname.split('/')[3] ?? '') ? lose(response) : response));
    const { checkpoints } = await collect(tenable, context(), 2);
    const checkpoint = checkpoints.at(-1) as { id: string; done: string };
    expect(checkpoint.done).toBe('2');
    lost.add(checkpoint.id);
    const run = await collect(tenable, { ...context(), checkpoint });
    expect(run.coverage).toBe('complete');
    expect(found(run)).toHaveLength(25);
    expect(checkpoints).not.toContainEqual(run.checkpoints[0]);
  });

  it('stores the chunks that were read as ranges', async () => {
    await started(unchanged, { pageSize: 1 });
    const { checkpoints } = await collect(tenable, context());
    expect(checkpoints.filter((checkpoint) => (checkpoint as { export: string }).export === 'vulns').at(-1)).toMatchObject({ done: '1-25' });
  });
});
