import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import { expect, it, onTestFinished } from 'vitest';
import { readImportsAbout } from '../../../findings/facts/scan-facts.ts';
import { readSourcesOnAssets } from '../../../findings/facts/scope-facts.ts';
import { useSyncs } from '../../../testing/integrations/syncs.ts';
import { addPersonWithKey } from '../../../testing/people.ts';
import { serve } from '../../../testing/whitewashing/connection.ts';
import { personNamer } from './persons.ts';
import { readScanFacts, type ScanFacts } from './scans.ts';
import { readSources } from './scope.ts';

const syncs = useSyncs();
const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;
const toPerson = personNamer(new Set());

async function scansOf(assetName: string): Promise<ScanFacts[]> {
  const { db, ours } = syncs.api();
  const { data } = (await syncs.ask<{ data: { id: string; name: string }[] }>('GET', '/assets?limit=200')).body;
  const assetIds = data.flatMap(({ id, name }) => (name === assetName ? [id] : []));
  return db.withTenant({ orgId: ours.id }, async (tx) => {
    const about = await readImportsAbout(tx, ours.id, assetIds, new Date(0));
    return readScanFacts(tx, ours.id, { ids: about.map((one) => one.id), assetIds }, toPerson);
  });
}

const trivyReport = (CreatedAt?: string): string =>
  JSON.stringify({
    SchemaVersion: 2,
    CreatedAt,
    ArtifactName: `shop-${CreatedAt === undefined ? 'undated' : 'dated'}`,
    ArtifactType: 'repository',
    Results: [
      {
        Target: 'package-lock.json',
        Class: 'lang-pkgs',
        Type: 'npm',
        Vulnerabilities: [{ VulnerabilityID: 'CVE-2024-0001', PkgName: 'left-pad', InstalledVersion: '1.0.0', Severity: 'HIGH', Title: 'Weakness' }],
      },
    ],
  });

async function fetchReport(text: string): Promise<void> {
  const server = await serve(text);
  onTestFinished(() => server.close());
  const body = { provider: 'report_url', name: server.url, config: { url: server.url, format: 'trivy' }, credentials: {}, schedule: null };
  const { body: connection } = await syncs.ask<{ id: string }>('POST', '/integrations', { body });
  expect(await syncs.sync(connection.id, { full: true })).toMatchObject({ status: 'succeeded' });
}

it('shows a connection that was edited between two runs with who made it and who edited it, and that it was deleted', async () => {
  const [made, moved] = [await syncs.fake(snyk), await syncs.fake(snyk)];
  const id = await syncs.connect(snyk, made.origin);
  await syncs.sync(id, { full: true });
  const grace = await addPersonWithKey(syncs.api(), syncs.api().ours, 'admin');
  const rename = await syncs.ask('PATCH', `/integrations/${id}`, { as: grace.key, body: { name: 'Renamed' } });
  expect(rename).toMatchObject({ status: 200 });
  await syncs.sync(id, { full: true });
  const { config, credentials } = snyk.settings(moved.origin);
  expect(await syncs.ask('PATCH', `/integrations/${id}`, { as: grace.key, body: { config, credentials } })).toMatchObject({ status: 200 });
  await syncs.sync(id, { full: true });
  expect(await syncs.ask('DELETE', `/integrations/${id}`, { as: grace.key })).toMatchObject({ status: 204 });

  const { db, ours } = syncs.api();
  const { data } = (await syncs.ask<{ data: { id: string }[] }>('GET', '/assets?limit=200')).body;
  const assetIds = data.map((asset) => asset.id);
  const { scans, sources } = await db.withTenant({ orgId: ours.id }, async (tx) => {
    const about = await readImportsAbout(tx, ours.id, assetIds, new Date(0));
    return {
      scans: await readScanFacts(tx, ours.id, { ids: about.map((one) => one.id), assetIds }, toPerson),
      sources: await readSources(tx, ours.id, await readSourcesOnAssets(tx, ours.id, assetIds), toPerson),
    };
  });
  expect(scans).toHaveLength(3);
  const hostOf = (origin: string): string => new URL(origin).host;
  expect(scans.map(({ delivery: { connection } }) => [connection?.host, connection?.changed_by.person === grace.id])).toEqual([
    [hostOf(made.origin), false],
    [hostOf(made.origin), false],
    [hostOf(moved.origin), true],
  ]);
  const digests = scans.map(({ delivery }) => delivery.connection?.settings_sha256);
  expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(digests[1]).toBe(digests[0]);
  expect(digests[2]).not.toBe(digests[0]);
  expect(scans[0]).toMatchObject({
    delivery: { method: 'connection', by: { kind: 'connection', id } },
    original: 'records',
    self_described: false,
    started_at: expect.any(String),
  });
  const stored = await syncs.api().blobs.get(scans[0]?.sha256 ?? '');
  expect(gunzipSync(await buffer(stored ?? Readable.from([]))).toString()).toMatch(/^\{"request":.+\n$/s);
  expect(sources.length).toBeGreaterThan(0);
  for (const source of sources)
    expect(source).toMatchObject({ kind: 'connection', source: 'snyk', removed_at: expect.any(String), removed_by: { person: grace.id } });
});

it('states the time of a fetched report as the end of its scan, however late it was fetched', async () => {
  await fetchReport(trivyReport('2026-01-02T03:04:05Z'));
  const [scan] = await scansOf('shop-dated');
  expect(scan).toMatchObject({ started_at: '2026-01-02T03:04:05.000Z', ended_at: '2026-01-02T03:04:05.000Z' });
  expect(new Date(scan?.received_at ?? 0).getTime()).toBeGreaterThan(Date.parse('2026-01-03'));
});

it('states when a report without a time was fetched', async () => {
  await fetchReport(trivyReport());
  const [scan] = await scansOf('shop-undated');
  expect(scan?.ended_at).toBe(scan?.received_at);
});
