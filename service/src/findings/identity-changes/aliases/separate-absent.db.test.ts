import type { Asset, Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, send } = service;

let count = 0;
let asset: Asset;
let cve: string;
let ghsa: string;
beforeEach(() => {
  count++;
  asset = { type: 'repository', name: `https://git.example.com/revoked/${count}` };
  cve = `CVE-2026-${70_000 + count}`;
  ghsa = `GHSA-eeee-ffff-${String(count).padStart(4, '0')}`;
});

const record = (id: string, given: Partial<Observation> = {}): Observation =>
  seen({ asset, vulnerability_ids: [id], location: { component: 'npm:lodashx', version: '1' }, ...given });
const scan = (ids: readonly string[], day: number, source: ImportOptions['source'] = 'tool_a') =>
  service.scan(asset, [...ids.map((id) => record(id)), record('CVE-2020-1', { location: { component: 'npm:other' } })], day, source);
/** Reports the ids on another asset, so that they are known. */
const know = (...ids: string[]) => {
  const other: Asset = { ...asset, name: `${asset.name}-other` };
  return service.run(
    ids.map((id) => record(id, { asset: other })),
    { source: 'tool_c', scope: { coverage: 'partial' } },
  );
};
const add = async () =>
  expect(await send('POST', '/vulnerability-aliases', { alias: ghsa, vulnerability: cve, reason: 'the advisory says so' })).toMatchObject({ status: 201 });
const revoke = async () => expect(await send('POST', `/vulnerability-aliases/${ghsa}/revoke`, { reason: 'another one' })).toMatchObject({ status: 200 });
const retire = async (source: string) => {
  const { data } = await get<{ data: { id: string; provider: string; tool: string }[] }>('/sources?limit=200');
  const found = data.find(({ provider, tool }) => provider === source || tool === source);
  expect(await send('POST', `/sources/${found?.id}/retire`, { reason: 'replaced' })).toMatchObject({ status: 200 });
};
const dismiss = async (id: string, scope: 'finding' | 'places' = 'finding') =>
  expect(
    await send('PATCH', `/findings/${id}`, { status: 'false_positive', justification: 'inaccurate_finding', reason: 'not our code', scope }),
  ).toMatchObject({ status: 200 });

interface Row {
  id: string;
  weakness: string;
  status: string;
}
async function rows(): Promise<Row[]> {
  const { rows: found } = await service.engine.admin().query<Row>(
    `select f.id, f.weakness, f.status from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id
     where f.org_id = $1 and a.name like $2 and f.merged_into is null and f.weakness <> 'CVE-2020-1'`,
    [service.api().ours.id, `%revoked/${count}`],
  );
  return found;
}
const statuses = async () =>
  Object.fromEntries((await rows()).map(({ weakness, status }) => [weakness === cve ? 'cve' : weakness === ghsa ? 'ghsa' : weakness, status]));
const idOf = async (id: string): Promise<string> => (await rows()).find(({ weakness }) => weakness === id)?.id ?? '';

describe('revoking an alias that no source reports at the moment', () => {
  it.each([
    ['ghsa', 'cve'],
    ['cve', 'ghsa'],
  ])('separates findings that were merged, the first one reported as %s', async (first) => {
    if (first === 'ghsa') await scan([ghsa], 1);
    await scan([cve], 2, 'tool_b');
    if (first === 'cve') await scan([ghsa], 2);
    await add();
    await scan([], 4);
    await revoke();
    expect(await statuses()).toEqual({ cve: 'open', ghsa: 'verified' });
    await dismiss(await idOf(cve));
    for (const day of [6, 8]) await scan([ghsa], day);
    expect(await statuses()).toEqual({ cve: 'false_positive', ghsa: 'open' });
  });

  it('separates what a source said of a finding that was always one', async () => {
    await know(ghsa, cve);
    await add();
    await scan([ghsa], 1);
    await scan([cve], 2, 'tool_b');
    await scan([], 4);
    await revoke();
    expect(await statuses()).toEqual({ cve: 'open', ghsa: 'withdrawn' });
    await dismiss(await idOf(cve));
    for (const day of [6, 8]) await scan([ghsa], day);
    expect(await statuses()).toEqual({ cve: 'false_positive', ghsa: 'open' });
  });

  it.each([true, false])('lets a tool prove nothing about the id that it never reported, merged: %s', async (merged) => {
    if (!merged) {
      await know(ghsa, cve);
      await add();
    }
    await scan([ghsa], 1);
    await scan([cve], 2, 'tool_b');
    if (merged) await add();
    await scan([], 4);
    await revoke();
    await retire('tool_b');
    expect(await statuses()).toMatchObject({ cve: 'withdrawn' });
  });
});

describe('a decision about a finding that took the id of the vulnerability', () => {
  it.each([true, false])('stays with it when the alias is revoked, one tool reporting both: %s', async (isOne) => {
    await know(cve);
    await scan([ghsa], 1);
    const id = await idOf(ghsa);
    await dismiss(id, 'places');
    await add();
    expect(await statuses()).toEqual({ cve: 'false_positive' });
    await (isOne ? scan([ghsa, cve], 3) : scan([cve], 3, 'tool_b'));
    await revoke();
    expect(await statuses()).toEqual({ cve: 'open', ghsa: 'false_positive' });
    expect(await idOf(ghsa)).toBe(id);
    await scan(isOne ? [ghsa, cve] : [ghsa], 5);
    if (!isOne) await scan([cve], 5, 'tool_b');
    expect(await statuses()).toEqual({ cve: 'open', ghsa: 'false_positive' });
    const { data } = await get<{ data: { action: string; before: object; after: object }[] }>(`/findings/${id}/history`);
    expect(data.filter(({ before }) => 'weakness' in before)).toMatchObject([
      { before: { weakness: cve }, after: { weakness: ghsa } },
      { before: { weakness: ghsa }, after: { weakness: cve } },
    ]);
  });

  it('stays with it also if its id is not reported at the moment', async () => {
    await know(cve);
    await scan([ghsa], 1);
    const id = await idOf(ghsa);
    await dismiss(id, 'places');
    await add();
    await scan([cve], 3, 'tool_b');
    await scan([], 4);
    await revoke();
    expect(await statuses()).toEqual({ cve: 'open', ghsa: 'false_positive' });
    expect(await idOf(ghsa)).toBe(id);
  });

  it('keeps the id of the vulnerability if no report names another one', async () => {
    await know(cve);
    await scan([ghsa], 1);
    await add();
    await scan([cve], 3);
    await revoke();
    expect(await statuses()).toEqual({ cve: 'open' });
  });
});
