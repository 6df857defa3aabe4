import { afterAll, beforeAll, expect, it } from 'vitest';
import { readImportsAbout } from '../../../findings/facts/scan-facts.ts';
import { usePackages } from '../../../testing/evidence/packages.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../testing/fakes/identity-provider.ts';
import { addPersonWithKey, behindProxy } from '../../../testing/people.ts';
import { personNamer } from './persons.ts';
import { readScanFacts } from './scans.ts';

const world = usePackages({ config: { ...behindProxy, RRS_OUTBOUND_ALLOW: '127.0.0.1' } });
let issuer: IdentityProvider;
beforeAll(async () => {
  issuer = await startIdentityProvider();
});
afterAll(() => issuer?.stop());

const asset = { type: 'repository', name: 'acme/shop' };

/** A scan that the pipeline sends from a ref. */
async function scan(components: string[], claims: object): Promise<void> {
  const { ours } = world.api();
  const token = await issuer.token({ repository: 'acme/shop', ...claims }, { audience: `rrs:${ours.id}` });
  const query = new URLSearchParams({ format: 'generic', scan_scope: JSON.stringify({ coverage: 'complete', asset, track: 'main' }) });
  const findings = components.map((component) => ({ title: component, severity: 'high', cves: ['CVE-2026-0001'], component, version: '1' }));
  const body = JSON.stringify({ scan: { asset, started_at: new Date().toISOString() }, findings });
  const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=30' };
  expect(await world.api().call('POST', `/api/v1/imports?${query}`, { as: token, body, headers })).toMatchObject({
    status: 202,
    body: { status: 'succeeded' },
  });
}

it('shows who trusted the pipeline if it ran on a protected ref, and counts as a pipeline in packages', async () => {
  const { db, ours } = world.api();
  const grace = await addPersonWithKey(world.api(), ours, 'admin');
  const trust = { name: 'shop on GitHub', issuer: issuer.issuer, conditions: { repository: ['acme/shop'] }, role: 'analyst' };
  const { id } = await world.post<{ id: string }>('/pipeline-trusts', trust, grace.key);
  const main = { ref: 'refs/heads/main', ref_protected: 'true' };
  await scan(['ssl', 'curl'], main);
  const item = await world.workItem('Update', { asset: 'acme/shop' });
  await scan(['curl'], main);
  await scan(['curl'], { ref: 'refs/heads/main', ref_protected: 'false' });

  const { data } = await world.get<{ data: { id: string }[] }>('/assets?name=acme/shop');
  const assetIds = data.map((one) => one.id);
  const scans = await db.withTenant({ orgId: ours.id }, async (tx) => {
    const about = await readImportsAbout(tx, ours.id, assetIds, new Date(0));
    return readScanFacts(tx, ours.id, { ids: about.map((one) => one.id), assetIds }, personNamer(new Set()));
  });
  const connection = {
    id,
    name: 'acme/shop refs/heads/main',
    provider: 'shop on GitHub',
    host: new URL(issuer.issuer).host,
    created_by: { person: grace.id },
    changed_by: { person: grace.id },
  };
  expect(scans.map(({ delivery }) => delivery)).toMatchObject([
    { method: 'pipeline', connection },
    { method: 'pipeline', connection },
    { method: 'pipeline', connection: null },
  ]);

  const { package_id, status, error } = await world.seal(item.id, { formats: ['json', 'jsonl', 'html'] });
  expect({ status, error }).toEqual({ status: 'ready', error: null });
  const lines = (await world.download(package_id, 'jsonl')).toString().trim().split('\n');
  const findings = lines.map((line) => JSON.parse(line) as { title: string; provenance: string | null });
  expect(findings.map(({ title, provenance }) => [title, provenance]).sort()).toEqual([
    ['curl', null],
    ['ssl', 'pipeline'],
  ]);
  expect((await world.download(package_id, 'html')).toString()).toContain('Sent by the pipeline of acme/shop refs/heads/main');
});
