import type { EvidenceDocument } from '@rrs/evidence-format';
import { expect, it } from 'vitest';
import { usePackages } from '../../testing/evidence/packages.ts';

const world = usePackages({ verifies: true });

it('states how the findings were selected, from where they were scanned, and the frameworks that the organization chose', async () => {
  const { ours } = world.api();
  const scope = { coverage: 'complete', asset: { type: 'container_image', name: 'facts:1' }, track: 'prod', vantage: 'external' };
  const query = new URLSearchParams({ format: 'generic', scan_scope: JSON.stringify(scope) });
  const records = ['openssl', 'curl'].map((component) => ({ title: component, severity: 'high', cves: ['CVE-2026-0001'], component, version: '1.0' }));
  const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=30' };
  expect(await world.post(`/imports?${query}`, JSON.stringify(records), ours.owner, headers)).toMatchObject({ status: 'succeeded' });
  const policy = { frameworks: ['PCI DSS 4.0.1'] };
  expect(await world.api().call('PATCH', '/api/v1/organization', { as: ours.owner, body: { policy } })).toMatchObject({ status: 200 });
  expect(await world.api().call('PATCH', '/api/v1/organization', { as: ours.owner, body: { policy: { frameworks: ['my own'] } } })).toMatchObject({
    status: 400,
  });

  const filter = { asset: 'facts:1', severity: ['high'] };
  const { id } = await world.workItem('Update', filter);
  const { package_id, status, error } = await world.seal(id, { formats: ['json'] });
  expect({ status, error }).toEqual({ status: 'ready', error: null });
  const evidence = JSON.parse((await world.download(package_id, 'json')).toString()) as EvidenceDocument;
  expect(evidence.selections).toEqual([{ trail_seq: expect.any(Number), at: expect.any(String), by: expect.anything(), linked: 2, filter, reason: null }]);
  expect(new Set(evidence.controls.map(({ framework }) => framework))).toEqual(new Set(policy.frameworks));
  expect(evidence.scans).toMatchObject([{ vantage: 'external' }]);
  expect(evidence.clock.database_offset_ms).toBeLessThan(60_000);
});
