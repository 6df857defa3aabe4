import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { readSourcesOnAssets } from '../../../findings/facts/scope-facts.ts';
import { usePackages } from '../../../testing/evidence/packages.ts';
import { addPersonWithKey, behindProxy } from '../../../testing/people.ts';
import { personNamer } from './persons.ts';
import { readAssets, readSources } from './scope.ts';

const world = usePackages({ config: behindProxy });
let ada: { id: string; key: string };
beforeAll(async () => {
  ada = await addPersonWithKey(world.api(), world.api().ours, 'admin');
});

type Severity = 'critical' | 'high' | 'medium' | 'low';
const scan = (image: string, components: Record<string, [Severity, string]>, scope: object = {}) => {
  const scanScope = { coverage: 'complete', asset: { type: 'container_image', name: image }, track: 'prod', ...scope };
  const query = new URLSearchParams({ format: 'generic', scan_scope: JSON.stringify(scanScope) });
  const lines = Object.entries(components).map(([component, [severity, cve]]) => ({
    title: `Weakness of ${component}`,
    severity,
    cves: [cve],
    component,
    version: '1.0',
  }));
  return world.post<{ id: string }>(`/imports?${query}`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), ada.key, {
    'content-type': 'application/octet-stream',
    prefer: 'wait=30',
  });
};
const byComponent = async (asset: string): Promise<Map<string, string>> => {
  const { data } = await world.get<{ data: { id: string; location: { component: string } }[] }>(`/findings?asset=${asset}`);
  return new Map(data.map(({ id, location }) => [location.component, id]));
};

it('counts what else is open on the assets and names what is alike', async () => {
  const [one, two, three] = ['CVE-2026-0001', 'CVE-2026-0002', 'CVE-2026-0003'];
  await scan(
    'shop',
    { picked: ['high', one], worse: ['critical', two], milder: ['low', two], same_cve: ['low', one], closed: ['critical', three] },
    { version: '1.4.2' },
  );
  const ids = await byComponent('shop');
  await world
    .api()
    .call('PATCH', `/api/v1/findings/${ids.get('closed')}`, { as: ada.key, body: { status: 'false_positive', justification: 'code_not_present' } });
  const picked = ids.get('picked') ?? '';
  await scan('shop', { worse: ['critical', two], milder: ['low', two], same_cve: ['low', one], later: ['critical', two] }, { version: '1.4.3' });
  const later = await byComponent('shop');
  const { data } = await world.get<{ data: { id: string }[] }>('/assets?name=shop');
  const assetId = data[0]?.id ?? '';
  await world.api().call('PATCH', `/api/v1/assets/${assetId}`, { as: ada.key, body: { owner: 'Shop team', criticality: 'high', exposure: 'internet' } });
  const orgId = world.api().ours.id;
  const assets = await world.api().db.withTenant({ orgId }, (tx) => readAssets(tx, orgId, [assetId], sql`select ${picked}::uuid`));
  expect(assets).toEqual([
    {
      id: assetId,
      type: 'container_image',
      name: 'shop',
      owner: 'Shop team',
      criticality: 'high',
      exposure: 'internet',
      retired_at: null,
      versions: ['1.4.3', '1.4.2'],
      other_open: { critical: 2, high: 0, medium: 0, low: 2, info: 0, unknown: 0 },
      // Not the one that a later scan found, and not the one that is milder.
      other_open_alike: [ids.get('worse'), ids.get('same_cve')],
    },
  ]);
  expect(later.size).toBeGreaterThan(ids.size);
});

it('shows when each source last scanned an asset, and who retired it', async () => {
  await scan('sources', { ssl: ['high', 'CVE-2026-0001'] });
  await scan('sources', { ssl: ['high', 'CVE-2026-0001'] }, { coverage: 'partial', name: 'second' });
  const orgId = world.api().ours.id;
  const { data } = await world.get<{ data: { id: string; name: string }[] }>('/sources');
  const second = data.find(({ name }) => name === 'second');
  expect(await world.api().call('POST', `/api/v1/sources/${second?.id}/retire`, { as: ada.key, body: { reason: 'not used any more' } })).toMatchObject({
    status: 200,
  });
  const assets = await world.get<{ data: { id: string }[] }>('/assets?name=sources');
  const assetIds = assets.data.map(({ id }) => id);
  const sources = await world
    .api()
    .db.withTenant({ orgId }, async (tx) => readSources(tx, orgId, await readSourcesOnAssets(tx, orgId, assetIds), personNamer(new Set())));
  expect(sources).toHaveLength(2);
  expect(sources).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        source: 'generic',
        kind: 'import',
        last_scan_at: expect.any(String),
        last_complete_at: expect.any(String),
        removed_at: null,
        removed_by: null,
      }),
      expect.objectContaining({ last_complete_at: null, removed_at: expect.any(String), removed_by: expect.objectContaining({ person: ada.id }) }),
    ]),
  );
});
