import { afterEach, expect, it } from 'vitest';
import type { Settings } from '../../core/contract.ts';
import { type FakeOptions, type FakeVendor, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { dependencyTrackFake, dependencyTrackVendor } from './fake.ts';
import { dependencyTrack } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function run(given: { vendor?: FakeVendor; config?: Record<string, unknown>; options?: Partial<FakeOptions>; fault?: Fault } = {}) {
  const { vendor = dependencyTrackFake, config = {}, options = {}, fault } = given;
  const fake = await serveFake(vendor, { pageSize: 5, ...options }, fault);
  running.push(fake);
  const { credentials } = vendor.settings(fake.origin);
  const context = contextOf(dependencyTrack, { config: { api_url: fake.origin, ...config }, credentials } as Settings);
  const collected = await collect(dependencyTrack, context);
  return { ...collected, observations: collected.items.flatMap((item) => ('observation' in item ? [item.observation] : [])) };
}

it('reads component, vulnerability, analysis and the type of the project', async () => {
  const { observations, covers } = await run();
  const of = (id: string) => observations.find(({ vulnerability_ids }) => vulnerability_ids.includes(id));
  expect(of('CVE-2025-4000')).toMatchObject({
    tool: 'dependency-track',
    external_id: '6c400000-0000-4000-8000-000000000001:c0000000-0000-4000-8000-000000000010:f0000000-0000-4000-8000-000000000010',
    severity: 'critical',
    tool_severity: 'CRITICAL',
    vulnerability_ids: ['CVE-2025-4000'],
    cwes: [79],
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', score: 7.5 }],
    asset: { type: 'other', name: 'com.acme:shop@1.4.0' },
    location: { component: 'org.acme:lib0', version: '1.0.0', purl: 'pkg:maven/org.acme/lib0@1.0.0' },
    first_seen: new Date('2026-09-01T00:00:00Z'),
    present: true,
    suppressed: false,
  });
  expect(of('CVE-2025-4001')).toMatchObject({
    vulnerability_ids: ['CVE-2025-4001', 'GHSA-2222-4444-2223'],
    asset: { type: 'container_image', name: 'registry.example.com/acme/site:7' },
  });
  expect(of('CVE-2025-4003')).toMatchObject({ present: true, suppressed: true, tags: ['github', 'false_positive'] });
  expect(covers).toEqual(['other com.acme:shop@1.4.0', 'container_image registry.example.com/acme/site:7', 'package tools@2.0.0', 'other empty']);
});

it('keeps a CVSS score that has no vector, with its version', async () => {
  const withoutVectors: FakeVendor = {
    ...dependencyTrackFake,
    answer: (options) => {
      const handle = dependencyTrackFake.answer(options);
      return async (request) => {
        const response = await handle(request);
        const body = JSON.stringify(response.body).replace(/"cvssV3Vector":"[^"]*"/g, '"cvssV2BaseScore":5');
        return { ...response, body: JSON.parse(body) };
      };
    },
  };
  const { observations } = await run({ vendor: withoutVectors });
  expect(observations.length).toBeGreaterThan(0);
  for (const { cvss } of observations)
    expect(cvss).toEqual([
      { score: 7.5, version: '3.1' },
      { score: 5, version: '2.0' },
    ]);
});

it('reads all findings at once from versions without paging', async () => {
  const paged = await run();
  const whole = await run({ vendor: dependencyTrackVendor(false) });
  expect(whole.observations.map(({ external_id }) => external_id)).toEqual(paged.observations.map(({ external_id }) => external_id));
  expect(whole.checkpoints).toHaveLength(4);
});

it('reads only projects with the configured tag', async () => {
  const { covers, observations } = await run({ config: { tag: 'web' } });
  expect(covers).toEqual(['container_image registry.example.com/acme/site:7']);
  expect(observations).toHaveLength(11);
});

it('is incomplete when pages repeat or are missing', async () => {
  await expect(run({ fault: { kind: 'repeated', at: 2 } })).rejects.toMatchObject({ kind: 'incomplete' });
  await expect(run({ options: { endless: true } })).rejects.toMatchObject({ kind: 'incomplete', message: expect.stringContaining('but only 12 were sent') });
});

it('is incomplete when the list shifts between two pages and its length stays the same', async () => {
  await expect(run({ options: { shifts: true } })).rejects.toMatchObject({
    kind: 'incomplete',
    message: expect.stringContaining('The findings of com.acme:shop@1.4.0 changed'),
  });
});

it('continues without a project that the team may not read, and fails if it may read none', async () => {
  const forbidding = (forbidden: RegExp): FakeVendor => ({
    ...dependencyTrackFake,
    answer: (options) => {
      const handle = dependencyTrackFake.answer(options);
      return (request) => (forbidden.test(request.url.pathname) ? { status: 403, body: 'Access to the specified project is forbidden' } : handle(request));
    },
  });
  const { unread, covers, observations, coverage } = await run({ vendor: forbidding(/finding\/project\/.*1$/) });
  expect(unread).toMatchObject([{ what: 'project com.acme:shop@1.4.0', kind: 'credentials', asset: { name: 'com.acme:shop@1.4.0' } }]);
  expect({ coverage, covers: covers.length, observations: observations.length }).toEqual({ coverage: 'complete', covers: 3, observations: 22 });
  await expect(run({ vendor: forbidding(/finding\/project/) })).rejects.toMatchObject({ kind: 'credentials' });
});
