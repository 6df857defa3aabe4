import { beforeAll, describe, expect, it } from 'vitest';
import { readImportsAbout } from '../../../findings/facts/scan-facts.ts';
import { usePackages } from '../../../testing/evidence/packages.ts';
import { withFailedImport } from '../../../testing/http/failed-import.ts';
import { addPersonWithKey, behindProxy } from '../../../testing/people.ts';
import { personNamer } from './persons.ts';
import { readScanFacts } from './scans.ts';

const world = usePackages({ config: behindProxy });
let ada: { id: string; key: string };
beforeAll(async () => {
  ada = await addPersonWithKey(world.api(), world.api().ours, 'analyst');
});

const upload = async (format: string, body: unknown, scope: object = {}) => {
  const query = new URLSearchParams({ format, scan_scope: JSON.stringify({ coverage: 'complete', ...scope }) });
  const headers = { 'content-type': 'application/octet-stream', prefer: 'wait=30' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await world.api().call('POST', `/api/v1/imports?${query}`, { as: ada.key, body: text, headers });
  return (await withFailedImport(world.api(), answer, ada.key)).body as { id: string; status: string; counts: Record<string, number> };
};
const assetIds = async (name: string): Promise<string[]> =>
  (await world.get<{ data: { id: string }[] }>(`/assets?name=${encodeURIComponent(name)}`)).data.map(({ id }) => id);
/** The scans of an asset since the start of the test. */
const scansOf = async (name: string, since = new Date(0)) => {
  const [orgId, assets] = [world.api().ours.id, await assetIds(name)];
  return world.api().db.withTenant({ orgId }, async (tx) => {
    const about = await readImportsAbout(tx, orgId, assets, since);
    return readScanFacts(tx, orgId, { ids: about.map(({ id }) => id), assetIds: assets }, personNamer(new Set()));
  });
};

const vulnerability = (id: string) => ({ VulnerabilityID: id, PkgName: 'ssl', InstalledVersion: '1.0', Severity: 'HIGH', Title: 'A weakness' });
const trivy = (image: string, created: string, cves: readonly string[]) => ({
  SchemaVersion: 2,
  CreatedAt: created,
  ArtifactName: image,
  ArtifactType: 'container_image',
  Metadata: { ImageID: 'sha256:1' },
  Results: [{ Target: image, Class: 'os-pkgs', Type: 'debian', Vulnerabilities: cves.map(vulnerability) }],
});

it('recognizes a report that was uploaded again with a new date, and not the next scan', async () => {
  const image = 'shop:1.0';
  const first = await upload('trivy', trivy(image, '2026-11-01T10:00:00Z', ['CVE-2026-0001']), { track: 'prod' });
  const next = await upload('trivy', trivy(image, '2026-11-02T10:00:00Z', ['CVE-2026-0001', 'CVE-2026-0002']), { track: 'prod' });
  const again = await upload('trivy', trivy(image, '2026-11-03T10:00:00Z', ['CVE-2026-0001']), { track: 'prod' });
  const same = await upload('trivy', trivy(image, '2026-11-03T10:00:00Z', ['CVE-2026-0001']), { track: 'prod' });
  const scans = await scansOf('shop');
  expect(scans.map(({ id, copy_of }) => [id, copy_of])).toEqual([
    [first.id, null],
    [next.id, null],
    [again.id, first.id],
    [same.id, first.id],
  ]);
  expect(scans[2]).toMatchObject({
    status: 'succeeded',
    tool: 'trivy',
    started_at: '2026-11-03T10:00:00.000Z',
    targets: [image],
    track: 'prod',
    complete: true,
    self_described: false,
    original: 'bytes',
    delivery: { method: 'upload', by: { kind: 'api_key', person: ada.id }, connection: null },
    // The report does not show whether Trivy looked for secrets.
    doubts: ['checks_selected'],
  });
});

it('says that a file names no asset, tool or time', async () => {
  const asset = { type: 'host', name: 'web1.example.com' };
  const nothing = await upload('generic', { findings: [] }, { asset, started_at: '2026-11-01T00:00:00Z' });
  const tool = await upload('generic', [{ title: 'Weak', severity: 'low', cves: ['CVE-2026-0009'], tool: 'scanner' }], { asset });
  expect(await scansOf('web1.example.com')).toMatchObject([
    { id: nothing.id, self_described: true, targets: [], started_at: null, ended_at: null, doubts: ['time_unstated'] },
    { id: tool.id, self_described: false, targets: [] },
  ]);
});

describe('an import that was not applied', () => {
  const asset = { type: 'container_image', name: 'held' };
  const components = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ title: `Weak ${n}`, severity: 'high', cves: ['CVE-2026-0003'], component: `lib-${n}`, version: '1' }));

  it('is shown when it was discarded, when a person confirmed it, and when it failed', async () => {
    await upload('generic', components(80), { asset, track: 'prod' });
    const since = new Date();
    const held = await upload('generic', components(5), { asset, track: 'prod' });
    expect(held.status).toBe('needs_confirmation');
    await world.post(`/imports/${held.id}/discard`, {}, ada.key);
    const again = await upload('generic', components(4), { asset, track: 'prod' });
    await world.post(`/imports/${again.id}/confirm`, {}, world.api().ours.owner);
    const failed = await upload('generic', '{"findings": [', { asset: { type: 'container_image', name: 'held:7' } });
    expect(failed.status).toBe('failed');
    const other = await upload('generic', '{"findings": [', { asset: { type: 'container_image', name: 'elsewhere' } });
    expect(other.status).toBe('failed');

    const scans = await scansOf('held', since);
    expect(scans.map(({ id, status, confirmed }) => [id, status, confirmed?.by.kind ?? null])).toEqual([
      [held.id, 'discarded', null],
      [again.id, 'succeeded', 'api_key'],
      [failed.id, 'failed', null],
    ]);
    expect(scans[2]?.doubts).toContain('not_applied');
    expect(scans[1]).toMatchObject({ confirmed: { at: expect.any(String) }, records: 4, version: 'latest' });
  });
});
