import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { send, get, engine } = service;

let count = 0;
let cve: string;
let ghsa: string;
let asset: Asset;
beforeEach(() => {
  count++;
  cve = `CVE-2026-${30_000 + count}`;
  ghsa = `GHSA-aaaa-bbbb-${String(count).padStart(4, '0')}`;
  asset = { type: 'container_image', name: `aliases-${count}:prod` };
});

type Source = NonNullable<ImportOptions['source']>;
const scan = (ids: readonly string[], source: Source, day = 1) =>
  service.run([seen({ asset, vulnerability_ids: [...ids] }), { run: { asset } }], {
    source,
    scope: { coverage: 'complete', started_at: new Date(Date.UTC(2026, 0, day, 12)).toISOString() },
  });
/** The findings of the asset that are not merged, with the tools that see them. */
async function findings(): Promise<string[]> {
  const { rows } = await engine.admin().query(
    `select f.weakness || ' ' || f.status || ' ' || coalesce(string_agg(o.provider, ',' order by o.provider), '') as line from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id
     left join sightings s on s.org_id = f.org_id and s.finding_id = f.id left join sources o on o.org_id = s.org_id and o.id = s.source_id
     where f.org_id = $1 and a.name like $2 and f.merged_into is null group by f.org_id, f.id order by 1`,
    [service.api().ours.id, `%aliases-${count}%`],
  );
  return rows.map(({ line }) => line);
}
const change = (alias: string, what: 'revoke' | 'restore', reason = 'checked') => send('POST', `/vulnerability-aliases/${alias}/${what}`, { reason });
const add = (alias: string, vulnerability: string) => send('POST', '/vulnerability-aliases', { alias, vulnerability, reason: 'the advisory says so' });
const aliases = async (query: string) => (await get<{ data: Record<string, unknown>[] }>(`/vulnerability-aliases?${query}`)).data;

