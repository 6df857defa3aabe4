import { afterEach, expect, it } from 'vitest';
import type { Settings } from '../../core/contract.ts';
import { type FakeVendor, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { sonarqubeFake, sonarqubeVendor } from './fake.ts';
import { sonarqube } from './index.ts';
import { positionAfter, startOf } from './position.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function run(
  config: Record<string, unknown>,
  vendor: FakeVendor,
  { pageSize = 5, shifts = false, fault }: { pageSize?: number; shifts?: boolean; fault?: Fault } = {},
) {
  const fake = await serveFake(vendor, { pageSize, shifts }, fault);
  running.push(fake);
  const { credentials } = vendor.settings(fake.origin);
  const context = contextOf(sonarqube, { config: { api_url: fake.origin, ...config }, credentials } as Settings);
  const collected = await collect(sonarqube, context);
  return { ...collected, observations: collected.items.flatMap((item) => ('observation' in item ? [item.observation] : [])), requests: fake.requests };
}

it('reads vulnerabilities with the names of their rules, and hotspots', async () => {
  const { observations, covers } = await run({}, sonarqubeFake);
  const of = (id: string) => observations.find(({ external_id }) => external_id === id);
  expect(of('AX-0')).toMatchObject({
    tool: 'sonarqube',
    rule: 'typescript:S5000',
    title: 'Rule 0',
    severity: 'critical',
    tool_severity: 'BLOCKER',
    asset: { type: 'repository', name: 'acme:shop' },
    location: { path: 'src/file0.ts', line: 1, end_line: 2 },
    present: true,
    suppressed: false,
  });
  expect(of('AX-2')).toMatchObject({ present: false });
  expect(of('AX-3')).toMatchObject({ present: true, suppressed: true });
  expect(of('HS-1')).toMatchObject({ severity: 'medium', present: true, suppressed: true, tags: expect.arrayContaining(['security_hotspot']) });
  expect(covers).toEqual(['acme:empty', 'acme:shop', 'acme:site', 'acme:tools'].map((key) => `repository ${key}`));
});

it('reads only the configured projects', async () => {
  const { covers, observations } = await run({ projects: ['acme:site'] }, sonarqubeFake);
  expect(covers).toEqual(['repository acme:site']);
  expect(new Set(observations.map(({ asset }) => asset?.name))).toEqual(new Set(['acme:site']));
  await expect(run({ projects: ['acme:gone'] }, sonarqubeFake)).rejects.toMatchObject({ kind: 'configuration' });
});

it('reads more than 10,000 results of a project', async () => {
  const { observations, coverage, requests } = await run({ projects: ['acme:shop'] }, sonarqubeVendor(10_700, 1), { pageSize: 500 });
  expect(new Set(observations.map(({ external_id }) => external_id)).size).toBe(10_700 + 3);
  expect(coverage).toBe('complete');
  expect(requests.filter(({ url }) => url.searchParams.has('createdAfter') && url.searchParams.get('ps') === '500')).toHaveLength(2);
});

it('reports when it cannot read past 10,000 results', () => {
  const at = { ...startOf('acme:shop'), page: 20, total: 12_000 };
  const paging = { pageIndex: 20, pageSize: 500, total: 12_000 };
  const last = { count: 500, lastCreated: '2026-01-01T00:00:00+0000', lastKey: 'AX-1' };
  expect(positionAfter(at, paging, last)).toEqual({ ...startOf('acme:shop'), since: '2026-01-01T00:00:00+0000' });
  expect(() => positionAfter({ ...at, since: last.lastCreated }, paging, last)).toThrow(/more than 10000 vulnerabilities with the same creation time/);
  expect(() => positionAfter({ ...at, part: 'hotspots' }, paging, last)).toThrow(/12000 hotspots/);
  expect(() => positionAfter(at, { ...paging, total: 11_999 }, last)).toThrow(/removed during the run/);
  expect(() => positionAfter(at, paging, { ...last, count: 0 })).toThrow(/page 20 was empty/);
});

it('is incomplete when a page is repeated', async () => {
  await expect(run({ projects: ['acme:shop'] }, sonarqubeFake, { fault: { kind: 'repeated', at: 2 } })).rejects.toMatchObject({ kind: 'incomplete' });
});

it('is incomplete when the list shifts between two pages and its length stays the same', async () => {
  await expect(run({ projects: ['acme:shop'] }, sonarqubeFake, { shifts: true })).rejects.toMatchObject({
    kind: 'incomplete',
    message: expect.stringContaining('The issues of acme:shop changed'),
  });
});

it('continues without a project that is gone', async () => {
  const { unread, covers, observations } = await run({ projects: ['acme:gone', 'acme:site'] }, sonarqubeFake);
  expect(unread).toMatchObject([{ what: 'project acme:gone', kind: 'configuration', asset: { type: 'repository', name: 'acme:gone' } }]);
  expect(covers).toContain('repository acme:site');
  expect(observations.length).toBeGreaterThan(0);
});
