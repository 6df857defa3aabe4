import type { Asset } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
const image: Asset = { type: 'container_image', name: 'registry.example.com/shop:prod' };
const at = (hour: number): Date => new Date(Date.UTC(2026, 0, 5, hour));

/** A complete scan that took place from one hour of a day to another. */
const scan = (org: string, from: number, to: number, shows: boolean) =>
  engine.run(org, [...(shows ? [seen({ asset: image })] : []), { run: { asset: image, started_at: at(from), finished_at: at(to) } }], {
    scope: { coverage: 'complete' },
  });
const status = async (org: string) => (await engine.findings(org)).map((finding) => finding.status);

// When a finding was last seen is written once a day, so that the second scan leaves no trace at the sighting.
it.each([
  ['the first of the day', false],
  ['the second of the day', true],
])('a scan that starts before another one ends, which shows the finding and is %s, proves nothing', async (_name, isSecond) => {
  const org = await engine.organization();
  if (isSecond) await scan(org, 1, 2, true);
  await scan(org, 11, 20, true);
  await scan(org, 12, 13, false);
  expect(await status(org)).toEqual(['open']);
  await scan(org, 21, 22, false);
  expect(await status(org)).toEqual(['verified']);
});

it('a scan that starts before another one ends proves a fix if that one did not show the finding either', async () => {
  const org = await engine.organization();
  await scan(org, 1, 2, true);
  await scan(org, 11, 20, false);
  await scan(org, 12, 13, false);
  expect(await status(org)).toEqual(['verified']);
});