describe('an alias', () => {
  it('is listed with the tools that claim it, before and after a second tool confirms it', async () => {
    await scan([cve, ghsa], 'tool_a');
    expect(await aliases(`alias=${ghsa.toLowerCase()}`)).toMatchObject([
      { alias: ghsa, vulnerability: cve, origin: 'claim', counts_for: 'claimants', claims: [{ provider: 'tool_a', vulnerability: cve }], added_by: null },
    ]);
    await scan([cve, ghsa], 'tool_b');
    expect(await aliases(`vulnerability=${cve}&counts_for=all`)).toMatchObject([
      { alias: ghsa, origin: 'sources', claims: [{ provider: 'tool_a' }, { provider: 'tool_b' }], revoked_at: null },
    ]);
  });

  it('that is revoked takes apart what it merged, and later reports of the same content do not bring it back', async () => {
    await scan([ghsa], 'tool_c');
    const older = await service.finding<{ id: string }>(ghsa);
    await send('PATCH', `/findings/${older.id}`, { status: 'false_positive', justification: 'inaccurate_finding', reason: 'not our code' });
    await scan([cve], 'tool_a');
    await scan([cve, ghsa], 'tool_b', 2);
    await scan([cve, ghsa], 'tool_a', 2);
    expect(await findings()).toEqual([`${cve} open tool_a,tool_b,tool_c`]);

    const revoked = await change(ghsa, 'revoke', 'another package');
    expect(revoked).toMatchObject({
      status: 200,
      body: { alias: ghsa, counts_for: 'none', revoked_by: expect.any(String), revoked_reason: 'another package' },
    });
    const apart = [`${cve} open tool_a,tool_b`, `${ghsa} false_positive tool_c`];
    expect(await findings()).toEqual(apart);
    expect(await service.finding(ghsa)).toMatchObject({ id: older.id });
    await scan([ghsa], 'tool_c', 3);
    await scan([cve, ghsa], 'tool_a', 3);
    expect(await findings()).toEqual(apart);
    expect(await aliases(`alias=${ghsa}`)).toMatchObject([{ counts_for: 'none', revoked_reason: 'another package' }]);

    expect(await change(ghsa, 'revoke')).toMatchObject({ status: 409 });
    expect(await change(ghsa, 'restore')).toMatchObject({ status: 200, body: { counts_for: 'all', revoked_at: null } });
    expect(await findings()).toEqual([`${cve} open tool_a,tool_b,tool_c`]);
    expect(await change(ghsa, 'restore')).toMatchObject({ status: 409 });
    const audited = await get<{ data: { action: string; after: object }[] }>(`/audit-events?object_type=alias&object_id=${ghsa}`);
    expect(audited.data.map(({ action }) => action).sort()).toEqual(['alias.restored', 'alias.revoked']);
  });

  it('that is revoked gives back records that were never findings of their own, and one that only the alias named keeps its id', async () => {
    for (const source of ['tool_a', 'tool_b'] as const) await scan([cve, ghsa], source);
    await scan([ghsa], 'tool_c');
    expect(await findings()).toEqual([`${cve} open tool_a,tool_b,tool_c`]);
    const first = asset;
    asset = { type: 'container_image', name: `only-${count}:prod` };
    await scan([ghsa], 'tool_c');
    const [only] = (
      await engine.admin().query('select id, weakness from findings where org_id = $1 and weakness = $2 order by created_at desc', [service.api().ours.id, cve])
    ).rows;
    asset = first;
    await change(ghsa, 'revoke');
    expect(await findings()).toEqual([`${cve} open tool_a,tool_b`, `${ghsa} open tool_c`]);
    expect(await get(`/findings/${only.id}/identity`)).toMatchObject({ weakness: ghsa });
    const { rows } = await engine
      .admin()
      .query('select f.vulnerability_ids, f.source_ids from findings f where f.org_id = $1 and f.weakness = $2', [service.api().ours.id, ghsa]);
    expect(rows).toMatchObject([{ vulnerability_ids: [ghsa] }, { vulnerability_ids: [ghsa] }]);
    expect(await scan([ghsa], 'tool_c', 3)).toMatchObject({ created: 0, closed: 0 });
  });

  it('that only one tool claims can be revoked and restored for that tool', async () => {
    await scan([cve, ghsa], 'tool_a');
    await scan([ghsa], 'tool_a', 2);
    expect(await findings()).toEqual([`${cve} open tool_a`]);
    expect(await change(ghsa, 'revoke')).toMatchObject({ status: 200, body: { origin: 'claim', counts_for: 'none' } });
    await scan([ghsa], 'tool_a', 3);
    expect(await findings()).toEqual([`${ghsa} open tool_a`]);
    expect(await change(ghsa, 'restore')).toMatchObject({ status: 200, body: { origin: 'claim', counts_for: 'claimants' } });
    expect(await findings()).toEqual([`${cve} open tool_a`]);
  });

  it('that a person adds counts for all sources, and merges what is known', async () => {
    await scan([cve], 'tool_a');
    await scan([ghsa], 'tool_b');
    expect(await add(ghsa, cve)).toMatchObject({
      status: 201,
      body: { origin: 'person', counts_for: 'all', added_by: expect.any(String), added_reason: 'the advisory says so' },
    });
    expect(await findings()).toEqual([`${cve} open tool_a,tool_b`]);
    expect(await add(ghsa, cve)).toMatchObject({ status: 409, body: { detail: expect.stringContaining(`already an alias of "${cve}"`) } });
    await change(ghsa, 'revoke');
    expect(await findings()).toEqual([`${cve} open tool_a`, `${ghsa} open tool_b`]);
    expect(await add(ghsa, cve)).toMatchObject({ status: 409, body: { detail: expect.stringContaining('Restore it') } });
  });

  it('that a person adds and revokes leaves each finding its own id, also if the one of the alias is older', async () => {
    await scan([ghsa], 'tool_b');
    await scan([cve], 'tool_a');
    await add(ghsa, cve);
    expect(await findings()).toEqual([`${cve} open tool_a,tool_b`]);
    expect(await change(ghsa, 'revoke')).toMatchObject({ status: 200 });
    expect(await findings()).toEqual([`${cve} open tool_a`, `${ghsa} open tool_b`]);
  });

  it('cannot stand for itself, be circular, be a CVE, or have an id that nobody reported', async () => {
    const other = `SNYK-JS-${count}`;
    await scan([cve], 'tool_a');
    await scan([ghsa], 'tool_b');
    await scan([other], 'tool_c');
    expect(await add(ghsa, ghsa)).toMatchObject({ status: 422, body: { detail: expect.stringContaining('itself') } });
    expect(await add(ghsa, other)).toMatchObject({ status: 201 });
    expect(await add(other, ghsa)).toMatchObject({ status: 422, body: { detail: expect.stringContaining('each other') } });
    expect(await add(cve, ghsa)).toMatchObject({ status: 422, body: { detail: expect.stringContaining('CVE') } });
    expect(await add('GHSA-nobo-dyyy-xxxx', cve)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('"GHSA-nobo-dyyy-xxxx"') } });
    // Aliases of an alias are aliases of the vulnerability.
    expect(await add(other, cve)).toMatchObject({ status: 201 });
    expect(await aliases(`vulnerability=${cve}&sort=alias`)).toMatchObject([{ alias: ghsa }, { alias: other }]);
    expect(await findings()).toEqual([`${cve} open tool_a,tool_b,tool_c`]);
  });

  it('of another organization or of nobody is not found, and viewers cannot change any', async () => {
    await scan([cve, ghsa], 'tool_a');
    const { theirs, ours, call } = service.api();
    for (const what of ['revoke', 'restore'] as const) {
      expect(await call('POST', `/api/v1/vulnerability-aliases/${ghsa}/${what}`, { as: theirs.owner, body: { reason: 'ours' } })).toMatchObject({
        status: 404,
      });
      expect(await change('GHSA-nobo-dyyy-xxxx', what)).toMatchObject({ status: 404 });
      expect(await call('POST', `/api/v1/vulnerability-aliases/${ghsa}/${what}`, { as: await ours.key('viewer'), body: { reason: 'no' } })).toMatchObject({
        status: 403,
      });
    }
    expect(await call('GET', `/api/v1/vulnerability-aliases?alias=${ghsa}`, { as: theirs.owner })).toMatchObject({ status: 200, body: { data: [] } });
  });
});
