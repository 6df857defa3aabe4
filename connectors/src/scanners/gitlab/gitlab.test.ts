import { afterEach, expect, it } from 'vitest';
import type { Settings } from '../../core/contract.ts';
import { type FakeVendor, type Fault, type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { gitlabFake } from './fake.ts';
import { gitlab } from './index.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function run(path: string, { fault, vendor = gitlabFake }: { fault?: Fault; vendor?: FakeVendor } = {}) {
  const fake = await serveFake(vendor, { pageSize: 10 }, fault);
  running.push(fake);
  const { credentials } = gitlabFake.settings(fake.origin);
  const context = contextOf(gitlab, { config: { api_url: fake.origin, path }, credentials } as Settings);
  const collected = await collect(gitlab, context);
  return { ...collected, observations: collected.items.flatMap((item) => ('observation' in item ? [item.observation] : [])), waits: context.waits };
}

it('reads each kind of scan like its report and adds project and state', async () => {
  const { observations, covers, partiallyCovers, cursor } = await run('acme');
  const [dependency, code, image, web] = observations;
  expect(dependency).toMatchObject({
    tool: 'gemnasium',
    rule: 'CVE-2025-3000',
    external_id: '5d2a1111-0000-5000-8000-000000000000',
    severity: 'info',
    tool_severity: 'INFO',
    vulnerability_ids: ['CVE-2025-3000'],
    cwes: [79],
    asset: { type: 'repository', name: 'https://gitlab.example.com/acme/shop' },
    location: { component: 'lib0', version: '1.0.0', path: 'yarn.lock', fixed_version: '2.0' },
    first_seen: new Date('2026-09-01T08:00:00Z'),
    present: true,
    suppressed: false,
  });
  expect(code).toMatchObject({
    tool: 'semgrep',
    asset: { name: 'https://gitlab.example.com/acme/web/site' },
    location: { path: 'src/f1.ts', line: 7, end_line: 9 },
    present: false,
  });
  expect(image).toMatchObject({ asset: { type: 'container_image', name: 'registry.example.com/acme/shop:1.4' }, location: { component: 'lib2' } });
  expect(web).toMatchObject({ asset: { type: 'web_application' }, location: { url: 'https://shop.example.com/p/3', method: 'GET', parameter: 'q' } });
  expect(observations.slice(8, 16).map(({ present, suppressed }) => [present, suppressed])).toEqual([
    ...Array.from({ length: 4 }, () => [false, false]),
    ...Array.from({ length: 4 }, () => [true, true]),
  ]);
  expect(observations[12]?.tags).toContain('acceptable_risk');
  // A missing vulnerability proves nothing, because GitLab keeps resolved ones.
  expect({ covers, projects: partiallyCovers.slice(0, 4) }).toEqual({
    covers: [],
    projects: ['acme/shop', 'acme/web/site', 'acme/tools', 'acme/empty'].map((path) => `repository https://gitlab.example.com/${path}`),
  });
  expect(cursor).toBeNull();
});

it('reads a project as well as a group', async () => {
  const { observations, partiallyCovers, coverage } = await run('acme/shop');
  expect(observations).toHaveLength(9);
  expect(partiallyCovers).toContain('repository https://gitlab.example.com/acme/shop');
  expect(coverage).toBe('complete');
});

it('explains an unknown path, a hidden project and a refused query', async () => {
  await expect(run('acme/gone')).rejects.toMatchObject({ kind: 'configuration', message: expect.stringContaining('no group or project acme/gone') });
  await expect(run('acme/tools')).rejects.toMatchObject({ kind: 'credentials', message: expect.stringContaining('read_api') });
  await expect(run('acme', { vendor: failing("Field 'uuid' doesn't exist on type 'Vulnerability'", 9) })).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining("Field 'uuid'"),
  });
});

it('retries a query that timed out, but not forever', async () => {
  const { observations, waits } = await run('acme', { vendor: failing('Timeout on Group.vulnerabilities', 2) });
  expect(observations).toHaveLength(25);
  expect(waits).toHaveLength(2);
  await expect(run('acme', { vendor: failing('Timeout on Group.vulnerabilities', 99) })).rejects.toMatchObject({ kind: 'unavailable' });
});

it('is incomplete when a page is repeated', async () => {
  await expect(run('acme', { fault: { kind: 'repeated', at: 2 } })).rejects.toMatchObject({ kind: 'incomplete' });
});

/** Fails like GitLab, with status 200 and partial data, this many times. */
function failing(message: string, times: number): FakeVendor {
  return {
    ...gitlabFake,
    answer(options) {
      const answer = gitlabFake.answer(options);
      let failures = 0;
      return async (request) => {
        if (!request.body.includes('vulnerabilities(') || failures++ >= times) return await answer(request);
        return { body: { ...((await answer(request)).body as object), errors: [{ message }] } };
      };
    },
  };
}
