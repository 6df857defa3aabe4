import type { Asset, Observation } from '@rrs/scan-reports';
import { afterEach, describe, expect, it } from 'vitest';
import type { Json } from '../../core/contract.ts';
import { type FakeRequest, type FakeResponse, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { type Collected, collect, contextOf } from '../../testing/host.ts';
import { qualysFake } from './fake.ts';
import { qualys } from './index.ts';

let fake: RunningFake;
afterEach(() => fake.close());

type Change = (request: FakeRequest, response: FakeResponse) => FakeResponse;
const unchanged: Change = (_, response) => response;

async function started(change: Change = unchanged, fault?: Fault): Promise<void> {
  const answer: typeof qualysFake.answer = (options) => {
    const original = qualysFake.answer(options);
    return async (request) => change(request, await original(request));
  };
  fake = await serveFake({ ...qualysFake, answer }, { pageSize: 10 }, fault);
}

function context(config: Record<string, Json> = {}) {
  const settings = qualysFake.settings(fake.origin);
  return contextOf(qualys, { ...settings, config: { ...settings.config, ...config } });
}

const isList = ({ url }: FakeRequest): boolean => url.pathname.endsWith('/detection/');
const requested = (end: string): URLSearchParams[] => fake.requests.filter(({ url }) => url.pathname.endsWith(end)).map(({ url }) => url.searchParams);
const found = ({ items }: Collected): Observation[] => items.flatMap((item) => ('observation' in item ? [item.observation] : []));

describe('Qualys', () => {
  it('states when each host was scanned and whether the scan could log in', async () => {
    await started();
    const { scans, covers } = await collect(qualys, context());
    const stated = scans.filter(({ finished_at }) => finished_at !== undefined);
    expect(stated).toHaveLength(covers.length);
    for (const scan of stated) expect(scan).toMatchObject({ finished_at: new Date('2026-11-14T08:00:00Z'), credentialed: true, asset: { type: 'host' } });
  });

  it('adds details from the knowledge base, requested once per QID', async () => {
    await started();
    const run = await collect(qualys, context());
    expect(found(run).find(({ external_id: id }) => id === '8000000')).toMatchObject({
      tool: 'qualys',
      rule: '90000',
      title: 'Weakness 90000',
      description: 'It is weak.\nVery.\n\nData leak.\n\nPackage\tInstalled Version\nlib0\t1.0',
      solution: 'Upgrade.',
      severity: 'info',
      tool_severity: '1',
      vulnerability_ids: ['CVE-2025-4000'],
      cvss: [
        { vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 },
        { vector: 'AV:N/AC:L/Au:N/C:P/I:N/A:N/E:U/RL:OF/RC:C', score: 5 },
      ],
      references: ['https://acme.example/ADV-1'],
      location: { port: 8000, protocol: 'tcp' },
      tags: ['Local', 'potential'],
    });
    expect(
      found(run)
        .filter(({ suppressed }) => suppressed)
        .map(({ external_id: id }) => id),
    ).toHaveLength(1);
    const ids = requested('/knowledge_base/vuln/').flatMap((query) => query.get('ids')?.split(',') ?? []);
    expect(ids.sort()).toEqual([...new Set(ids)].sort());
  });

  it('leaves a detection unchanged if the knowledge base has no entry', async () => {
    const empty = '<KNOWLEDGE_BASE_VULN_LIST_OUTPUT><RESPONSE><DATETIME/></RESPONSE></KNOWLEDGE_BASE_VULN_LIST_OUTPUT>';
    await started((request, response) => (request.url.pathname.includes('knowledge_base') ? { body: empty } : response));
    const run = await collect(qualys, context());
    expect(found(run).length).toBeGreaterThan(20);
    expect(found(run).every(({ rule, title }) => title === `QID ${rule}`)).toBe(true);
  });

  it('reads informational detections if configured', async () => {
    await started();
    const informational = ({ items }: Collected): number => found({ items } as Collected).filter(({ external_id: id }) => id === '8000033').length;
    expect(informational(await collect(qualys, context()))).toBe(0);
    expect(informational(await collect(qualys, context({ include_information: true })))).toBe(1);
  });

  it('covers scanned hosts under the names in their detections', async () => {
    await started();
    const run = qualys.findings(context());
    const covers: Asset[] = [];
    const assets: Asset[] = [];
    for (let next = await run.next(); !next.done; next = await run.next()) {
      covers.push(...(next.value.covers ?? []));
      assets.push(...next.value.items.flatMap((item) => ('observation' in item && item.observation.asset ? [item.observation.asset] : [])));
    }
    expect(covers.map(({ name }) => name)).toEqual(Array.from({ length: 14 }, (_, host) => `srv${host}.example.com`));
    for (const asset of assets) expect(covers).toContainEqual(asset);
  });

  it('requests changes including fixed detections and accepts an empty response', async () => {
    await started();
    const cursor = '2026-11-15T08:00:00.000Z';
    const run = await collect(qualys, { ...context(), cursor });
    expect(run).toMatchObject({ coverage: 'changes', covers: [], cursor });
    expect(requested('/detection/')[0]?.get('detection_updated_since')).toBe('2026-11-15T07:00:00Z');
    expect(found(run)).toHaveLength(7);
    expect(found(run).filter(({ present }) => !present)).toHaveLength(2);
    await fake.close();
    await started((request, response) => (isList(request) ? { body: '' } : response));
    expect(await collect(qualys, { ...context(), cursor })).toMatchObject({ coverage: 'changes', items: [] });
    await expect(collect(qualys, context())).rejects.toMatchObject({ kind: 'invalid_answer' });
  });

  it('is never complete with selected severities', async () => {
    await started();
    const run = await collect(qualys, context({ severities: [4, 5], tags: ['Production', 'Shop'] }));
    expect(run).toMatchObject({ coverage: 'changes', covers: [] });
    expect(Object.fromEntries(requested('/detection/')[0] ?? [])).toMatchObject({
      severities: '4,5',
      tag_set_include: 'Production,Shop',
      status: 'New,Active,Re-Opened,Fixed',
    });
    expect(new Set(found(run).map(({ severity }) => severity))).toEqual(new Set(['high', 'critical']));
  });

  it.each([
    ['the time in the header', { 'x-ratelimit-towait-sec': '123' }, 123_000],
    ['one minute for a concurrency limit', { 'x-ratelimit-towait-sec': '0', 'x-concurrency-limit-running': '2' }, 60_000],
  ])('waits %s', async (_, headers, ms) => {
    await started(unchanged, { kind: 'status', at: 2, status: 409, headers, for: 1 });
    const driven = context();
    expect((await collect(qualys, driven)).coverage).toBe('complete');
    expect(driven.waits).toEqual([ms]);
  });

  it('is incomplete when a list refers back or has no next position', async () => {
    await started(unchanged, { kind: 'repeated', at: 2 });
    await expect(collect(qualys, context())).rejects.toMatchObject({ kind: 'incomplete' });
    await fake.close();
    await started((request, response) => (isList(request) ? { ...response, body: String(response.body).replace(/<URL>.*<\/URL>/, '') } : response));
    await expect(collect(qualys, context())).rejects.toMatchObject({ kind: 'incomplete' });
  });

  it.each([
    [999, 'unavailable'],
    [1965, 'rate_limited'],
    [2000, 'credentials'],
    [1905, 'configuration'],
  ])('recognizes error %d in a response with the status 200', async (code, kind) => {
    const body = `<SIMPLE_RETURN><RESPONSE><CODE>${code}</CODE><TEXT>parameter is not valid</TEXT></RESPONSE></SIMPLE_RETURN>`;
    await started((request, response) => (isList(request) ? { body } : response));
    await expect(collect(qualys, context())).rejects.toMatchObject({ kind, message: expect.stringContaining('parameter is not valid') });
  });

  it('retries when Qualys asks for it in a response with the status 200', async () => {
    let failures = 2;
    const body = '<SIMPLE_RETURN><RESPONSE><CODE>999</CODE><TEXT>Internal error, please try again later</TEXT></RESPONSE></SIMPLE_RETURN>';
    await started((request, response) => (isList(request) && failures-- > 0 ? { body } : response));
    expect((await collect(qualys, context())).coverage).toBe('complete');
  });
});
