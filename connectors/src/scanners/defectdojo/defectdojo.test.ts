import { afterEach, expect, it } from 'vitest';
import type { Settings } from '../../core/contract.ts';
import { type FakeOptions, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { defectdojoFake } from './fake.ts';
import { defectdojo } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function run(given: { config?: Record<string, unknown>; cursor?: string; options?: Partial<FakeOptions>; fault?: Fault } = {}) {
  const { config = {}, cursor = null, options = {}, fault } = given;
  const fake = await serveFake(defectdojoFake, { pageSize: 10, ...options }, fault);
  running.push(fake);
  const { credentials } = defectdojoFake.settings(fake.origin);
  const context = contextOf(defectdojo, { config: { api_url: fake.origin, ...config }, credentials } as Settings);
  const collected = await collect(defectdojo, { ...context, cursor });
  return { ...collected, observations: collected.items.flatMap((item) => ('observation' in item ? [item.observation] : [])) };
}

it('reads findings of products, of web applications and of hosts', async () => {
  const { observations, covers } = await run();
  const of = (id: string) => observations.find(({ external_id }) => external_id === id);
  expect(of('1')).toMatchObject({
    tool: 'acme scan',
    rule: 'CVE-2025-5000',
    severity: 'critical',
    vulnerability_ids: ['CVE-2025-5000'],
    cwes: [79],
    references: ['https://example.com/advice', 'https://example.org/more'],
    asset: { type: 'other', name: 'Shop' },
    location: { component: 'lib0', version: '1.0.0', fixed_version: '2.0.0' },
    first_seen: new Date('2026-09-01T00:00:00Z'),
    present: true,
    suppressed: false,
  });
  expect(of('2')).toMatchObject({ rule: 'rule-1', asset: { name: 'Site' }, location: { path: 'src/file1.py', line: 7 } });
  expect(of('3')).toMatchObject({ asset: { type: 'web_application', name: 'https://shop.example.com' }, location: { url: 'https://shop.example.com/login' } });
  expect(of('4/8')).toMatchObject({ asset: { type: 'host', identifiers: [{ kind: 'ip', value: '10.0.0.8' }] }, location: { port: 8443 } });
  expect(covers).toEqual(['other Shop', 'other Site', 'other Tools']);
});

it('distinguishes fixed, accepted, false positive and duplicate findings', async () => {
  const { observations } = await run();
  const state = (id: string) => observations.filter(({ external_id }) => external_id === id).map(({ present, suppressed }) => ({ present, suppressed }));
  expect(state('3')).toEqual([{ present: false, suppressed: false }]);
  expect(state('4')).toEqual([{ present: true, suppressed: true }]);
  expect(state('5')).toEqual([{ present: true, suppressed: true }]);
  expect(state('21')).toEqual([]);
});

it('requests only changes since the last run', async () => {
  const { observations, coverage, covers } = await run({ cursor: '2026-10-24T08:30:00Z', options: { pageSize: 2 } });
  // The last one was edited without a change of its status.
  expect(observations.map(({ external_id }) => external_id)).toEqual(['1', '26', '25', '8', '8/8']);
  expect({ coverage, covers }).toEqual({ coverage: 'changes', covers: [] });
});

it('reads the configured products and reports a missing one', async () => {
  const { covers, observations } = await run({ config: { product_ids: [2] } });
  expect(covers).toEqual(['other Site']);
  expect(new Set(observations.map(({ external_id }) => (Number.parseInt(external_id ?? '', 10) - 1) % 3))).toEqual(new Set([1]));
  await expect(run({ config: { product_ids: [2, 77] } })).rejects.toMatchObject({ kind: 'configuration', message: expect.stringContaining('no product 77') });
});

it('is incomplete when pages repeat or never end', async () => {
  await expect(run({ fault: { kind: 'repeated', at: 2 } })).rejects.toMatchObject({ kind: 'incomplete' });
  await expect(run({ options: { endless: true } })).rejects.toMatchObject({ kind: 'incomplete' });
});

it('is incomplete when the list shifts between two pages and its length stays the same', async () => {
  await expect(run({ options: { shifts: true } })).rejects.toMatchObject({
    kind: 'incomplete',
    message: expect.stringContaining('The findings of DefectDojo changed'),
  });
});

it('states when each product was scanned, by the tool whose last scan is the earliest', async () => {
  const { scans, partiallyCovers } = await run();
  const of = (name: string) => [...new Set(scans.filter(({ asset }) => asset.name === name).map(({ finished_at }) => finished_at?.toISOString()))];
  expect(of('Shop')).toEqual(['2026-11-12T08:00:00.000Z']);
  expect(of('Site')).toEqual(['2026-11-14T08:00:00.000Z']);
  expect(of('https://shop.example.com').length).toBeGreaterThan(0);
  expect(partiallyCovers).toEqual(['other Empty']);
});
