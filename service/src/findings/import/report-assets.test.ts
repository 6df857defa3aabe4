import { expect, it } from 'vitest';
import { reportAssets } from './report-assets.ts';

it.each([
  ['complete', ['Nothing was closed: "1a2b3c4" is a commit and does not say which branch or environment was scanned. State it in scan_scope.track.']],
  ['partial', []],
] as const)('a report on a single build says that a %s scan of it closed nothing: %j', (coverage, notes) => {
  const assets = reportAssets({ coverage }, 'repository', { track_names: [] });
  assets.of({ type: 'repository', name: 'https://git.example.com/shop', commit: '1a2b3c4' });
  expect(assets.notes()).toEqual(notes);
});

it('a report says how a track was recognized, whatever it covers', () => {
  const assets = reportAssets({}, 'repository', { track_names: [] });
  assets.of({ type: 'repository', name: 'https://git.example.com/shop', ref: 'feature/x' });
  expect(assets.notes()).toEqual([expect.stringContaining('The branch "feature/x" is not in')]);
});
