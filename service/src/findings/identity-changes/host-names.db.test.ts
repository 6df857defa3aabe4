import type { Asset, AssetIdentifier, Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import type { ScanScope } from '../import/manage-imports.ts';

const { run, send, get } = useImportsWithApi();

interface Shown {
  id: string;
  name: string;
}

/** Tests share an organization, so each has hosts with names of its own. */
let n = 0;
beforeEach(() => {
  n++;
});

const mac = (value: number): AssetIdentifier => ({ kind: 'mac', value: `00:00:5e:00:53:${value}${n.toString(16)}` });
const host = (name: string, ...identifiers: AssetIdentifier[]): Asset => ({ type: 'host', name, ...(identifiers.length === 0 ? {} : { identifiers }) });
const check = (asset: Asset, rule = 'a'): Observation => seen({ asset, rule, location: { port: 443, protocol: 'tcp' } });

/** The assets with this name, in the order in which they appeared. */
async function named(name: string): Promise<Shown[]> {
  const { data } = await get<{ data: Shown[] }>(`/assets?name=${encodeURIComponent(name)}&sort=created_at&retired=false`);
  return data.filter((asset) => asset.name === name);
}

describe('a host that a person has renamed', () => {
  it.each([
    ['full', 'old.example.com', 'new.example.com'],
    ['short', 'old', 'new'],
  ])('is the one that reports call by its new name or by the old one: %s names', async (_, ...names) => {
    const [before, after] = names.map((name) => name.replace(/^\w+/, `$&${n}`)) as [string, string];
    await run([check(host(before))]);
    const [asset] = await named(before);
    expect(await send('PATCH', `/assets/${asset?.id}`, { name: after })).toMatchObject({ status: 200 });
    for (const name of [after, before]) await run([check(host(name), name)]);
    expect((await named(after)).map(({ id }) => id)).toEqual([asset?.id]);
    expect(await named(before)).toEqual([]);
  });

  it('is recognized by its MAC address under the new name, and another machine with the name is another host', async () => {
    const [before, after] = [`mac-old${n}`, `mac-new${n}`];
    await run([check(host(before, mac(1)))]);
    const [asset] = await named(before);
    await send('PATCH', `/assets/${asset?.id}`, { name: after });
    await run([check(host(after, mac(1)), 'b')]);
    await run([check(host(after), 'c')]);
    expect((await named(after)).map(({ id }) => id)).toEqual([asset?.id]);
    await run([check(host(after, mac(2)), 'b')]);
    expect(await named(after)).toHaveLength(2);
  });

  it('is the one with its first name, once a person has given that back', async () => {
    const before = `given${n}`;
    await run([check(host(before, mac(1)))]);
    const [asset] = await named(before);
    for (const name of [`other${n}`, before]) expect(await send('PATCH', `/assets/${asset?.id}`, { name })).toMatchObject({ status: 200 });
    await run([check(host(before), 'b')]);
    expect((await named(before)).map(({ id }) => id)).toEqual([asset?.id]);
  });
});

describe('the name under which people see a host', () => {
  const finding = (asset: object) => send('POST', '/findings', { title: 'weak', severity: 'high', ...asset });
  const scope = (name: string, day = 2): ScanScope => ({ asset: { type: 'host', name }, coverage: 'complete', started_at: `2026-01-0${day}T00:00:00Z` });
  const first = { scope: { started_at: '2026-01-01T00:00:00Z' } } as const;
  const statuses = async (id: string) => (await get<{ data: { status: string }[] }>(`/findings?asset_id=${id}`)).data.map(({ status }) => status).toSorted();

  it.each([
    ['a short name', 'short', 'mac'],
    ['an address', '192.0.2.1', 'mac'],
    ['a short name, and a cloud id is known', 'cloud', 'cloud_id'],
  ] as const)('is that host where it is stated: %s', async (_, prefix, kind) => {
    const name = `${prefix}${n}`;
    await run([check(host(name, kind === 'mac' ? mac(1) : { kind, value: `i-${n}` }))], first);
    const [asset] = await named(name);
    const known = { status: 409, body: { detail: expect.stringContaining(asset?.id ?? '') } };
    expect(await send('POST', '/assets', { type: 'host', name: name.toUpperCase() })).toMatchObject(known);
    expect(await finding({ asset: { type: 'host', name } })).toMatchObject({ status: 201, body: { asset: { id: asset?.id } } });
    expect(await finding({ asset_id: asset?.id })).toMatchObject({ status: 201, body: { asset: { id: asset?.id } } });
    const item = { ...check(host('x'), 'b'), asset: null };
    expect((await run([item], { scope: scope(name) })).notes).not.toContainEqual(expect.stringContaining('Several hosts'));
    expect((await named(name)).map(({ id }) => id)).toEqual([asset?.id]);
    expect(await statuses(asset?.id ?? '')).toEqual(['open', 'open', 'open', 'verified']);
  });

  it('is that host in the scope of a report that covers several, unless the report knows more of it', async () => {
    const [one, other] = [`one${n}`, `other${n}`];
    await run([check(host(one, mac(1))), check(host(other, mac(2)))], first);
    const assets = [{ type: 'host', name: one } as const, { type: 'host', name: other } as const];
    await run([check(host(one), 'b'), check(host(other, mac(3)), 'b')], { scope: { assets, coverage: 'complete', started_at: '2026-01-02T00:00:00Z' } });
    expect(await named(one)).toHaveLength(1);
    expect(await named(other)).toHaveLength(2);
    expect(await statuses((await named(one))[0]?.id ?? '')).toEqual(['open', 'verified']);
    expect(await statuses((await named(other))[0]?.id ?? '')).toEqual(['open']);
  });

  it('is not that host in a report, because two machines can have it', async () => {
    const name = `report${n}`;
    await run([check(host(name, mac(1)))], first);
    await run([check(host(name), 'b')], { scope: { coverage: 'complete', started_at: '2026-01-02T00:00:00Z' } });
    expect(await named(name)).toHaveLength(2);
  });

  it('closes nothing if the report is about another machine', async () => {
    const name = `contradicted${n}`;
    await run([check(host(name, mac(1)))], first);
    const [asset] = await named(name);
    const { notes } = await run([check(host(name, mac(2)), 'b')], { scope: scope(name) });
    expect(notes).toContainEqual(expect.stringContaining('stays open: the scan was of another address of the host'));
    expect(await statuses(asset?.id ?? '')).toEqual(['open', 'open']);
    await run([check(host(name, mac(1)), 'b')], { scope: scope(name, 3) });
    expect(await statuses(asset?.id ?? '')).toEqual(['open', 'verified']);
  });

  it('needs an identifier if several hosts have it', async () => {
    const name = `several${n}`;
    await run([check(host(name, mac(1))), check(host(name, mac(2)))], first);
    const ids = (await named(name)).map(({ id }) => id).toSorted();
    const naming = (detail: string) => ids.every((id) => detail.includes(id));
    const [created, weak] = [await send('POST', '/assets', { type: 'host', name }), await finding({ asset: { type: 'host', name } })];
    expect([created.status, weak.status]).toEqual([409, 422]);
    for (const { body } of [created, weak]) expect(body).toMatchObject({ detail: expect.toSatisfy(naming) });
    expect(await finding({ asset_id: ids[1] })).toMatchObject({ status: 201, body: { asset: { id: ids[1] } } });
    const { notes } = await run([{ ...check(host('x'), 'b'), asset: null }], { scope: scope(name) });
    expect(notes).toContainEqual(expect.toSatisfy((note: string) => note.startsWith('Several hosts') && naming(note)));
    expect(await named(name)).toHaveLength(3);
  });

  it('is the one that is in use, if the others are retired', async () => {
    const name = `retired${n}`;
    await run([check(host(name, mac(1))), check(host(name, mac(2)))], first);
    const [one, other] = await named(name);
    await send('PATCH', `/assets/${one?.id}`, { retired: true });
    expect(await finding({ asset: { type: 'host', name } })).toMatchObject({ status: 201, body: { asset: { id: other?.id } } });
  });

  it('cannot be given to a second one', async () => {
    const [name, second] = [`taken${n}`, `second${n}`];
    await run([check(host(name, mac(1))), check(host(second, mac(2)))]);
    const [[asset], [other]] = [await named(name), await named(second)];
    expect(await send('PATCH', `/assets/${other?.id}`, { name })).toMatchObject({ status: 409, body: { detail: expect.stringContaining(asset?.id ?? '') } });
  });
});
