import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { collect, contextOf } from '../../testing/host.ts';
import { microsoftDefenderFake } from './fake.ts';
import { microsoftDefender } from './index.ts';

let fake: RunningFake;
beforeEach(async () => {
  fake = await serveFake(microsoftDefenderFake, { pageSize: 10 });
});
afterEach(() => fake.close());

const since = (cursor: string) => collect(microsoftDefender, { ...contextOf(microsoftDefender, microsoftDefenderFake.settings(fake.origin)), cursor });

it('requests changes with an overlap and keeps the latest of each', async () => {
  const run = await since('2026-11-14T08:00:00.000Z');
  expect(run).toMatchObject({ coverage: 'changes', cursor: '2026-11-15T08:00:00.000Z', covers: [] });
  const requested = fake.requests.find(({ url }) => url.pathname.endsWith('ChangesByMachine'))?.url.searchParams;
  expect(requested?.get('sinceTime')).toBe('2026-11-14T02:00:00.000Z');
  const states = run.items.map((item) => ('observation' in item ? [item.observation.title, item.observation.present] : item));
  expect(states).toEqual([
    ['CVE-2025-1002 in app2', false],
    ['CVE-2025-1001 in app1', false],
    ['CVE-2025-1030 in app30', true],
  ]);
});

it('does not report a fix while another installed version has the same vulnerability', async () => {
  const run = await since('2026-11-14T08:00:00.000Z');
  expect(JSON.stringify(run.items)).not.toContain('app5');
  expect(fake.requests.filter(({ url }) => url.pathname === '/api/vulnerabilities/CVE-2025-1005/machineReferences')).toHaveLength(1);
});

it('reads everything when the changes are no longer available', async () => {
  expect(await since('2026-11-01T07:00:00.000Z')).toMatchObject({ coverage: 'complete' });
  expect(fake.requests.some(({ url }) => url.pathname.endsWith('ChangesByMachine'))).toBe(false);
});

it('covers reporting devices, with or without findings, with all their identifiers', async () => {
  const run = await collect(microsoftDefender, contextOf(microsoftDefender, microsoftDefenderFake.settings(fake.origin)));
  expect(run.covers).toEqual([0, 1, 2, 3].map((n) => `host pc-${n}.corp.example.com`));
  const [first] = run.items;
  expect(first && 'observation' in first ? first.observation : null).toMatchObject({
    external_id: `${'0'.repeat(40)}|contoso|app0|1.0.0|CVE-2025-1000`,
    severity: 'critical',
    // Without a vector.
    cvss: [{ score: expect.any(Number) }],
    solution: 'November 2026 Security Updates (KB501000)',
    first_seen: new Date('2026-09-30T11:07:15Z'),
    asset: {
      identifiers: [
        { kind: 'agent_id', value: '0'.repeat(40) },
        { kind: 'fqdn', value: 'pc-0.corp.example.com' },
        { kind: 'ip', value: '10.0.0.1' },
        { kind: 'cloud_id', value: '/subscriptions/7b2f/resourceGroups/shop/providers/Microsoft.Compute/virtualMachines/pc-0' },
      ],
    },
  });
});
