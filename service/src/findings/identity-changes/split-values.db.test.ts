import type { Asset, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, scan, send } = service;
let count = 0;

interface Shown {
  title: string;
  severity: string;
  status: string;
  vulnerability_ids: string[];
  cwes: number[];
}
const read = async (id: string) => {
  const { title, severity, status, vulnerability_ids, cwes } = await get<Shown>(`/findings/${id}`);
  return { title, severity, status, ids: vulnerability_ids, cwes };
};

/** Two findings of one report that a person merges. The first one is older. */
async function merged(first: 'mild' | 'grave') {
  const [mild, grave] = [`CVE-2026-${80_000 + ++count}`, `CVE-2026-${80_000 + ++count}`] as const;
  const asset: Asset = { type: 'repository', name: `acme/values-${count}` };
  const at = { asset, location: { component: 'npm:lib', version: '1' } };
  const records = {
    mild: (given: Partial<Observation> = {}) => seen({ ...at, vulnerability_ids: [mild], title: 'mild', severity: 'low', cwes: [79], ...given }),
    grave: (given: Partial<Observation> = {}) => seen({ ...at, vulnerability_ids: [grave], title: 'grave', severity: 'critical', cwes: [89], ...given }),
  };
  await scan(asset, [records[first]()], 1);
  await scan(asset, [records.mild(), records.grave()], 2);
  const ids = { mild: (await service.finding(mild)).id, grave: (await service.finding(grave)).id };
  const [older, newer] = first === 'mild' ? [ids.mild, ids.grave] : [ids.grave, ids.mild];
  expect(await send('POST', `/findings/${newer}/merge`, { into: older, reason: 'one bug' })).toMatchObject({ status: 200 });
  return {
    asset,
    records,
    joint: () => read(older),
    split: () => send('POST', `/findings/${newer}/split`, { reason: 'two bugs' }),
    both: async () => ({ mild: await read(ids.mild), grave: await read(ids.grave) }),
    own: {
      mild: { title: 'mild', severity: 'low', status: 'open', ids: [mild], cwes: [79] },
      grave: { title: 'grave', severity: 'critical', status: 'open', ids: [grave], cwes: [89] },
    },
    union: { ids: [mild, grave], cwes: [79, 89], severity: 'critical', status: 'open' },
  };
}

describe.each(['mild', 'grave'] as const)('findings of one report that a person merges, the %s one first', (first) => {
  it('have the ids and CWEs of both at once, and their own once they are split', async () => {
    const { joint, split, both, union, own } = await merged(first);
    expect(await joint()).toMatchObject(union);
    await split();
    expect(await both()).toEqual(own);
  });

  it('say what they said before if reports have only repeated it', async () => {
    const { asset, records, joint, split, both, union, own } = await merged(first);
    await scan(asset, [records.grave(), records.mild()], 3);
    expect(await joint()).toMatchObject(union);
    await split();
    expect(await both()).toEqual(own);
    await scan(asset, [records.mild(), records.grave()], 4);
    expect(await both()).toEqual(own);
  });

  it('have only their own ids once they are split, whatever reports have said', async () => {
    const { asset, records, split, both, own } = await merged(first);
    const changed = [records.mild({ description: 'longer' }), records.grave({ description: 'longer' })];
    await scan(asset, changed, 3);
    await split();
    expect(await both()).toMatchObject({ mild: { status: 'open', ids: own.mild.ids }, grave: { status: 'open', ids: own.grave.ids, severity: 'critical' } });
    await scan(asset, changed, 4);
    expect(await both()).toEqual(own);
  });
});
