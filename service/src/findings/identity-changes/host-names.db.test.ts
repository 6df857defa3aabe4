import type { Asset, AssetIdentifier, Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

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
