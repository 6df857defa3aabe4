import { expect, it } from 'vitest';
import { inventoryNotes } from './inventory-note.ts';

const staged = { received: 0, run: {}, runByAsset: new Map() };

it('explains an inventory, whether the report states it for the run or for an asset', () => {
  expect(inventoryNotes({ ...staged, run: { inventory_only: true } })).toEqual([expect.stringContaining('inventory')]);
  expect(inventoryNotes({ ...staged, runByAsset: new Map([['image:shop', { inventory_only: true }]]) })).toEqual([expect.stringContaining('inventory')]);
});

it.each([
  ['a report without findings', staged],
  ['a report that has an empty list of vulnerabilities', { ...staged, run: { inventory_only: false } }],
  ['a report with findings', { ...staged, received: 2, run: { inventory_only: true } }],
])('says nothing about %s', (_, report) => {
  expect(inventoryNotes(report)).toEqual([]);
});
