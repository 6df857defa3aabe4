import type { AssetType } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { documentedRows } from '../../testing/doc-tables.ts';
import { normalAsset } from './asset-name.ts';
import { trackOf } from './track.ts';

/** The tables of docs/assets.md. */
const names = documentedRows('assets.md', '## Names') as [AssetType, string, string][];
const weakKeys = documentedRows('assets.md', '### Weak keys') as [AssetType, string, string][];
const tracks = documentedRows('assets.md', '## Tracks') as [AssetType, string, string, string, string, string][];

it.each(names)('%s %s has the documented key', (type, name, key) => {
  expect(normalAsset({ type, name }).key).toBe(key);
});

it.each(weakKeys)('%s %s has the documented weak keys', (type, name, keys) => {
  expect(normalAsset({ type, name }).weakKeys.join(', ') || 'none').toBe(keys);
});

it.each(tracks)('%s with %s is on the documented track', (type, known, track, kind, counts, closes) => {
  const facts = Object.fromEntries(known.split(', ').map((fact) => fact.split(' ')));
  const { tag = null, ref = null, commit = null, track: stated, workload = null } = facts;
  const result = trackOf({ type, tag, ref, commit, workload, digest: null, stated: { track: stated } }, { track_names: [] });
  const yes = (value: boolean) => (value ? 'yes' : 'no');
  const said = 'error' in result ? ['refused', '', '', ''] : [result.track || 'default track', result.kind, yes(result.counts), yes(result.canClose)];
  expect(said).toEqual([track, kind, counts, closes]);
});

it('finds the tables', () => {
  expect([names.length, weakKeys.length, tracks.length].every((rows) => rows > 5)).toBe(true);
});
