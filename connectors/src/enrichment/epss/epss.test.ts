import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { Enrichment, Json } from '../../core/contract.ts';
import { connectors } from '../../registry.ts';
import { type FakeRequest, type FakeResponse, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf, learn } from '../../testing/host.ts';
import { epssFake } from './fake.ts';

const epss = connectors.find(({ id }) => id === 'epss') as Enrichment;
const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

const HEAD = '#model_version:v2026.06.15,score_date:2026-11-14T12:00:27Z\ncve,epss,percentile\n';
const rows = (count: number): string => Array.from({ length: count }, (_, n) => `CVE-2025-${10_000 + n},0.5,0.25\n`).join('');

/** Runs against a vendor that sends these responses in order and repeats the last one. */
async function scores(responses: readonly FakeResponse[], { cursor = null, mode = 'csv', wanted = [] as string[] } = {} as Partial<RunOptions>) {
  let next = 0;
  const fake = await serveFake({ ...epssFake, answer: () => () => responses[Math.min(next++, responses.length - 1)] ?? {} }, { pageSize: 10 });
  running.push(fake);
  const { config, credentials } = epssFake.settings(fake.origin);
  const context = contextOf(epss, { config: { ...config, mode }, credentials }, { requestMs: 300 });
  return { ...(await learn(epss, { ...context, cursor }, { ids: wanted, pageSize: 1_000 })), requests: fake.requests as readonly FakeRequest[] };
}
interface RunOptions {
  cursor: Json;
  mode: string;
  wanted: string[];
}

describe('the daily file', () => {
  it('may be uncompressed and use the older time format', async () => {
    const body = `#model_version:v2023.03.01,score_date:2024-09-04T00:00:00+0000\r\ncve,epss,percentile\r\nCVE-1999-0001,0.03351,0.8762\r\n`;
    const run = await scores([{ body }]);
    expect(run.items).toEqual([{ id: 'CVE-1999-0001', epss: { score: 0.03351, percentile: 0.8762, date: '2024-09-04' } }]);
    expect(run).toMatchObject({ asOf: '2024-09-04', cursor: { at: '2024-09-04T00:00:00.000Z', rows: 1, model: 'v2023.03.01' } });
  });

  it.each([
    ['another column', `${HEAD.replace('percentile', 'rank')}${rows(3)}`],
    ['no model line', `cve,epss,percentile\n${rows(3)}`],
    ['no date', `${HEAD.replace('2026-11-14T12:00:27Z', 'today')}${rows(3)}`],
    ['no scores', HEAD],
    ['a truncated last line', `${HEAD}${rows(3)}CVE-2025-1,0.5,0.2`],
    ['an endless line', `${HEAD}${'x'.repeat(5_000)}`],
    ['truncated gzip data', gzipSync(`${HEAD}${rows(3_000)}`).subarray(0, -20)],
  ])('is refused with %s', async (_, body) => {
    await expect(scores([{ body }])).rejects.toMatchObject({ kind: 'invalid_answer' });
  });

  it('is refused when it shrank or is older than the last one', async () => {
    const body = gzipSync(`${HEAD}${rows(89)}`);
    await expect(scores([{ body }], { cursor: { at: '2026-11-13T12:00:00Z', rows: 100 } })).rejects.toMatchObject({ kind: 'incomplete' });
    await expect(scores([{ body }], { cursor: { at: '2026-11-15T12:00:00Z', rows: 89 } })).rejects.toMatchObject({ kind: 'incomplete' });
    expect((await scores([{ body }], { cursor: { at: '2026-11-13T12:00:00Z', rows: 98 } })).items).toHaveLength(89);
  });

  it('returns nothing if it was read before', async () => {
    const body = gzipSync(`${HEAD}${rows(50)}`);
    const first = await scores([{ body }]);
    const again = await scores([{ body }], { cursor: first.cursor });
    expect(again).toMatchObject({ items: [], asOf: '2026-11-14', cursor: first.cursor });
  });

  it('is downloaded completely before it is returned, in one batch', async () => {
    const body = `${HEAD}${rows(5_000)}`;
    const broken = { body: body.slice(0, 100_000), headers: { 'content-length': String(body.length) } };
    const run = await scores([broken, { body }]);
    expect(run.items.map(({ id }) => id)).toEqual(Array.from({ length: 5_000 }, (_, n) => `CVE-2025-${10_000 + n}`));
    expect(run.checkpoints).toHaveLength(1);
    expect(run.requests).toHaveLength(2);
  });

  it('that is a web page is named as such', async () => {
    await expect(scores([{ body: '<!doctype html><title>Sign in</title>' }])).rejects.toMatchObject({
      kind: 'invalid_answer',
      message: expect.stringContaining('is a web page'),
    });
  });

  it('fails as unavailable if it is never complete', async () => {
    await expect(scores([{ body: HEAD, headers: { 'content-length': '9999' } }])).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('the API', () => {
  const body = (...data: Json[]): FakeResponse => ({ body: { status: 'OK', total: data.length, offset: 0, limit: 100, data } });

  it('is queried only for CVEs, within its limits', async () => {
    const wanted = ['GHSA-2222-3333-4444', ...Array.from({ length: 250 }, (_, n) => `CVE-2025-${String(n).padStart(19, '1')}`)];
    const run = await scores([body()], { mode: 'api', wanted });
    const requested = run.requests.map(({ url }) => url.searchParams.get('cve') ?? '');
    expect(requested.flatMap((list) => list.split(','))).toEqual(wanted.slice(1).sort());
    expect(requested.every((list) => list.length <= 2_000)).toBe(true);
    expect(requested.length).toBeLessThan(5);
    expect(run.asOf).toBe('2026-11-15');
  });

  it('is not queried if no finding has a CVE', async () => {
    expect((await scores([body()], { mode: 'api', wanted: ['SNYK-JS-LIB-1'] })).requests).toEqual([]);
  });

  const row = { cve: 'CVE-2025-0001', epss: '0.000450000', percentile: '0.163230000', date: '2026-11-14' };

  it.each<[string, string, FakeResponse[]]>([
    ['a CVE that was not requested', 'invalid_answer', [body({ ...row, cve: 'CVE-2025-0003' })]],
    ['more scores than there are CVEs', 'invalid_answer', [body(row, row, row)]],
    ['fewer scores than announced', 'incomplete', [{ body: { total: 2, offset: 0, data: [row] } }, { body: { total: 2, offset: 1, data: [] } }]],
  ])('fails when it returns %s', async (_, kind, responses) => {
    const message = expect.stringContaining('FIRST');
    await expect(scores(responses, { mode: 'api', wanted: ['CVE-2025-0001', 'CVE-2025-0002'] })).rejects.toMatchObject({ kind, message });
  });

  it('parses numbers from strings and rejects invalid ones', async () => {
    const run = await scores([body(row, { ...row, percentile: '1.5' })], { mode: 'api', wanted: ['CVE-2025-0001', 'CVE-2025-0002'] });
    expect(run.items).toEqual([{ id: 'CVE-2025-0001', epss: { score: 0.00045, percentile: 0.16323, date: '2026-11-14' } }]);
    expect(run.rejected).toEqual([{ place: expect.stringContaining('row 2'), reason: 'percentile is not a number from 0 to 1' }]);
  });
});
