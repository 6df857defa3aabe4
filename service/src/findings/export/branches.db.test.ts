import { expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { exportAssets, exportPages } from './export.ts';
import { exportFormats } from './formats.ts';

const engine = useImports();
const names = ['csv', 'ndjson', 'sarif', 'cyclonedx-vex', 'openvex'] as const;
const shop = { type: 'repository', name: 'https://git.example.com/shop' } as const;
const branch = { ...shop, ref: 'feature/a' };

/** A branch was scanned, and the critical one of its findings was exported. */
async function scanned(name: (typeof names)[number]) {
  const org = await engine.organization();
  const items = [seen({ asset: branch, rule: 'x', severity: 'critical' }), seen({ asset: branch, rule: 'y' }), { run: { asset: branch } }];
  await engine.run(org, items, { scope: { coverage: 'complete' } });
  const filter = { severity: ['critical' as const] };
  const context = { organization: 'Acme', started: new Date(), assets: () => exportAssets(engine.db(), org, filter, new Date()) };
  const parts: string[] = [];
  for await (const part of exportFormats[name].write(exportPages(engine.db(), org, filter), context)) parts.push(part);
  const file = { format: null, name: `findings.${exportFormats[name].extension}`, bytes: Buffer.from(parts.join('')) };
  const read = async () => {
    const { rows: findings } = await engine.admin().query('select rule, listed, status from findings where org_id = $1 order by severity desc', [org]);
    const { rows: tracks } = await engine.admin().query('select counts, name from asset_tracks where org_id = $1 order by name', [org]);
    return { findings, tracks };
  };
  return { org, file, read };
}

const counting = {
  findings: [
    { rule: 'x', listed: true, status: 'open' },
    { rule: 'y', listed: true, status: 'open' },
  ],
  tracks: [{ name: 'feature/a', counts: true }],
};

it.each(names)('the import of an export as %s says nothing about which branches count, whether or not it is a dry run', async (name) => {
  const { org, file, read } = await scanned(name);
  for (const dryRun of [true, false]) {
    for (const coverage of ['partial', 'complete'] as const) {
      const row = await engine.runFile(org, { ...file, dryRun }, { coverage });
      expect(row).toMatchObject({ status: 'succeeded', received: 1, created: 0, closed: 0 });
      expect(JSON.stringify(row.notes)).not.toContain('feature/a');
      expect(await read()).toEqual(counting);
    }
  }
  // Another branch counts as well.
  await engine.run(org, [seen({ asset: { ...shop, ref: 'feature/b' }, rule: 'z', severity: 'low' })]);
  expect(await read()).toEqual({
    findings: [...counting.findings, { rule: 'z', listed: true, status: 'open' }],
    tracks: [...counting.tracks, { name: 'feature/b', counts: true }],
  });
});

it.each(names)('the default track is known once it was scanned, before or after the import of an export as %s', async (name) => {
  const states = [];
  for (const isScannedFirst of [true, false]) {
    const { org, file, read } = await scanned(name);
    if (!isScannedFirst) await engine.runFile(org, file);
    const { notes } = await engine.run(org, [seen({ asset: shop, rule: 'x', severity: 'critical' })]);
    expect(JSON.stringify(notes)).toContain('The branch \\"feature/a\\" no longer counts');
    if (isScannedFirst) await engine.runFile(org, file);
    states.push(await read());
  }
  expect(states[0]).toEqual({
    findings: [
      { rule: 'x', listed: true, status: 'open' },
      { rule: 'y', listed: false, status: 'open' },
    ],
    tracks: [{ name: 'feature/a', counts: false }],
  });
  expect(states[1]).toEqual(states[0]);
});

it('a track that the sender of an export states is known', async () => {
  const { org, file, read } = await scanned('ndjson');
  await engine.runFile(org, file, { track: 'main' });
  expect((await read()).tracks).toEqual([
    { name: 'feature/a', counts: false },
    { name: 'main', counts: true },
  ]);
});
