import type { Finding } from '@rrs/evidence-format';
import { expect, it } from 'vitest';
import { usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages({ verifies: true });
const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=30' };
const DAY_MS = 86_400_000;

/** Imports what a scan showed so many days ago. Each name has findings of its own. */
async function scan(name: string, { daysAgo, components }: { daysAgo: number; components: string[] }): Promise<string> {
  const started_at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const asset = { type: 'container_image', name: `registry.example.com/${name}:1` };
  const query = new URLSearchParams({ format: 'generic', scan_scope: JSON.stringify({ coverage: 'complete', asset, track: 'prod' }) });
  const findings = components.map((component) => ({ title: component, severity: 'high', cves: ['CVE-2026-0001'], component, version: '1.0' }));
  const report = { scan: { tool: 'scanner', asset, started_at, finished_at: started_at }, findings };
  const { id, status } = await world.post<{ id: string; status: string }>(`/imports?${query}`, JSON.stringify(report), world.api().ours.owner, headers);
  expect(status).toBe('succeeded');
  return id;
}

async function sealed(name: string): Promise<Finding> {
  const { id } = await world.workItem('Update', { asset: `registry.example.com/${name}:1`, status: ['verified'] });
  const { package_id, status, error } = await world.seal(id, { formats: ['jsonl'] });
  expect({ status, error }).toEqual({ status: 'ready', error: null });
  return JSON.parse((await world.download(package_id, 'jsonl')).toString().split('\n')[0] ?? '') as Finding;
}

it('a report that arrives late does not replace the scan that no longer showed the finding', async () => {
  await scan('late', { daysAgo: 9, components: ['openssl', 'curl'] });
  const rescan = await scan('late', { daysAgo: 1, components: ['curl'] });
  const late = await scan('late', { daysAgo: 5, components: ['openssl', 'curl', 'zlib'] });
  expect(await sealed('late')).toMatchObject({ state: 'verified', before: { scan: late }, after: { state: 'absent', scan: rescan } });
});

it('a finding that only a late report shows is gone by the scan that came before it', async () => {
  const rescan = await scan('first', { daysAgo: 1, components: ['curl'] });
  const late = await scan('first', { daysAgo: 5, components: ['openssl', 'curl'] });
  expect(await sealed('first')).toMatchObject({ state: 'verified', before: { scan: late }, after: { state: 'absent', scan: rescan } });
});
